"""The kubelets of all nodes: pods start, run, and end when they are told to; times as recordings have them."""

from collections.abc import Mapping
from typing import Final

from spotproof.controller.kinds import NODE, POD, Object
from tests.world.manager import Manager
from tests.world.store import Change, Place, place
from tests.world.things import TERMINAL, annotations, conditions, ended, is_true, leaves, node_of, status

START_SECONDS: Final = 0.5
STOP_SECONDS: Final = 1.0
REMOVE_SECONDS: Final = 0.2
KNOB: Final = "rehearsal.spotproof.dev/"
EXIT_CODE: Final = f"{KNOB}exit-code"
"""Annotation: ends a running pod with this code."""
ON_TERM: Final = f"{KNOB}exit-code-on-term"
STOP_DELAY: Final = f"{KNOB}stop-delay"
"""Annotation: seconds that a pod takes to end when it is told to; past its grace it is killed."""
REASON: Final = f"{KNOB}exit-reason"
"""Annotation: what the kubelet says of an exit code, OOMKilled for one."""
KILLED: Final = 137
TERMINATED: Final = 143


class Kubelet(Manager):
    """Every node's kubelet, as long as the node is there and not silent."""

    def pod(self, change: Change, pod: Object, old: Object | None) -> None:
        """A pod has changed."""
        if change == "DELETED" or not node_of(pod):
            return
        where = place(pod)
        if leaves(pod) and (old is None or not leaves(old) or _phase(old) not in TERMINAL):
            self.later(where, self._stop_seconds(pod) if not ended(pod) else REMOVE_SECONDS)
        elif _phase(pod) == "Pending":
            self.later(where, START_SECONDS)
        elif EXIT_CODE in annotations(pod) and not ended(pod):
            self.later(where, 0.01)

    def node(self, change: Change, node: Object, old: Object | None) -> None:
        """A node has come back: its pods are looked at again."""
        if change != "MODIFIED" or old is None or is_true(old, "Ready") or not is_true(node, "Ready"):
            return
        for pod in self.store.on_node(node["metadata"]["name"]):
            self.later(place(pod), START_SECONDS)

    def sync(self, where: Place) -> None:
        """Start a pod, end it, or take it away."""
        pod = self.store.get(POD, where)
        if pod is None or not self._awake(pod):
            return
        if leaves(pod):
            self._leave(where, pod)
        elif _phase(pod) == "Pending":
            self._start(pod)
        elif EXIT_CODE in annotations(pod) and not ended(pod):
            self._end(pod, int(annotations(pod)[EXIT_CODE]))

    def _awake(self, pod: Object) -> bool:
        node = self.store.get(NODE, ("", node_of(pod)))
        return node is not None and is_true(node, "Ready")

    def _leave(self, where: Place, pod: Object) -> None:
        if not ended(pod):
            late = self._stop_seconds(pod) > STOP_SECONDS and _stop_delay(pod) > _grace(pod)
            self._end(pod, KILLED if late else int(annotations(pod).get(ON_TERM, TERMINATED)))
            self.later(where, REMOVE_SECONDS)
        elif pod["metadata"]["deletionGracePeriodSeconds"]:
            self.server.delete("v1", "Pod", where[1], where[0], grace_seconds=0)

    def _start(self, pod: Object) -> None:
        now = self.clock.text
        ready = conditions(pod, now, ("Ready", "True", "", ""))
        states = [{"name": each["name"], "state": {"running": {"startedAt": now}}} for each in _containers(pod)]
        self.store.write(pod, status(pod, phase="Running", conditions=ready, containerStatuses=states, startTime=now))
        if EXIT_CODE in annotations(pod):
            self.later(place(pod), 0.01)

    def _end(self, pod: Object, code: int) -> None:
        now = self.clock.text
        reason = annotations(pod).get(REASON) or ("Completed" if code == 0 else "Error")
        over = {"exitCode": code, "reason": reason, "finishedAt": now}
        states = [{"name": each["name"], "state": {"terminated": over}} for each in _containers(pod)]
        said = ("Ready", "False", "PodCompleted" if code == 0 else "PodFailed", "")
        changed = status(
            pod,
            phase="Succeeded" if code == 0 else "Failed",
            conditions=conditions(pod, now, said),
            containerStatuses=states,
        )
        self.store.write(pod, changed)

    @staticmethod
    def _stop_seconds(pod: Object) -> float:
        return min(_stop_delay(pod), float(_grace(pod)))


def _stop_delay(pod: Object) -> float:
    return float(annotations(pod).get(STOP_DELAY, STOP_SECONDS))


def _grace(pod: Object) -> int:
    return int(pod["metadata"].get("deletionGracePeriodSeconds", 0))


def _phase(pod: Object) -> str:
    return str(pod["status"]["phase"])


def _containers(pod: Object) -> list[Mapping[str, str]]:
    return pod["spec"].get("containers") or [{"name": "main"}]
