"""What the controller tells of its own work. Whoever counts it, as `exposition` does for Prometheus, is an Observer."""

from typing import Literal, Protocol, TypeAlias

from spotproof.controller.kinds import Kind

Outcome: TypeAlias = Literal["done", "refused", "unreachable", "error"]
"""Of one look at one job: the API server said no, or nothing; `error` is a fault of the controller's own."""
WatchEnd: TypeAlias = Literal["ended", "expired", "silent", "unreachable", "refused", "not served"]
"""Why a watch is begun again. `ended` is as it should be; `silent` is a stream that gave neither events nor bookmarks;
`expired` and what follows it may mean a new list."""


class WatchObserver(Protocol):
    """Told of what is counted of watches, as it happens."""

    def listed(self, kind: Kind, objects: int, seconds: float) -> None:
        """All objects of a watch were listed."""
        ...

    def watch_ended(self, kind: Kind, why: WatchEnd) -> None:
        """A watch is to be begun again."""
        ...


class Observer(WatchObserver, Protocol):
    """Told of everything that is counted, as it happens, from any thread."""

    def reconciled(self, kind: str, outcome: Outcome, seconds: float) -> None:
        """A job of this kind was looked at, which took so long."""
        ...

    def moved(self, kind: str, reason: str) -> None:
        """A job was moved, or restarted on its tier; the reason is the decision's word."""
        ...

    def interrupted(self, kind: str, cause: str) -> None:
        """An interruption of a gang was counted for this cause."""
        ...


class Unobserved:
    """Counts nothing: for tests, simulations, and whoever wants no metrics."""

    def reconciled(self, kind: str, outcome: Outcome, seconds: float) -> None:
        """Nothing."""

    def listed(self, kind: Kind, objects: int, seconds: float) -> None:
        """Nothing."""

    def watch_ended(self, kind: Kind, why: WatchEnd) -> None:
        """Nothing."""

    def moved(self, kind: str, reason: str) -> None:
        """Nothing."""

    def interrupted(self, kind: str, cause: str) -> None:
        """Nothing."""
