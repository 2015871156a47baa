"""The write that somebody waits for."""

import re
import threading
from collections.abc import Callable


class Awaited:
    """Counts writes as they begin, and says which one is waited for. Of any thread."""

    def __init__(self) -> None:
        self.writes = 0
        """All that have begun."""
        self._lock = threading.Lock()
        self._left, self._to = 0, ""
        self._seen: Callable[[], None] | None = None

    def watch(self, write: int, seen: Callable[[], None], to: str = "") -> None:
        """Wait for the `write`th from now on, of those in whose path the regular expression `to` is found."""
        with self._lock:
            self._left, self._seen, self._to = write, seen, to

    def release(self) -> None:
        """Wait for none any more."""
        with self._lock:
            self._seen = None

    def begun(self, path: str) -> Callable[[], None] | None:
        """A write begins; what to call where it is the one, once."""
        with self._lock:
            self.writes += 1
            if self._seen is None or not re.search(self._to, path):
                return None
            self._left -= 1
            if self._left:
                return None
            seen, self._seen = self._seen, None
            return seen
