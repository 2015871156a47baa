"""A small HTTP server that says nothing of a client that has given up."""

import sys
from http.server import ThreadingHTTPServer


class Listening(ThreadingHTTPServer):
    """The standard library's, a thread for each question; the threads end with the process."""

    daemon_threads = True
    # two replicas on one machine are told of each other's port
    allow_reuse_address = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing where whoever asked has gone, as a probe or an operator does that gives up: it asks again."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # pyright: ignore[reportArgumentType]
