"""The FallbackPolicy custom resource as its readers see it: the settings, with every tier resolved.

These are the settings' own classes with the answers added that only an environment knows, since the
readers know no cloud. The CRD is made from them, so a field cannot be in one and not in the other.
"""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints

from spotproof.settings.base import ListOf, Settings
from spotproof.settings.fallback import Deadline, FallbackPolicy, Tier
from spotproof.vocabulary import Capacity

NO_PRICE: Final = "none"
"""The priceSource of a tier whose price nobody knows."""
PRICE_SOURCE_LENGTH: Final = 200

LabelValue: TypeAlias = Annotated[str, StringConstraints(max_length=63)]
LabelKey: TypeAlias = Annotated[str, StringConstraints(max_length=317)]
"""A prefix of at most 253 characters, a slash and a name of at most 63."""


class TierToleration(Settings):
    """A toleration that a tier's nodes ask for."""

    key: LabelKey = Field(description="Key of the taint.")
    operator: Literal["Equal", "Exists"] = Field(description="`Equal` compares the value too.")
    value: LabelValue | None = Field(None, description="Value of the taint; with `Equal` only.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(description="Effect of the taint.")


class TierAccelerator(Settings):
    """What one node of a tier offers."""

    type: Annotated[str, StringConstraints(min_length=1, max_length=63)] = Field(description="Model and memory.")
    count: Annotated[int, Field(ge=1, le=16)] = Field(description="Accelerators of one node.")
    memory_gib: Annotated[int, Field(ge=1, le=4096)] = Field(description="Memory of one accelerator, GiB.")


class ResolvedTier(Tier):
    """A tier with what its pool is, costs and asks of a pod."""

    capacity: Capacity = Field(description="`spot` nodes can be reclaimed, `on-demand` nodes stay.")
    node_selector: Annotated[dict[str, LabelValue], Field(min_length=1, max_length=8)] = Field(
        description="Labels by which a pod selects the tier, with the same keys on every tier: "
        "`spotproof.dev/pool`, or what nodes of somebody else's carry."
    )
    tolerations: Annotated[ListOf[TierToleration], Field(max_length=16)] = Field(
        description="Tolerations that a pod needs there."
    )
    accelerator: TierAccelerator | None = Field(
        None, description="What one node offers; left out without accelerators."
    )
    zones: Annotated[ListOf[LabelValue], Field(min_length=1, max_length=16)] | None = Field(
        default=None, description="Zones of its nodes, where the pool names its own; left out: any of the cluster's."
    )
    instance_types: Annotated[ListOf[LabelValue], Field(min_length=1, max_length=60)] | None = Field(
        default=None, description="Instance types of its nodes; left out where the pool names none."
    )
    usd_per_node_hour: Annotated[float, Field(ge=0)] | None = Field(
        None, description="Price of one node, USD per hour; left out where none is known."
    )
    price_source: Annotated[str, StringConstraints(min_length=1, max_length=PRICE_SOURCE_LENGTH)] = Field(
        description="Where the price is from and whether it is assumed; `none` without a price."
    )


class ResolvedPolicy(FallbackPolicy):
    """A fallback policy that can be carried out: its name is the object's, the rest is the object's spec."""

    # A narrower tier is sound, because a policy is frozen; the checker does not see that through pydantic.
    tiers: Annotated[ListOf[ResolvedTier], Field(min_length=1, max_length=16)] = Field(  # pyright: ignore[reportIncompatibleVariableOverride]
        description="Pools in order, cheapest first; all with the same accelerators. Prices within 10 % are equal."
    )
    deadline: Deadline = Field(default=Deadline(), description="What is done to be ready in time.")
