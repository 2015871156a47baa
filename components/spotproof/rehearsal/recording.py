"""A recording: what happened on a control plane, as every version of every object with the second it was received.

The file is JSON, one version a line, so that a review shows what changed::

    {
     "format": "spotproof-recording/1",
     "about": {"story": "one node of two is reclaimed", "kubernetes": "v1.36.3"},
     "seconds": 41.2,
     "marks": [
      {"at": 12.3, "did": "reclaim", "to": "NodeClaim/a100-spot-x7k2p"}
     ],
     "versions": [
      {"at": 1.402, "change": "added", "of": "pod-1", "patch": {"kind": "Pod", "metadata": ...}},
      {"at": 1.403, "change": "added", "of": "pod-2", "like": "pod-1", "patch": {"metadata": {"name": ...}}},
      {"at": 1.961, "change": "modified", "of": "pod-1", "patch": {"status": {"phase": "Running", ...}}}
     ]
    }

`at`
    Seconds from the start to the moment the watch delivered the version; three decimals. The start is a whole second,
    so that times inside objects, which Kubernetes writes in whole seconds, stay whole: `+12s` is the twelfth second.
`change`
    `there`: it was there when recording began; `added`, `modified`, `deleted`: as the watch said. What `deleted` shows
    is the last state.
`of`
    The object's uid: its kind and a number in the order of appearance. The same name stands wherever the uid stood:
    in owner references, in labels, in the objects events are about.
`patch`
    A merge patch (RFC 7386) to the version of the same object before it. Of an object's first version: to nothing, or
    with `like` to the first version of the object named there.
`marks`
    What was done from outside, by whoever made the recording: what the cluster did by itself is in `versions` alone.

`metadata.resourceVersion` is the rank of the write among all writes recorded: watches of two kinds may deliver out of
order, and it says what was first. What was left out or renamed, and why, is in redaction.py.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from spotproof.rehearsal.patches import Json, difference, patched

FORMAT: Final = "spotproof-recording/1"

Change: TypeAlias = Literal["there", "added", "modified", "deleted"]
CHANGES: Final[Mapping[str, Change]] = {
    "there": "there",
    "added": "added",
    "modified": "modified",
    "deleted": "deleted",
}


class RecordingError(ValueError):
    """A file that is no recording of this format; one sentence."""


@dataclass(frozen=True)
class Version:
    """One version of one object, `at` seconds after the start."""

    at: float
    change: Change
    object: Json

    @property
    def kind(self) -> str:
        """Kind of the object."""
        return str(self.object.get("kind", ""))

    @property
    def uid(self) -> str:
        """Uid of the object: what all its versions share, and no other object has."""
        return str(self.object.get("metadata", {}).get("uid", ""))


@dataclass(frozen=True)
class Mark:
    """Something done from outside: `did` says what, `to` to which object as `Kind/name`, or more of it in words."""

    at: float
    did: str
    to: str = ""


@dataclass(frozen=True)
class Recording:
    """Everything that was seen in so many seconds, in the order in which it was seen."""

    versions: tuple[Version, ...]
    marks: tuple[Mark, ...] = ()
    seconds: float = 0.0
    about: Mapping[str, str] = field(default_factory=dict[str, str])

    def text(self) -> str:
        """The file's text; the same recording always gives the same."""
        lines = {
            "format": json.dumps(FORMAT),
            "about": json.dumps(dict(self.about), sort_keys=True, ensure_ascii=False),
            "seconds": json.dumps(round(self.seconds, 3)),
            "marks": _lines([_mark(each) for each in self.marks]),
            "versions": _lines(list(_packed(self.versions))),
        }
        return "{\n" + ",\n".join(f' "{key}": {value}' for key, value in lines.items()) + "\n}\n"

    def save(self, path: Path) -> None:
        """Write the file."""
        path.write_text(self.text(), encoding="utf-8")


def load(path: Path) -> Recording:
    """Read a file.

    Raises:
        RecordingError: it is no recording, or one of another format.
        OSError: it cannot be read.
    """
    return read(path.read_text(encoding="utf-8"), path.name)


def read(text: str, source: str = "the recording") -> Recording:
    """Read a file's text; `source` names it in errors.

    Raises:
        RecordingError: it is no recording, or one of another format.
    """
    try:
        document: Any = json.loads(text)
    except ValueError as error:
        raise RecordingError(f"{source} is not JSON: {error}") from error
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        raise RecordingError(f"{source} has the format {found!r}, and what is read here is {FORMAT}; record it again")
    try:
        return Recording(
            versions=tuple(_unpacked(document["versions"])),
            marks=tuple(Mark(each["at"], each["did"], each.get("to", "")) for each in document["marks"]),
            seconds=document["seconds"],
            about=document["about"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordingError(f"{source} is damaged: {type(error).__name__} {error}; record it again") from error


def _mark(mark: Mark) -> dict[str, Any]:
    return {"at": round(mark.at, 3), "did": mark.did, **({"to": mark.to} if mark.to else {})}


def _lines(values: list[dict[str, Any]]) -> str:
    """A list with one value a line; the keys of a value stay in order, those below are sorted."""
    if not values:
        return "[]"
    written = (", ".join(f'"{key}": {_compact(each)}' for key, each in value.items()) for value in values)
    return "[\n" + ",\n".join(f"  {{{line}}}" for line in written) + "\n ]"


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _packed(versions: tuple[Version, ...]) -> Iterator[dict[str, Any]]:
    last: dict[str, Json] = {}
    models: dict[str, tuple[str, Json]] = {}
    for each in versions:
        line: dict[str, Any] = {"at": round(each.at, 3), "change": each.change, "of": each.uid}
        before = last.get(each.uid)
        if before is None:
            # pods of one gang differ in a few lines: a file of patches to nothing would be three times as long
            model, before = models.get(each.kind, ("", {}))
            line |= {"like": model} if model else {}
            models.setdefault(each.kind, (each.uid, each.object))
        yield line | {"patch": difference(before, each.object)}
        last[each.uid] = each.object


def _unpacked(lines: list[dict[str, Any]]) -> Iterator[Version]:
    last: dict[str, Json] = {}
    first: dict[str, Json] = {}
    for line in lines:
        uid = line["of"]
        before = last[uid] if uid in last else first[line["like"]] if "like" in line else {}
        last[uid] = patched(before, line["patch"])
        first.setdefault(uid, last[uid])
        yield Version(line["at"], CHANGES[line["change"]], last[uid])
