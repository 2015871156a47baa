"""The event loop a program runs on: the SDK's calls to our monitor answered at once, and an end to waiting for ever."""

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Final

IDLE_SECONDS: Final = 10.0
"""How long a program may wait for nothing at all. Nothing here takes longer: our monitor answers in microseconds."""

# Where the SDK's wrapper for its own calls to the monitor is defined (pulumi.runtime._context.wrap_with_context).
_SDK_CALL: Final = "pulumi.runtime._context"


class StuckError(Exception):
    """The program waits for something that will never happen."""


class BlockingCallError(Exception):
    """Raised by our monitor on the loop's own thread: this answer needs the loop to run meanwhile."""


class _Selector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(IDLE_SECONDS if timeout is None else timeout)
        if timeout is None and not ready:
            raise StuckError
        return ready


class Loop(asyncio.SelectorEventLoop):
    """An event loop that calls our monitor directly.

    The SDK hands each call to a thread, because a real monitor is behind a socket; ours is in memory. Without
    the hop resources register in the same order on every run, and 1,000 of them take 1.4 s instead of 1.6 s.
    Only a registration with transforms, for which the program is called back while it waits, gets its thread.
    """

    def __init__(self) -> None:
        super().__init__(_Selector())
        # What nobody awaits any more after a failure was reported once already, by the run itself.
        self.set_exception_handler(lambda _loop, _context: None)

    def run_in_executor(  # noqa: D102  # asyncio's own
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        if executor is not None or func.__module__ != _SDK_CALL:
            return super().run_in_executor(executor, func, *args)
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except BlockingCallError:
            return super().run_in_executor(executor, func, *args)
        except Exception as error:  # noqa: BLE001  # handed to whoever awaits, as a thread's would be
            future.set_exception(error)
        return future
