"""Free ports of the loopback address.

A port that is free when it is picked can be taken before it is used. Below the range from which the kernel picks the
ports of outgoing connections (32768 and up on Linux, 49152 on macOS) only another server can do that, and a process
that finds its port taken is started again on another one.
"""

import random
import socket
import threading
from typing import Final

from spotproof.rehearsal.certificates import LOOPBACK

RANGE: Final = range(20_000, 32_000)
TRIES: Final = 200
TAKEN: Final = "address already in use"
"""Go's words, in the log of a process whose port was taken first."""


class Ports:
    """The ports of one control plane by name; a name keeps its port until it is renewed."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._ports: dict[str, int] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> int:
        with self._lock:
            if name not in self._ports:
                self._ports[name] = self._pick()
            return self._ports[name]

    def renew(self, *names: str) -> None:
        """Other ports for these names, the next time they are asked for."""
        with self._lock:
            for name in names:
                self._ports.pop(name, None)

    def taken(self) -> frozenset[int]:
        """Those handed out."""
        return frozenset(self._ports.values())

    def _pick(self) -> int:
        for _ in range(TRIES):
            port = self._chance.choice(RANGE)
            if port not in self._ports.values() and _free(port):
                return port
        raise OSError(f"no free port found in {RANGE.start} to {RANGE.stop - 1} of {LOOPBACK} in {TRIES} tries")


def _free(port: int) -> bool:
    """Whether nothing listens there, on this address or on all."""
    with socket.socket() as tried:
        # as Go binds: a port whose last connection is only waiting out its time is free
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((LOOPBACK, port))
        except OSError:
            return False
    with socket.socket() as tried:
        return tried.connect_ex((LOOPBACK, port)) != 0
