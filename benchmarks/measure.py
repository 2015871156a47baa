"""Times that can be quoted: several runs after a warm-up, the median, and the spread beside it."""

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class Times:
    """Seconds of every counted run."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure to quote."""
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        """Median, and in brackets the fastest and the slowest run."""
        return f"{self.median:.2f} s ({min(self.seconds):.2f} to {max(self.seconds):.2f})"


def times(run: Callable[[], object], runs: int = 7, warm_up: int = 1) -> Times:
    """How long a call takes, in this process."""
    for _ in range(warm_up):
        run()
    return Times(tuple(_timed(run) for _ in range(runs)))


def command_times(command: Sequence[str], runs: int = 5) -> Times:
    """How long a command takes, process start included; its output is thrown away.

    Raises:
        CalledProcessError: the command failed.
    """
    return times(lambda: subprocess.run(command, check=True, capture_output=True), runs)


def _timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def machine() -> str:
    """What the figures were measured on, and when."""
    today = datetime.now(tz=UTC).date()
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, {today}"
