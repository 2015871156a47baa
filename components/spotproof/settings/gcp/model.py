"""The GCP provider: identity, region, release channel."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from spotproof.settings.gcp import checks, machines, quotas, regions
from spotproof.settings.machines import Machine, Quota
from spotproof.settings.provider import Provider
from spotproof.vocabulary import (
    GKE_PROVISIONING_LABEL,
    GKE_SPOT_LABEL,
    GKE_SPOT_TAINT,
    ON_DEMAND,
    SPOT,
    Capacity,
    Taint,
)

if TYPE_CHECKING:
    from spotproof.settings.environment import Environment
    from spotproof.settings.errors import Problem

SHUTDOWN_SECONDS = 120
"""The longest shutdown GKE takes for Spot VMs; it allows 0, 30 and 120 (Kubernetes Engine API,
NodeKubeletConfig.shutdownGracePeriodSeconds)."""
CRITICAL_SECONDS = 15
"""Of it for system pods, which go last: what GKE gives them by itself."""


class Gcp(Provider):
    """A GKE cluster in one project and region, a node pool for every pool."""

    package: ClassVar[str] = "gcp"
    spot_taint: ClassVar[Taint] = GKE_SPOT_TAINT
    node_labels: ClassVar[Mapping[Capacity, Mapping[str, str]]] = {
        SPOT: {GKE_SPOT_LABEL: "true", GKE_PROVISIONING_LABEL: SPOT},
        ON_DEMAND: {GKE_PROVISIONING_LABEL: "standard"},
    }
    grace_seconds: ClassVar[int] = SHUTDOWN_SECONDS - CRITICAL_SECONDS
    """What the kubelet leaves ordinary pods of the shutdown; more is cut short."""
    refuses: ClassVar[Mapping[str, tuple[str, str]]] = {
        "pools[].spotMaxPrice": (
            "is a price cap, and Compute Engine has none: a Spot VM has a price that Google sets, below on-demand",
            "Remove it; a fallback policy decides when to leave spot",
        ),
        "pools[].consolidateAfter": (
            "is Karpenter's; GKE's autoscaler takes empty nodes away after ten minutes, for all pools alike",
            "Remove it",
        ),
        "operators.gpuPlugin.mode": (
            "is about NVIDIA's device plugin, which GKE runs itself on every node with GPUs",
            "Remove it",
        ),
        "operators.gpuPlugin.version": (
            "is the version of a chart that is not installed, as GKE runs the device plugin itself",
            "Remove it",
        ),
    }
    examples: ClassVar[Mapping[str, object]] = {
        "access.admins": ["user:researcher@example.com"],
        "pools": [{"name": "cpu", "capacity": "on-demand", "instanceTypes": ["n2-standard-8"], "maxNodes": 8}],
        "pools[].instanceTypes": ["a2-highgpu-8g"],
        "pools[].zones": ["us-central1-a"],
        "workspaces[].members": ["user:researcher@example.com"],
    }
    default_types: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "cpu": ("n2-standard-8",),
        # one L4 of 24 GiB, the cheapest GPU node that trains in bfloat16; 8 vCPUs, as 4 hardly feed it
        "gpu": ("g2-standard-8",),
    }

    cloud: Literal["gcp"] = Field(  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
        description="Which cloud: `gcp`.", examples=["gcp"]
    )
    region: Annotated[str, StringConstraints(pattern=r"^[a-z]+-[a-z]+[0-9]{1,2}$")] = Field(
        description="The region everything lives in. The cluster is regional: its control plane survives the loss of "
        "a zone.",
        examples=["us-central1"],
    )
    project: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$")] = Field(
        description="The project's id. It is in every name of an identity, so that all of them are known at the first "
        "preview.",
        examples=["research-cluster"],
    )
    project_number: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{5,18}$")] = Field(
        description="The project's number, in quotes, as `gcloud projects describe` tells it. Identities of pods are "
        "named by it.",
        examples=["123456789012"],
    )
    release_channel: Literal["rapid", "regular", "stable", "extended"] = Field(
        default="regular",
        description="GKE's release channel, in which `kubernetesVersion` must be offered. `extended` keeps a version "
        "for up to two years, for a fee after the first 14 months.",
        examples=["regular"],
    )
    security_group: (
        Annotated[str, StringConstraints(pattern=r"^gke-security-groups@[a-z0-9-]+(\.[a-z0-9-]+)+$", max_length=200)]
        | None
    ) = Field(
        default=None,
        description="The group that holds the groups GKE may look up (Google Groups for RBAC), by the one name GKE "
        "takes. Without it people are listed one by one, as `user:`.",
        examples=["gke-security-groups@example.com"],
    )

    @property
    def place(self) -> str:
        """The region."""
        return self.region

    def zone_names(self, count: int) -> tuple[str, ...]:
        """The first `count` zones of the region."""
        return regions.zones_of(self.region)[:count]

    @classmethod
    def machine(cls, instance_type: str) -> Machine | None:
        """What a machine of this type offers."""
        return machines.machine(instance_type)

    def problems(self, env: "Environment") -> Iterator["Problem"]:
        """What GKE and Compute Engine would refuse or quietly ignore."""
        return checks.check(self, env)

    def quotas(self, env: "Environment") -> Iterator[Quota]:
        """Compute Engine's limits of vCPUs, GPUs and SSD."""
        return quotas.quotas(self, env)
