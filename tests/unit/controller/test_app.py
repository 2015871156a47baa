"""What /healthz says of a process whose parts are all there."""

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from spotproof.controller.app import App, Options
from spotproof.controller.serving import Address


class AllThere:
    """Watches that are there, and may not have been heard of for long."""

    def __init__(self, *, silent: bool) -> None:
        self.caught_up = threading.Event()
        self.is_silent = silent

    def alive(self) -> bool:
        return True

    def silent(self) -> bool:
        return self.is_silent

    def listed(self) -> Mapping[str, bool]:
        return {"Pod": False}


@pytest.mark.parametrize("silent", [False, True])
def test_a_process_in_which_no_news_comes_in_any_more_is_not_well(*, silent: bool) -> None:
    watches: Any = AllThere(silent=silent)
    options = Options("spotproof-system", Address("127.0.0.1", 0), None, workers=2, elect=False)
    told = App(None, watches, options).health()  # pyright: ignore[reportArgumentType]

    assert told.ok is not silent
    assert f"news {'not yet, or not any more' if silent else 'ok'}" in told.body.decode()
    assert "looks ok" in told.body.decode()
