"""What every cloud hands over: enough to install operators and to place jobs, without knowing which cloud it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pulumi
import pulumi_kubernetes as k8s

from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.manifests.scheduling import Placement
from spotproof.prices import Price
from spotproof.settings import Accelerator

GPU_PLUGIN: Final = "gpu-plugin"
"""In `Cluster.provides` where the nodes bring NVIDIA's device plugin: a second one would register the same GPUs."""


@dataclass(frozen=True)
class Scheduling(Placement):
    """How a pod lands on a pool, and on no other; what it finds there and what that costs.

    `price` is the cheapest instance type's; None where no table knows any of them.
    """

    accelerator: Accelerator | None = None
    price: Price | None = None


def _made_already(_operators: Sequence[pulumi.Resource]) -> None:
    """The workspaces of a cluster that takes its operators along when it goes."""


@dataclass(frozen=True)
class Cluster:
    """A cluster that is ready for operators.

    `system_scheduling` is how an operator lands on nodes that nobody reclaims and no pool owns. `workspaces` maps a
    namespace to the service account its jobs run as. `provides` names what need not be installed. `ready` must exist
    before an operator's pods can run. `lifetime` is the resource whose end takes everything inside the cluster along:
    an operator deleted with it stays until the last custom resource that has its finalizer is gone. None where
    the cluster is somebody else's and outlives the stack: then `make_workspaces`, given the operators, makes the
    workspaces after them, so that on destroy they go before.
    """

    kubernetes_provider: k8s.Provider
    pools: Mapping[str, Scheduling]
    system_scheduling: Placement
    checkpoints: CheckpointStore
    workspaces: Mapping[str, str]
    provides: frozenset[str]
    ready: Sequence[pulumi.Resource]
    lifetime: pulumi.CustomResource | None
    exports: Mapping[str, pulumi.Input[object]] = field(default_factory=dict)
    make_workspaces: Callable[[Sequence[pulumi.Resource]], None] = _made_already
