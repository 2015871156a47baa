"""The provider of a cluster somebody else made: how it is reached, and what it is called."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator

from spotproof.settings.existing import checks
from spotproof.settings.machines import Machine, Quota
from spotproof.settings.provider import Provider

if TYPE_CHECKING:
    from spotproof.settings.environment import Environment
    from spotproof.settings.errors import Problem

CONTEXT = r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$"
PATH = r"^(/|~/)[\x20-\x7e]+$"
NAME = r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$"

NO_BUCKET = (
    "is about a bucket made here; on a cluster somebody else made the store is somebody else's too",
    "Remove it",
)
NO_NODES = "is about nodes made here; these are somebody else's"


class Existing(Provider):
    """A Kubernetes cluster and its nodes, both made by somebody else."""

    package: ClassVar[str] = ""
    grace_seconds: ClassVar[int] = 30
    """Kubernetes' own default, which whoever drains a node reckons with. How much notice comes before is not known."""
    makes_nodes: ClassVar[bool] = False
    takes: ClassVar[frozenset[str]] = frozenset(
        {
            "checkpoints.uri",
            "checkpoints.secret",
            "checkpoints.serviceAccountAnnotations",
            "pools[].nodeLabels",
            "pools[].taints",
        }
    )
    examples: ClassVar[Mapping[str, object]] = {
        "pools": [{"name": "cpu", "capacity": "on-demand", "maxNodes": 8}],
        "workspaces[].members": ["group:research"],
    }
    refuses: ClassVar[Mapping[str, tuple[str, str]]] = {
        "spot": ("makes the default pools spot, and there are none here", "Remove it, and write the pools"),
        "network": ("is about a network made here; this cluster has its own", "Remove it"),
        "controlPlane": (
            "is about an API server made here; this one is somebody else's",
            "Remove it, and set this where the cluster is made",
        ),
        "logs": ("is about log groups made here", "Remove it; logs of pods go where the cluster sends them"),
        "tags": ("is about resources of a cloud, and none are made here", "Remove it"),
        "access.admins": (
            "is about a cluster made here; who administers this one is decided where it is made",
            "Remove it, or bind them with `kubectl create clusterrolebinding`",
        ),
        "checkpoints.retainDays": NO_BUCKET,
        "checkpoints.versioning": NO_BUCKET,
        "checkpoints.protect": NO_BUCKET,
        "pools[].diskGib": (NO_NODES, "Remove it"),
        "pools[].consolidateAfter": (NO_NODES, "Remove it, and set it in the cluster's autoscaler"),
        "pools[].spotMaxPrice": (f"{NO_NODES}, at a price of theirs", "Remove it, and set it where nodes are bought"),
        "pools[].zones": (
            f"{NO_NODES}, in zones of theirs",
            "Write the zone among its labels, `nodeLabels: {group: a100, topology.kubernetes.io/zone: us-east-1a}`",
        ),
    }
    secret_keys: ClassVar[Mapping[str, str]] = {"kubeconfig": "kubeconfig"}

    cloud: Literal["existing"] = Field(  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
        description="Which cloud: `existing`, a cluster somebody else made.", examples=["existing"]
    )
    context: Annotated[str, StringConstraints(pattern=CONTEXT, max_length=253)] = Field(
        description="Context of the kubeconfig, as `kubectl config get-contexts` lists it. Always named, never "
        "whatever happens to be current.",
        examples=["kind-kind"],
    )
    kubeconfig: Annotated[str, StringConstraints(pattern=PATH, max_length=500)] | None = Field(
        default=None,
        description="Path of a kubeconfig, from `/` or `~/`; the same on every machine that runs `up`. Left out: the "
        "encrypted key `spotproof:kubeconfig`, which holds a whole kubeconfig, and without one $KUBECONFIG or "
        "~/.kube/config, as kubectl does.",
        examples=["~/.kube/config"],
    )
    cluster_name: Annotated[str, StringConstraints(pattern=NAME, max_length=253)] | None = Field(
        default=None,
        description="What the cluster is called for good. Left out: the context. Set it before a context is renamed, "
        "or everything in the cluster would be made anew.",
        examples=["research"],
    )

    @field_validator("kubeconfig", mode="before")
    @classmethod
    def _a_path(cls, value: object) -> object:
        # what stands here may be the file itself, with keys in it: it is never shown
        if isinstance(value, str) and ("\n" in value or "apiVersion" in value or "clusters:" in value):
            raise ValueError(
                "holds a kubeconfig itself; whoever reads this file could act with its rights; "
                "Write its path, or keep it encrypted: `pulumi config set --secret spotproof:kubeconfig < config.yaml`"
            )
        return value

    @property
    def place(self) -> str:
        """Nowhere that prices would know: lines of a prices file without a region are this cluster's."""
        return ""

    @property
    def name(self) -> str:
        """What the cluster is called for good."""
        return self.cluster_name or self.context

    def zone_names(self, count: int) -> tuple[str, ...]:
        """None: where the nodes are, their own labels say."""
        del count
        return ()

    @classmethod
    def machine(cls, instance_type: str) -> Machine | None:
        """Nothing is known: a type is only the name of a price here."""
        del instance_type
        return None

    def problems(self, env: "Environment") -> Iterator["Problem"]:
        """What nodes, people and stores of somebody else would not stand, or quietly ignore."""
        return checks.check(self, env)

    def quotas(self, env: "Environment") -> Iterator[Quota]:
        """None: nothing is bought."""
        del env
        return iter(())
