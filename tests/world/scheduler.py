"""The scheduler: selectors, taints, and as many accelerators and pods as a node has."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from spotproof.controller.kinds import NODE, POD, Object
from spotproof.vocabulary import GPU_RESOURCE
from tests.world.manager import Manager
from tests.world.store import Change, Place
from tests.world.things import condition, conditions, ended, labels, leaves, name, node_of, spec, status

LOOK_SECONDS: Final = 0.02
UNSCHEDULABLE: Final = ("PodScheduled", "False", "Unschedulable")
ALL: Final[Place] = ("", "")
SELECTOR: Final = "node(s) didn't match Pod's node affinity/selector"
TAINTED: Final = "node(s) had untolerated taint(s)"
CORDONED: Final = "node(s) were unschedulable"
FULL: Final = f"Insufficient {GPU_RESOURCE}"


class Scheduler(Manager):
    """Binds pods in the order of their creation; what cannot be bound says why."""

    choose: Callable[[Object, list[str]], str] | None = None
    """Names a node of those that a pod fits on, or none, where it is all the same."""

    def pod(self, change: Change, pod: Object, old: Object | None) -> None:
        """A pod has come, or has left room."""
        if change == "DELETED" or (not node_of(pod) and old is None) or (ended(pod) and old and not ended(old)):
            self.later(ALL, LOOK_SECONDS)

    def node(self, change: Change, node: Object, old: Object | None) -> None:
        """A node has come, or takes pods now."""
        if change == "ADDED" or (old is not None and node["spec"] is not old["spec"]):
            self.later(ALL, LOOK_SECONDS)

    def sync(self, where: Place) -> None:
        """Place every pod that has no place."""
        del where
        waiting = [each for each in self.store.all(POD) if not node_of(each) and not leaves(each) and not ended(each)]
        if not waiting:
            return
        nodes = self.store.all(NODE)
        free = {name(node): self._free(node) for node in nodes}
        for pod in waiting:
            self._place(pod, nodes, free)

    def _free(self, node: Object) -> int:
        taken = sum(accelerators(pod["spec"]) for pod in self.store.on_node(name(node)) if not ended(pod))
        return int(node["status"]["allocatable"].get(GPU_RESOURCE, "0")) - taken

    def _place(self, pod: Object, nodes: list[Object], free: dict[str, int]) -> None:
        wanted = accelerators(pod["spec"])
        why = {name(node): _against(pod["spec"], node) or (FULL if wanted > free[name(node)] else "") for node in nodes}
        # the emptiest first, as the real one scores them
        if fits := [node for node, against in why.items() if not against]:
            chosen = self.choose(pod, fits) if self.choose else ""
            best = chosen or max(fits, key=lambda node: free[node])
            free[best] -= wanted
            bound = conditions(pod, self.clock.text, ("PodScheduled", "True", "", ""))
            self.store.write(pod, status(spec(pod, nodeName=best), conditions=bound))
            return
        against = Counter(why.values())
        said = f"0/{len(nodes)} nodes are available: {', '.join(f'{n} {why}' for why, n in sorted(against.items()))}."
        if condition(pod, "PodScheduled").get("message") != said:
            waits = conditions(pod, self.clock.text, (*UNSCHEDULABLE, said))
            self.store.write(pod, status(pod, conditions=waits))


def accelerators(pod_spec: Mapping[str, Any]) -> int:
    """How many accelerators a pod asks for."""
    return sum(
        int(each.get("resources", {}).get("requests", {}).get(GPU_RESOURCE, 0))
        for each in pod_spec.get("containers", ())
    )


def tolerates(pod_spec: Mapping[str, Any], taint: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The toleration of a pod that fits a taint; None where it has none."""
    for each in pod_spec.get("tolerations", ()):
        if each.get("effect", taint["effect"]) != taint["effect"]:
            continue
        if each.get("operator", "Equal") == "Exists":
            if each.get("key", taint["key"]) == taint["key"]:
                return each
        elif each.get("key") == taint["key"] and each.get("value", "") == taint.get("value", ""):
            return each
    return None


def _against(pod_spec: Mapping[str, Any], node: Object) -> str:
    has = labels(node)
    if any(has.get(key) != value for key, value in pod_spec.get("nodeSelector", {}).items()):
        return SELECTOR
    if node["spec"].get("unschedulable"):
        return CORDONED
    if any(tolerates(pod_spec, taint) is None for taint in node["spec"].get("taints", ())):
        return TAINTED
    return ""


def waits(pod: Object) -> bool:
    """Whether a pod waits because no node takes it."""
    return not node_of(pod) and not leaves(pod) and condition(pod, "PodScheduled").get("reason") == "Unschedulable"
