"""What settings know of any cloud: where in it, whose account, what it takes, and what it would refuse."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from spotproof.settings.base import Settings
from spotproof.settings.machines import Machine, Quota
from spotproof.vocabulary import SPOT_TAINT, Capacity, Taint

if TYPE_CHECKING:
    from spotproof.settings.environment import Environment
    from spotproof.settings.errors import Problem
    from spotproof.settings.support import Support


class Provider(Settings):
    """One cloud. A subclass is its fields, its facts and its checks; `providers.PROVIDERS` is the table of them."""

    cloud: str

    package: ClassVar[str]
    """First part of its resources' type tokens, as `aws` of `aws:eks/cluster:Cluster`; empty where it has none."""
    node_class_group: ClassVar[str] = ""
    """API group of its Karpenter node classes, where Karpenter makes its nodes."""
    spot_taint: ClassVar[Taint] = SPOT_TAINT
    """The one taint of its spot pools: the cloud's own where it has one, written by us."""
    node_labels: ClassVar[Mapping[Capacity, Mapping[str, str]]] = {}
    """Labels about capacity that the cloud itself writes on nodes, beside Karpenter's; jobs written elsewhere select by
    them."""
    grace_seconds: ClassVar[int]
    """Longest a trainer may take to leave a reclaimed node: the pods' terminationGracePeriodSeconds."""
    makes_nodes: ClassVar[bool] = True
    """False where the nodes are somebody else's: then pools name no machines and nothing is bought."""
    takes: ClassVar[frozenset[str]] = frozenset()
    """Of the settings that only some clouds have (`scope.SCOPED`), those that mean something here."""
    refuses: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Settings that mean nothing here, as `pools[].diskGib` -> (what it would do elsewhere, what to do instead)."""
    secret_keys: ClassVar[Mapping[str, str]] = {}
    """Encrypted keys of the stack file that this cloud reads, after `spotproof:` -> the provider's field that says the
    same in the open; one of the two is enough."""
    reserved_ranges: ClassVar[Mapping[str, str]] = {}
    """IPv4 ranges that a network of ours must not overlap -> whose they are."""
    versions: ClassVar[Mapping[str, "Support"]] = {}
    """Kubernetes versions and the end of their support; empty: nobody here can say."""
    examples: ClassVar[Mapping[str, object]] = {}
    """What errors suggest for settings whose values only one cloud has, as `pools[].zones`, instead of AWS's."""
    default_types: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Instance types of the default pools, `cpu` and `gpu`."""

    @property
    @abstractmethod
    def place(self) -> str:
        """The region, by the cloud's own name: what prices and quotas are looked up by."""

    @abstractmethod
    def zone_names(self, count: int) -> tuple[str, ...]:
        """The first `count` zones of the region, as nodes carry them in `topology.kubernetes.io/zone`."""

    @classmethod
    @abstractmethod
    def machine(cls, instance_type: str) -> Machine | None:
        """What a machine of this type offers; None where nothing is known of it."""

    @abstractmethod
    def problems(self, env: "Environment") -> Iterator["Problem"]:
        """What this cloud would refuse or quietly ignore."""

    def warnings(self, env: "Environment") -> Iterator["Problem"]:
        """What it would take and nobody wants."""
        del env
        return iter(())

    @abstractmethod
    def quotas(self, env: "Environment") -> Iterator[Quota]:
        """Limits of the account that this environment counts against, with what full pools need of each."""
