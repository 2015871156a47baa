"""Time that passes when a test says so."""

from dataclasses import dataclass


@dataclass
class Clock:
    """Seconds: `now` is set by the test, and sleeping moves it."""

    now: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let them pass."""
        self.now += seconds
