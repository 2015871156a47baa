"""What can be bought at the moment of asking: the file that our Karpenter reads each time it is to make a node."""

import json
from pathlib import Path


class Market:
    """Offerings without capacity, by capacity type, zone and instance type. A new market has capacity of everything.

    Karpenter (tools/go/controlplane/karpenter) answers a NodeClaim whose offerings are all closed with
    InsufficientCapacityError, as a cloud does. It reads the file at every NodeClaim, so a change holds at once; nodes
    that run are left alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._closed: list[dict[str, str]] = []
        self._write()

    def close(self, *, capacity_type: str = "", zone: str = "", instance_type: str = "") -> None:
        """No more of these offerings; what is left empty is any."""
        self._closed.append({"capacityType": capacity_type, "zone": zone, "instanceType": instance_type})
        self._write()

    def open(self, *, capacity_type: str = "", zone: str = "", instance_type: str = "") -> None:
        """Capacity again of what was closed in the same words."""
        self._closed.remove({"capacityType": capacity_type, "zone": zone, "instanceType": instance_type})
        self._write()

    def open_all(self) -> None:
        """Capacity of everything again."""
        self._closed.clear()
        self._write()

    def _write(self) -> None:
        # In one move: Karpenter may read at any moment, and half a file would be an error instead of an answer.
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"closed": self._closed}, indent=2), encoding="utf-8")
        new.replace(self.path)
