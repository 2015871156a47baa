"""The Azure provider: subscription, tenant, region."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator

from spotproof.settings.azure import checks, quotas, sizes
from spotproof.settings.azure.regions import ZONES, zone_names
from spotproof.settings.errors import shown
from spotproof.settings.machines import Machine, Quota
from spotproof.settings.near import SAME_CLOUD, near
from spotproof.settings.provider import Provider
from spotproof.settings.support import Support
from spotproof.vocabulary import AKS_PRIORITY_LABEL, AKS_SPOT_TAINT, SPOT, Capacity, Taint

if TYPE_CHECKING:
    from spotproof.settings.environment import Environment
    from spotproof.settings.errors import Problem


class Azure(Provider):
    """An AKS cluster in one subscription and region."""

    package: ClassVar[str] = "azure-native"
    node_class_group: ClassVar[str] = "karpenter.azure.com"
    spot_taint: ClassVar[Taint] = AKS_SPOT_TAINT
    node_labels: ClassVar[Mapping[Capacity, Mapping[str, str]]] = {SPOT: {AKS_PRIORITY_LABEL: SPOT}}
    grace_seconds: ClassVar[int] = 30
    """Azure announces an eviction at most 30 seconds before, often less than 10 (AKS docs, spot node pools); a longer
    grace would only promise what no node keeps."""
    takes: ClassVar[frozenset[str]] = frozenset({"pools[].autoscaler"})
    reserved_ranges: ClassVar[Mapping[str, str]] = {
        checks.SERVICE_CIDR: "Kubernetes services",
        checks.POD_CIDR: "pods, which have addresses of their own",
        "172.30.0.0/16": "AKS itself",
        "172.31.0.0/16": "AKS itself",
    }
    versions: ClassVar[Mapping[str, Support]] = {
        # AKS release calendar, as of August 2026. It names months, so the last day of the month before counts. There is
        # no end after it: AKS goes on with "platform support" and names no day for that.
        "1.35": Support(date(2027, 2, 28), None),
        "1.36": Support(date(2027, 5, 31), None),
    }
    examples: ClassVar[Mapping[str, object]] = {
        "access.admins": ["00000000-0000-4000-8000-000000000003"],
        "pools": [{"name": "cpu", "capacity": "on-demand", "instanceTypes": ["Standard_D8s_v5"], "maxNodes": 8}],
        "pools[].instanceTypes": ["Standard_ND96asr_v4"],
        "pools[].zones": ["eastus-1"],
        "workspaces[].members": ["00000000-0000-4000-8000-000000000003"],
    }
    default_types: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "cpu": ("Standard_D8s_v5", "Standard_D8ds_v5", "Standard_D8as_v4"),
        # one T4 of 16 GiB: the cheapest GPU node; three sizes make spot easier to get
        "gpu": ("Standard_NC4as_T4_v3", "Standard_NC8as_T4_v3", "Standard_NC16as_T4_v3"),
    }

    cloud: Literal["azure"] = Field(  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
        description="Which cloud: `azure`.", examples=["azure"]
    )
    location: str = Field(
        description="The Azure region everything lives in, by its short name.",
        examples=["eastus"],
        json_schema_extra={"enum": list(ZONES)},
    )
    subscription_id: Annotated[str, StringConstraints(pattern=checks.GUID)] = Field(
        description="The subscription, in small letters, as `az account show` prints it. The provider works in no "
        "other, so nothing can land in a wrong one, and every id and role assignment is known at the first preview.",
        examples=["00000000-0000-4000-8000-000000000001"],
    )
    tenant_id: Annotated[str, StringConstraints(pattern=checks.GUID)] = Field(
        description="The Entra tenant whose people and groups use the cluster, in small letters.",
        examples=["00000000-0000-4000-8000-000000000002"],
    )

    @field_validator("location")
    @classmethod
    def _is_a_region(cls, value: str) -> str:
        if value not in ZONES:
            guess = near(value, ZONES, SAME_CLOUD)
            raise ValueError(
                f"is {shown(value)}, which is no region of Azure's public cloud; nothing could be made there; "
                f"Write {f'`location: {guess}`' if guess else 'a short name, as in `location: eastus`'}"
            )
        return value

    @property
    def place(self) -> str:
        """The region."""
        return self.location

    def zone_names(self, count: int) -> tuple[str, ...]:
        """The first `count` zones of the region; none where it has none."""
        return zone_names(self.location, count)

    @classmethod
    def machine(cls, instance_type: str) -> Machine | None:
        """What a VM of this size offers."""
        return sizes.machine(instance_type)

    def problems(self, env: "Environment") -> Iterator["Problem"]:
        """What Azure, AKS and node auto-provisioning would refuse or quietly ignore."""
        return checks.check(self, env)

    def warnings(self, env: "Environment") -> Iterator["Problem"]:
        """What they would take and nobody wants."""
        return checks.warnings(self, env)

    def quotas(self, env: "Environment") -> Iterator[Quota]:
        """Azure's vCPU limits of the region: by family on-demand, one for spot."""
        return quotas.quotas(self, env)
