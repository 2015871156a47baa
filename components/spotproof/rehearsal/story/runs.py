"""What the fallback controller made of it: counts, moves and why, what it hands back."""

from collections.abc import Iterator

from spotproof.rehearsal.history import History, Life
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.story.moment import Moment


def counted(history: History) -> Iterator[Moment]:
    """An interruption is charged to the tier, or to the program."""
    for run in history.of("TrainingRun"):
        for key, what in (("evictions", "an eviction"), ("errors", "an error of the program")):
            for at, before, after in run.changes(lambda thing, key=key: int(_status(thing).get(key) or 0)):
                if after > before:
                    status = _status(run.at(at) or {})
                    tier = f" on {status['tier']}" if status.get("tier") else ""
                    yield Moment(
                        at=at,
                        kind="counted",
                        text=f"the controller counts {what} of {_named(run)}{tier}, {after} so far",
                        quote=str((status.get("interruption") or {}).get("evidence", "")),
                    )


def decided(history: History) -> Iterator[Moment]:
    """The controller begins a move; a restart by it is one to the same tier."""
    for run in history.of("TrainingRun"):
        for at, before, after in run.changes(_move):
            if after and after.get("id") != before.get("id"):
                same = after["from"] == after["to"]
                where = f"restarts it on {after['to']}" if same else f"takes it from {after['from']} to {after['to']}"
                text = f"the controller has decided about {_named(run)}: it {where}"
                yield Moment(at=at, kind="decided", text=text, quote=str(after.get("message", "")))


def left_alone(history: History) -> Iterator[Moment]:
    """The controller does nothing more, and says why."""
    said = {"Refused": "refuses", "HandedBack": "hands back", "Failed": "gives up"}
    for run in history.of("TrainingRun"):
        for at, _, after in run.changes(lambda thing: str(_status(thing).get("phase", ""))):
            if after in said:
                message = str(_status(run.at(at) or {}).get("message", ""))
                text = f"the controller {said[after]} {_named(run)}"
                yield Moment(at=at, kind="left alone", text=text, quote=message)


def _move(run: Json) -> Json:
    return _status(run).get("move") or {}


def _named(run: Life) -> str:
    job = run.last["spec"]["job"]
    return f"{job['kind']} {job['name']}"


def _status(run: Json) -> Json:
    return run.get("status", {})
