"""A stack's nodes as kwok runs them, and the volume of checkpoints where they are kept on one."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from spotproof.kube.client import Kube
from tests.e2e.kit import condition
from tests.portability.nodes import ZONE
from tests.portability.scheduler import Node

Object = dict[str, Any]
HOME: Final = "research"
"""The workspace of every test here."""
SECONDS: Final = 60


def real(node: Node) -> Object:
    """The node for kwok to run; its zone is what every cloud writes and only some programs know."""
    size = {
        **{key: str(int(amount)) for key, amount in node.allocatable.items()},
        "cpu": f"{int(node.allocatable['cpu'] * 1000)}m",
        "pods": "110",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": {ZONE: "zone-a", **node.labels, "kubernetes.io/hostname": node.name}},
        "spec": {"taints": [dict(taint) for taint in node.taints]},
        "status": {"allocatable": size, "capacity": size},
    }


@contextmanager
def brought_up(kube: Kube, nodes: Sequence[Node]) -> Generator[None]:
    """Nodes that are there within the block, each Ready and with its own taints only."""
    for node in nodes:
        kube.create(real(node))
    try:
        for node in nodes:
            kube.wait(partial(_settled, kube, node), f"{node.name} to be Ready", SECONDS)
        yield
    finally:
        for node in nodes:
            kube.delete("v1", "Node", node.name)


def _settled(kube: Kube, node: Node) -> bool:
    found = kube.get("v1", "Node", node.name)
    own = sorted(taint["key"] for taint in node.taints)
    return condition(found, "Ready").get("status") == "True" and own == sorted(
        taint["key"] for taint in found["spec"].get("taints", [])
    )


def claim(name: str | None) -> list[Object]:
    """A volume of the laptop and a claim that has it, where checkpoints are kept on one."""
    if name is None:
        return []
    size = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    volume = {"capacity": {"storage": "1Gi"}, "hostPath": {"path": "/checkpoints"}, **size}
    claim = {"resources": {"requests": {"storage": "1Gi"}}, "volumeName": name, **size}
    return [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": volume},
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": HOME},
            "spec": claim,
        },
    ]
