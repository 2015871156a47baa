"""The fallback rule of a job: ordered tiers, and when to leave one, wait, or come back."""

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from spotproof.settings.base import Duration, ListOf, ObjectName, PoolName, Settings


class Tier(Settings):
    """One pool a job may run on, and how much it tolerates there."""

    pool: PoolName = Field(description="Name of a pool of this environment.", examples=["a100-spot"])
    max_failures: Annotated[int, Field(ge=-1, le=1_000)] = Field(
        default=5,
        description="Interruptions the job tolerates here; one more moves it to the next tier. -1 never moves it on "
        "count, and is the default of the last tier. 5, as the field's own examples have it.",
        examples=[5],
    )
    pending_timeout: Duration = Field(
        default=timedelta(hours=1),
        description="How long the job may wait to be placed here, at the start or after an eviction, before it moves "
        "on. On the last tier the job stays: its owner is told (event LastTierWaits), and a gang that got only part of "
        "its nodes gives them back. Not under 15m, which is how long a healthy launch may take; 1h, because a shorter "
        "wait pays on-demand for outages that end by themselves.",
        examples=["1h"],
    )


class Return(Settings):
    """Climb back to a cheaper tier once it answers."""

    min_stay: Duration = Field(
        default=timedelta(hours=2),
        description="Stay at least this long on the dearer tier, so that a flickering market does not cost a "
        "restart each time.",
        examples=["2h"],
    )


class Probe(Settings):
    """How a tier the job is not on is asked whether it has nodes."""

    every: Duration = Field(default=timedelta(minutes=30), description="Time between two questions.", examples=["30m"])
    nodes: Annotated[int, Field(ge=1, le=1)] | Literal["all"] = Field(
        default=1, description="`1` asks for one node, `all` for the whole gang.", examples=[1]
    )


class Deadline(Settings):
    """What is done to be ready in time. A bare word sets the mode."""

    mode: Literal["off", "guard", "pace"] = Field(
        default="off",
        description="`off`: counts and timeouts alone. `guard`: the same, with on-demand taken when time gets short. "
        "`pace`: the spare time decides between waiting, spot and on-demand. Jobs give their deadline as an "
        "annotation.",
        examples=["guard"],
    )
    restart: Duration = Field(
        default=timedelta(minutes=12),
        description="What a restart costs until the job trains again. 12m, measured: 2 to 4 min for a machine, "
        "1 to 5 to set up, the rest for images.",
        examples=["12m"],
    )
    checkpoint_every: Duration = Field(
        default=timedelta(minutes=30),
        description="Time between two checkpoints: what an eviction loses at most, where the job does not "
        "report progress.",
        examples=["30m"],
    )
    margin: Duration = Field(
        default=timedelta(minutes=5),
        description="Kept free before the deadline, for what nobody foresaw.",
        examples=["5m"],
    )


class FallbackPolicy(Settings):
    """A job opts in with the label `spotproof.dev/fallback-policy: <name>`."""

    name: ObjectName = Field(description="What jobs name it by.", examples=["standard"])
    tiers: Annotated[ListOf[Tier], Field(min_length=1, max_length=16)] = Field(
        description="Pools in order, cheapest first; all with the same accelerators. Pools whose prices are within "
        "10 % are equals: the job takes the one that answers.",
        examples=[[{"pool": "a100-spot"}, {"pool": "a100"}]],
    )
    count_errors: bool = Field(
        default=False,
        description="Whether software errors use up maxFailures too. Off, because an error comes along to the "
        "next, dearer tier.",
        examples=[False],
    )
    failure_window: Duration | None = Field(
        default=None,
        description="Only failures this young count. Left out: all of the job's on this tier.",
        examples=["6h"],
    )
    return_: Return | None = Field(
        default=None,
        alias="return",
        description="Climb back to a cheaper tier. Left out: a job that fell stays where it is.",
        examples=[{"minStay": "2h"}],
    )
    probe: Probe = Field(default=Probe(), description="How other tiers are asked.", examples=[{"every": "30m"}])
    deadline: Deadline = Field(
        default=Deadline(),
        description="What is done to be ready in time; a bare word sets the mode.",
        examples=[{"mode": "guard"}],
    )
    max_moves_per_hour: Annotated[int, Field(ge=1, le=60)] = Field(
        default=6, description="At most this many moves of one job an hour: a brake on flapping.", examples=[6]
    )

    @field_validator("deadline", mode="before")
    @classmethod
    def _bare_word(cls, value: object) -> object:
        return {"mode": value} if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _last_tier_waits(cls, value: object) -> object:
        """The last tier never moves on count unless it says so: there is nowhere to move to."""
        tiers = value.get("tiers") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(tiers, list) or not tiers or not isinstance(tiers[-1], dict):
            return value
        last: dict[str, object] = dict(tiers[-1])
        if "max_failures" not in last:
            last.setdefault("maxFailures", -1)
        return dict(value) | {"tiers": [*tiers[:-1], last]}

    @model_validator(mode="after")
    def _tiers_differ(self) -> Self:
        pools = [tier.pool for tier in self.tiers]
        if twice := {pool for pool in pools if pools.count(pool) > 1}:
            raise ValueError(
                f"names the pool {min(twice)} in two tiers; counts start afresh on each tier, "
                "so the job would circle on one pool; Name each pool once"
            )
        return self
