"""What of an object may stand in a file: no secret, no name of a machine, no date; and uids that can be read.

Two runs of the same story give files that differ where the runs did, and a file tells nobody where it was made.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from spotproof.rehearsal.patches import Json, without_nulls

HIDDEN: Final = "redacted"

UUID: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
TIME: Final = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
PLACE: Final = re.compile(r"(?<![\w./])/(?:tmp|home|root|Users|var/folders|private/var)/[^\s\"',;:)]+")
"""Paths of the machine a recording was made on; those inside a container (/dev/shm, /checkpoints) are none of them."""
SECRET_TEXT: Final = re.compile(r"-----BEGIN [A-Z ]+-----|\beyJ[\w-]{8,}\.[\w-]{8,}\.|\bLS0tLS1CRUdJTi")
"""A PEM block, as it is or in base64, and a JSON web token."""
SECRET_KEY: Final = re.compile(r"^(caBundle|.*(token|password|passwd|secretKey|privateKey))$", re.IGNORECASE)
SECRET_VARIABLE: Final = re.compile(r"SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIAL|PRIVATE_KEY|ACCESS_KEY|API_KEY")
HELD: Final = ("data", "stringData", "binaryData")
"""Of kinds that hold what nobody is to read, the fields it is in."""
HOLDERS: Final = frozenset({"Secret", "ConfigMap"})
"""ConfigMap, because every namespace has one with the cluster's certificate."""

DROPPED: Final = frozenset({"managedFields", "reportingInstance", "machineID", "systemUUID", "bootID", "selfLink"})
"""Fields that only name a writer or a machine, wherever they are."""
DROPPED_ANNOTATIONS: Final = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})


class Redaction:
    """One run's objects, made fit for a file, all by the same names.

    Every uid becomes the kind of its object and a number in the order of appearance (`pod-3`); one whose object is not
    in the run becomes `other-1`. A resourceVersion becomes its rank among those of the run, so that the order of writes
    over all kinds can still be read. An Event is called by its uid: its own name holds the time. A time becomes the
    seconds since the start, as `+12s`.
    """

    def __init__(self, objects: Iterable[Json], *, zero: float, hidden: Sequence[str] = ()) -> None:
        """Learn the names of a run.

        Args:
            objects: Every version of every object, in order.
            zero: The start, in seconds since 1970.
            hidden: Words that must not be found in a file, such as the machine's name.
        """
        self._zero = zero
        words = sorted((re.escape(word) for word in hidden if word), key=len, reverse=True)
        self._hidden = re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])") if words else None
        self._uids: dict[str, str] = {}
        self._events: dict[str, str] = {}
        counts: dict[str, int] = {}
        versions: set[int] = set()
        for each in objects:
            meta = each.get("metadata") or {}
            if str(meta.get("resourceVersion", "")).isdigit():
                versions.add(int(meta["resourceVersion"]))
            if (uid := meta.get("uid")) and uid not in self._uids:
                kind = str(each.get("kind", "other")).lower()
                counts[kind] = counts.get(kind, 0) + 1
                self._uids[uid] = f"{kind}-{counts[kind]}"
        self._ranks = {str(version): str(rank) for rank, version in enumerate(sorted(versions), 1)}
        self._known = len(self._uids)

    def redacted(self, thing: Json) -> dict[str, Any]:
        """One object, as it may stand in a file; the object given is not changed."""
        found: dict[str, Any] = self._walk(without_nulls(thing))
        meta = found.get("metadata")
        if isinstance(meta, dict):
            self._metadata(found, meta)
        if found.get("kind") in HOLDERS:
            for field in HELD:
                if isinstance(found.get(field), Mapping):
                    found[field] = dict.fromkeys(found[field], HIDDEN)
        return found

    def _metadata(self, thing: dict[str, Any], meta: dict[str, Any]) -> None:
        if "resourceVersion" in meta:
            meta["resourceVersion"] = self._ranks.get(str(meta["resourceVersion"]), HIDDEN)
        if isinstance(notes := meta.get("annotations"), dict):
            meta["annotations"] = {key: text for key, text in notes.items() if key not in DROPPED_ANNOTATIONS}
        if thing.get("kind") == "Event":
            meta["name"] = meta.get("uid", HIDDEN)
            for about in ("involvedObject", "regarding", "related"):
                if isinstance(thing.get(about), dict):
                    thing[about].pop("resourceVersion", None)
            for source in ("source", "deprecatedSource"):
                if isinstance(thing.get(source), dict):
                    thing[source].pop("host", None)

    def text(self, text: str) -> str:
        """A text without uids, times, secrets, and what belongs to the machine."""
        if SECRET_TEXT.search(text):
            return HIDDEN
        if self._hidden:
            text = self._hidden.sub(HIDDEN, text)
        return PLACE.sub(HIDDEN, TIME.sub(self._seconds, UUID.sub(self._name, text)))

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._walk(each) for each in value]
        if not isinstance(value, Mapping):
            return value
        kept = {key: each for key, each in value.items() if key not in DROPPED}
        return {key: self._of_key(key, each, kept) for key, each in kept.items()}

    def _of_key(self, key: str, value: Any, beside: Mapping[str, Any]) -> Any:
        if isinstance(value, str) and SECRET_KEY.search(key):
            return HIDDEN
        if key == "value" and isinstance(beside.get("name"), str) and SECRET_VARIABLE.search(beside["name"].upper()):
            return HIDDEN
        return self._walk(value)

    def _name(self, found: re.Match[str]) -> str:
        uid = found[0]
        if uid not in self._uids:
            self._uids[uid] = f"other-{len(self._uids) - self._known + 1}"
        return self._uids[uid]

    def _seconds(self, found: re.Match[str]) -> str:
        return f"{round(datetime.fromisoformat(found[0]).timestamp() - self._zero, 3):+g}s"


Redact = Callable[[Json], dict[str, Any]]
