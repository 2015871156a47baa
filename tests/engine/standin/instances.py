"""Which provider instance is asking: all of them come to one port, each over a connection of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

import grpc


@dataclass
class Instance:
    """One provider of one run of the engine, and what it was configured with (secrets opened)."""

    configuration: Mapping[str, object] = field(default_factory=dict[str, object])


class Instances:
    """The instances by the connection they ask over (`aws:PORT` in PULUMI_DEBUG_PROVIDERS names no instance)."""

    def __init__(self) -> None:
        self._by_peer: dict[str, Instance] = {}
        self._lock = Lock()

    def of(self, context: grpc.ServicerContext) -> Instance:
        """Return the instance behind a call."""
        with self._lock:
            return self._by_peer.setdefault(context.peer(), Instance())

    def __len__(self) -> int:
        with self._lock:
            return len(self._by_peer)
