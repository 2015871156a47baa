"""The controller's metrics, as Prometheus reads them. Every name begins with `spotproof_`; times are in seconds."""

from collections import Counter as Tally
from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from spotproof.controller.cache import Cache, Key
from spotproof.controller.kinds import RUN, Kind
from spotproof.controller.metrics import Outcome, WatchEnd
from spotproof.controller.work_queue import WorkQueue

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS: Final = (0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)
"""Of a look at a job: one without a call takes under 5 ms, one with calls as long as they do."""


class Exposition:
    """An Observer that counts, and the page that tells.

    Jobs by phase and the queue's depth are read when somebody asks; nothing is kept for them.
    """

    def __init__(self, cache: Cache, queue: WorkQueue[Key]) -> None:
        self._registry = CollectorRegistry()
        self._looks = Counter("spotproof_reconciles", "Looks at a job.", ("kind", "outcome"), registry=self._registry)
        self._seconds = Histogram(
            "spotproof_reconcile_seconds",
            "How long a look at a job takes.",
            ("kind",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._lists = Counter("spotproof_lists", "Lists of everything of a kind.", ("kind",), registry=self._registry)
        self._ends = Counter(
            "spotproof_watch_restarts", "Watches begun again.", ("kind", "why"), registry=self._registry
        )
        self._moves = Counter(
            "spotproof_moves", "Jobs moved, or restarted on their tier.", ("kind", "reason"), registry=self._registry
        )
        self._interruptions = Counter(
            "spotproof_interruptions", "Interruptions of gangs.", ("kind", "cause"), registry=self._registry
        )
        self._registry.register(_Now(cache, queue))
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def page(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(self._registry)

    def reconciled(self, kind: str, outcome: Outcome, seconds: float) -> None:
        """A job was looked at."""
        self._looks.labels(kind, outcome).inc()
        self._seconds.labels(kind).observe(seconds)

    def listed(self, kind: Kind, objects: int, seconds: float) -> None:  # noqa: ARG002  # the protocol's
        """A kind was listed."""
        self._lists.labels(kind.kind).inc()

    def watch_ended(self, kind: Kind, why: WatchEnd) -> None:
        """A watch is begun again."""
        self._ends.labels(kind.kind, why).inc()

    def moved(self, kind: str, reason: str) -> None:
        """A job was moved."""
        self._moves.labels(kind, reason).inc()

    def interrupted(self, kind: str, cause: str) -> None:
        """An interruption was counted."""
        self._interruptions.labels(kind, cause).inc()


class _Now(Collector):
    """How things are at the moment of the question."""

    def __init__(self, cache: Cache, queue: WorkQueue[Key]) -> None:
        self._cache = cache
        self._queue = queue

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Jobs by phase, and the queue."""
        jobs = GaugeMetricFamily("spotproof_jobs", "Managed jobs by the phase of their TrainingRun.", labels=("phase",))
        phases = Tally(run.get("status", {}).get("phase", "Pending") for run in self._cache.all(RUN))
        for phase, count in sorted(phases.items()):
            jobs.add_metric((phase,), count)
        yield jobs
        depth = self._queue.depth()
        keys = GaugeMetricFamily("spotproof_queue_jobs", "Jobs to be looked at.", labels=("state",))
        for state, count in (("ready", depth.ready), ("later", depth.later), ("at work", depth.at_work)):
            keys.add_metric((state,), count)
        yield keys
        yield GaugeMetricFamily(
            "spotproof_queue_oldest_seconds",
            "How long the first job in the queue has been ready.",
            depth.oldest_seconds,
        )
