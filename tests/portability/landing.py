"""Where a pod lands on a stack: names of the pools whose nodes it fits, and why not where it fits none."""

from dataclasses import dataclass
from functools import cache

from spotproof.settings import Environment, Pool, clock, load_environment
from spotproof.vocabulary import CAPACITY_LABEL, POOL_LABEL, Capacity
from tests.portability.nodes import nodes_of
from tests.portability.scheduler import Node, Pod, reasons_against
from tests.stacks.runs import preview_of, settings_of


@dataclass(frozen=True)
class Stack:
    """An environment and the nodes it gives."""

    name: str
    env: Environment
    nodes: tuple[Node, ...]

    @property
    def gpus(self) -> int:
        """What each worker of a job asks for here: one, where any pool has accelerators."""
        return int(any(pool.accelerator for pool in self.env.pools))

    @property
    def training_pools(self) -> tuple[Pool, ...]:
        """Pools that such a worker may land on."""
        return tuple(pool for pool in self.env.pools if bool(pool.accelerator) == bool(self.gpus))

    def lands_on(self, pod: Pod) -> tuple[str, ...]:
        """Pools, and `system` for nodes of no pool."""
        fitting = [node for node in self.nodes if not reasons_against(pod, node)]
        return tuple(sorted(pool_of(self.env, node) for node in fitting))

    def capacities(self, pools: tuple[str, ...]) -> set[Capacity | str]:
        """The capacities of pools by name; a node of no pool has none of ours."""
        known = {pool.name: pool.capacity for pool in self.env.pools}
        return {known.get(name, "system") for name in pools}


def pool_of(env: Environment, node: Node) -> str:
    """The pool a node belongs to."""
    names = {pool.name for pool in env.pools}
    return next((name for name in (node.labels.get(POOL_LABEL, ""), node.name) if name in names), "system")


@cache
def stack(name: str) -> Stack:
    """A stack file's environment with its nodes; every spot node says so by our own label too."""
    env = load_environment(settings_of(name), today=clock.today())
    nodes = tuple(nodes_of(env, preview_of(name).capture.resources))
    assert {pool_of(env, node) for node in nodes} >= {pool.name for pool in env.pools}, name
    assert all(node.labels.get(CAPACITY_LABEL) in {None, "spot", "on-demand"} for node in nodes)
    return Stack(name, env, nodes)
