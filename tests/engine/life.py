"""The life of one stack on the engine, each command run once, in its order, when a test first asks for it."""

import json
from functools import cached_property
from typing import Any

from tests.engine.driver import Engine, Run, Stack, short
from tests.engine.parity import Seen, of_engine
from tests.stacks.runs import settings_of


class Life:
    """First preview, up, a preview without changes, edits, and destroy. A command that fails fails whoever asks."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        self.engine = engine
        self.settings = settings_of(name)

    @cached_property
    def stack(self) -> Stack:
        """The stack, made on first use."""
        return self.engine.stack(self.name, self.settings)

    @cached_property
    def planned(self) -> dict[str, Any]:
        """The plan of the first preview, and under `calls` what the providers were asked."""
        file = self.engine.folder / f"{self.name}.plan.json"
        before = len(self.engine.standin.calls)
        well(self.stack.preview(plan=file))
        return {**json.loads(file.read_text(encoding="utf-8")), "calls": self.engine.standin.calls[before:]}

    @cached_property
    def up(self) -> Run:
        """The first `up`."""
        assert self.planned
        return well(self.stack.up())

    @cached_property
    def state(self) -> dict[str, Any]:
        """The exported state after the first `up`."""
        assert self.up
        return self.stack.deployment()

    @cached_property
    def unchanged(self) -> Run:
        """A preview with nothing edited; it may fail."""
        assert self.state
        return self.stack.unchanged()

    def seen(self) -> dict[str, Seen]:
        """Every resource as the engine has it."""
        return of_engine(self.planned, self.state["resources"], self.planned["calls"])

    def edited(self, settings: dict[str, Any]) -> Run:
        """What an `up` would do with other settings; the stack is as after its first `up`, and stays so."""
        assert self.unchanged
        self.stack.configure(settings)
        try:
            return well(self.stack.preview())
        finally:
            self.stack.configure(self.settings)

    @cached_property
    def refused(self) -> Run:
        """A destroy with all protection in place, as far as the preview that the CLI makes of it."""
        assert self.unchanged
        return self.stack.preview_destroy()

    @cached_property
    def destroyed(self) -> tuple[list[str], list[str]]:
        """What the providers were told to delete (type and name, in order), and what the state still has after it.

        Protection goes the way the documentation says: by the settings, with an `up`.
        """
        assert self.refused
        if any(one.get("protect") for one in self.state["resources"]):
            self.stack.configure(unprotected(self.settings))
            well(self.stack.up())
        before = len(self.engine.standin.calls)
        well(self.stack.destroy())
        calls = self.engine.standin.calls[before:]
        left = [short(one["urn"]) for one in self.stack.deployment().get("resources", [])]
        return [short(call.urn) for call in calls if call.method == "Delete"], left


def unprotected(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings under which everything may go."""
    if settings["provider"]["cloud"] == "existing":
        return settings
    return {
        **settings,
        "checkpoints": {**settings.get("checkpoints", {}), "protect": False},
        "controlPlane": {**settings.get("controlPlane", {}), "deletionProtection": False},
    }


def well(run: Run) -> Run:
    """Return a run that must have gone well."""
    assert not run.error, run.error[-4000:]
    return run
