"""What the policies ask of a node pool, whichever cloud wrote it, and the words in which they answer.

Every property reads only what it needs, so that one unknown value silences one question, not all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from spotproof.vocabulary import Taint


@dataclass(frozen=True)
class Written:
    """Where this kind of pool holds things, in its cloud's own words: a remedy that names another's field is none."""

    labels: str
    taints: str
    max_nodes: str
    capacity: str
    """The field or label requirement that says whether it buys spot."""
    spot_taint: Taint
    subject: str = "This pool"
    """A pool inside another resource is called by its name."""


class NodePool(Protocol):
    """What the policies ask of a pool."""

    @property
    def written(self) -> Written:
        """The words for sentences about it."""
        ...

    @property
    def capacities(self) -> frozenset[str]:
        """The capacity types it may buy; empty when it does not say."""
        ...

    @property
    def labels(self) -> Mapping[str, Any]:
        """The labels that it gives its nodes, values as written."""
        ...

    @property
    def cloud_labels(self) -> frozenset[str]:
        """Keys of reserved domains that its cloud lets this pool write all the same."""
        ...

    @property
    def taints(self) -> tuple[Mapping[str, Any], ...]:
        """The taints that stay on its nodes, the cloud's automatic ones too; effects as Kubernetes has them."""
        ...

    @property
    def max_nodes(self) -> float | None:
        """The largest number of nodes (in each zone, where it is counted so), None when there is no such limit."""
        ...

    @property
    def buys_gpus(self) -> bool:
        """Whether its nodes carry NVIDIA GPUs, as far as the pool itself tells."""
        ...

    @property
    def disk_gib(self) -> float | None:
        """The disk that holds images; None where the pool does not say, or another object does."""
        ...
