"""What the replaying API server has: the recorded story of one JobSet, told of thousands with names of their own.

An object that nothing has happened to is written from the recording when somebody asks for it, so that ten thousand
gangs take no room here.
"""

import functools
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import msgspec

from spotproof.rehearsal.patches import patched
from spotproof.rehearsal.recording import Recording, Version, load

RECORDED: Final = Path(__file__).resolve().parents[2] / "tests" / "recordings" / "jobset-reclaim.json"
"""A gang of eight on two nodes of four, one of which is reclaimed; it comes back on a third."""
IN_A_NAMESPACE: Final = 50
UIDS: Final = re.compile(r'"(jobset|job|pod|node|nodeclaim|other)-(\d+)"')
TIMES: Final = re.compile(r'"\+(\d+)s"')
PLACES: Final = re.compile(r"%\((.+?)\)s")
GANG: Final = re.compile(r'"gang(?=["-])')
CODES: Final = {"jobset": "a1b0", "job": "a1b1", "pod": "a1b2", "node": "a1b3", "nodeclaim": "a1b4", "other": "a1b5"}
KINDS: Final = ("JobSet", "Job", "Pod", "Node", "NodeClaim")
NO_LIMIT: Final = 1_000_000
AGE_SECONDS: Final = 7_200
RECORDED_SECONDS: Final = 120

Object = dict[str, Any]
Name = tuple[str, str, str]
"""Kind, namespace and name."""


class Filled:
    """A text with places `%(name)s`, by their order: looked up by name one by one, filling them took twice as long."""

    def __init__(self, text: str) -> None:
        self._text = PLACES.sub("%s", text)
        self._values = itemgetter(*PLACES.findall(text))

    def of(self, values: Mapping[str, Any]) -> str:
        """The text with these values in their places, of which there are two at least."""
        return self._text % self._values(values)


def _managed(thing: Mapping[str, Any]) -> Mapping[str, Any]:
    """A JobSet as it is rendered where a controller keeps to the job's own limit; it was recorded without one."""
    if thing["kind"] != "JobSet":
        return thing
    spec = thing["spec"]
    return {**thing, "spec": {**spec, "failurePolicy": {**spec["failurePolicy"], "maxRestarts": NO_LIMIT}}}


class Template:
    """A recorded version as text, open where jobs differ, to be filled for one job: 3,000 of them a second are told."""

    def __init__(self, version: Version) -> None:
        self.at, self.change, self.kind = version.at, version.change, version.kind
        self.thing = version.object
        self._text = Filled(_open(json.dumps(_managed(version.object), separators=(",", ":"))))
        self._labels = _open(json.dumps(version.object["metadata"].get("labels", {})))
        self._name = _open(json.dumps(version.object["metadata"]["name"])).strip('"')
        self._namespaced = "namespace" in version.object["metadata"]

    def text(self, number: int, began: float, version: int) -> str:
        """As JSON: of this job, whose recording began then, as this write."""
        return self._text.of({**_values(number), **_times(int(began)), "version": version})

    def may_have(self, label: str, number: int) -> bool:
        """Whether it can match `a=b` for this job: the labels alone are a tenth of the text."""
        return _says(self._labels % {**_values(number), "version": 0}, label)

    def name(self, number: int) -> Name:
        """Kind, namespace and name for this job."""
        values = _values(number)
        return self.kind, values["namespace"] if self._namespaced else "", self._name % values


class Story:
    """The recording: how its objects are before the reclaim, and what happens from then on."""

    def __init__(self, recording: Recording) -> None:
        self.reclaim = next(mark.at for mark in recording.marks if mark.did == "reclaim")
        later = [each for each in recording.versions if each.at > self.reclaim and each.kind in KINDS]
        before = {each.uid: each for each in recording.versions if each.at <= self._quiet(recording)}
        kept = [each for each in before.values() if each.kind in KINDS and each.change != "deleted"]
        self.later, self.before = [*map(Template, later)], [*map(Template, kept)]

    def _quiet(self, recording: Recording) -> float:
        """The last version that belongs to the start: the first after the reclaim is the deleted NodeClaim's."""
        return max(each.at for each in recording.versions if each.at <= self.reclaim)

    @cached_property
    def evicted(self) -> int:
        """How many pods are marked as targets of a disruption: they all leave one node."""
        marked = {each.name(0) for each in self.later if each.kind == "Pod" and _is_target(each.thing)}
        return len(marked)

    @cached_property
    def marked_at(self) -> float:
        """Seconds from the reclaim to the first of them."""
        return min(each.at for each in self.later if each.kind == "Pod" and _is_target(each.thing)) - self.reclaim


def _is_target(pod: Mapping[str, Any]) -> bool:
    return any(each["type"] == "DisruptionTarget" for each in pod.get("status", {}).get("conditions", []))


class World:
    """All objects, by name; `version` counts the writes. What has happened is kept as text, or as an object.

    Of an object that somebody has written to, other than by the recording, what he wrote stays.
    """

    def __init__(self, jobs: int, others: list[Object], now: float) -> None:
        self.jobs = jobs
        self.story = Story(load(RECORDED))
        self._began = now
        self.version = 10_000_000
        self.changed: dict[Name, Object | str | None] = {}
        self._written: set[Name] = set()
        self._changed_in: defaultdict[tuple[str, str], set[Name]] = defaultdict(set)
        self._of_story = {each.name(number): number for number in range(jobs) for each in self.story.before}
        for each in others:
            self.put(each)

    def find(self, kind: str, namespace: str, name: str) -> Object | None:
        """An object as it is now."""
        key = (kind, namespace, name)
        if key in self.changed:
            return _object(self.changed[key])
        if (number := self._of_story.get(key)) is None:
            return None
        return next(each for each in self._unchanged(kind, number) if each["metadata"]["name"] == name)

    def page(self, kind: str, label: str, limit: int, go_on: str) -> tuple[list[Object], str]:
        """Objects of a kind that have a label, and where the next ones begin: with a job, or after all jobs."""
        items: list[Object] = []
        phase, _, at = go_on.partition(" ")
        number = int(at or 0)
        if phase != "changed" and self._tells_of(kind, label):
            for each in range(number, self.jobs):
                if len(items) >= limit:
                    return items, f"jobs {each}"
                items += self._unchanged(kind, each)
            number = 0
        written = [name for name in self.changed if name[0] == kind and self.changed[name] is not None]
        end = number + max(limit - len(items), 0)
        found = filter(None, (_object(self.changed[name]) for name in written[number:end]))
        return items + [each for each in found if has(each, label)], f"changed {end}" if end < len(written) else ""

    def in_namespace(self, kind: str, namespace: str, label: str) -> list[Object]:
        """Objects of a kind and a label in a namespace, as a live list of the pods of one job asks for them."""
        told = [each for number in self._numbers(namespace) for each in self._unchanged(kind, number, label)]
        written = (self.changed[name] for name in self._changed_in[kind, namespace])
        found = (_object(each) for each in written if not isinstance(each, str) or _says(each, label))
        return [each for each in [*told, *found] if each is not None and has(each, label)]

    def put(self, thing: Object) -> Object:
        """Store a version of an object, as the newest write of all."""
        self.version += 1
        meta = {**thing["metadata"], "resourceVersion": str(self.version)}
        stored = {**thing, "metadata": meta}
        name = (thing["kind"], meta.get("namespace", ""), meta["name"])
        self._written.add(name)
        self._keep(name, stored)
        return stored

    def remove(self, thing: Object) -> Object:
        """An object is gone; returns its last version."""
        last = self.put(thing)
        meta = last["metadata"]
        self.changed[thing["kind"], meta.get("namespace", ""), meta["name"]] = None
        return last

    def happen(self, template: Template, number: int, began: float) -> str:
        """One recorded change comes to be; returns the object as text."""
        self.version += 1
        key, text = template.name(number), template.text(number, began, self.version)
        if key in self._written:
            ours = _with_ours(msgspec.json.decode(text), _object(self.changed.get(key)))
            text = msgspec.json.encode(ours).decode()
        self._keep(key, None if template.change == "deleted" else text)
        return text

    def touch(self, template: Template, number: int) -> str:
        """An object to which nothing has happened, as a newer version; returns it as text."""
        self.version += 1
        text = template.text(number, self._began_of(number), self.version)
        self._keep(template.name(number), text)
        return text

    def _began_of(self, number: int) -> float:
        """When a job's recording began, if nothing has happened to it since."""
        return self._began - AGE_SECONDS - number % 3_600

    def _keep(self, name: Name, stored: Object | str | None) -> None:
        self.changed[name] = stored
        self._changed_in[name[:2]].add(name)

    def _numbers(self, namespace: str) -> range:
        of_a_team = re.fullmatch(r"team-(\d+)", namespace)
        first = int(of_a_team[1]) * IN_A_NAMESPACE if of_a_team else self.jobs
        return range(first, min(first + IN_A_NAMESPACE, self.jobs))

    def _unchanged(self, kind: str, number: int, label: str = "") -> list[Object]:
        began = self._began_of(number)
        return [
            msgspec.json.decode(each.text(number, began, 1_000 + number * 100 + rank))
            for rank, each in enumerate(self.story.before)
            if each.kind == kind and each.may_have(label, number) and each.name(number) not in self.changed
        ]

    def _tells_of(self, kind: str, label: str) -> bool:
        return any(has(each.thing, label) for each in self.story.before if each.kind == kind)


def _with_ours(told: Object, known: Object | None) -> Object:
    """What the operator writes, in the object as the controller has changed it."""
    if known is None:
        return told
    ours = {"annotations": known["metadata"].get("annotations", {}), "labels": known["metadata"]["labels"]}
    return patched({**told, "spec": known["spec"]}, {"metadata": ours})


def _says(text: str, label: str) -> bool:
    """Whether a text can have `a=b`: most do not, and to read it is the dear part of a list of one job's pods."""
    return f'"{label.partition("=")[2]}' in text


def _object(stored: Object | str | None) -> Object | None:
    return msgspec.json.decode(stored) if isinstance(stored, str) else stored


def _open(text: str) -> str:
    """The recorded text with a place for each value in which jobs differ."""
    text = text.replace("%", "%%")
    text = text.replace("/test-1/gang", "/%(namespace)s/%(name)s").replace("-0.gang", "-0.%(name)s")
    text = GANG.sub('"%(name)s', text).replace('"test-1"', '"%(namespace)s"')
    for suffix in ("hk9vl", "pqcph", "wv6dl"):
        text = text.replace(suffix, f"{suffix[:3]}%(number)s")
    text = UIDS.sub(lambda found: f'"%(uid)s-{CODES[found[1]]}-4000-8000-{int(found[2]):012d}"', text)
    text = re.sub(r'"resourceVersion":"\d+"', '"resourceVersion":"%(version)s"', text)
    return TIMES.sub(r'"%(+\1)s"', text)


@functools.lru_cache(maxsize=20_000)
def _values(number: int) -> Mapping[str, str]:
    return {
        "name": name_of(number),
        "namespace": namespace_of(number),
        "number": f"{number:05d}",
        "uid": f"{number:08x}",
    }


@functools.lru_cache(maxsize=1_000)
def _times(began: int) -> Mapping[str, str]:
    """Of a recording that began then, every second, by the word that it has there."""
    return {f"+{second}": _time(began + second) for second in range(RECORDED_SECONDS)}


def has(thing: Mapping[str, Any], selector: str) -> bool:
    """Whether a selector of one label matches: `a` for any value, `a=b` for one, nothing for everything."""
    name, equals, value = selector.partition("=")
    labels = thing["metadata"].get("labels") or {}
    return not name or (name in labels and (not equals or labels[name] == value))


def name_of(number: int) -> str:
    """Name of a job."""
    return f"run-{number:05d}"


def namespace_of(number: int) -> str:
    """Its namespace."""
    return f"team-{number // IN_A_NAMESPACE:03d}"


@functools.lru_cache(maxsize=20_000)
def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_policies(file: Path) -> list[Object]:
    """Objects that somebody has written as JSON."""
    return json.loads(file.read_text(encoding="utf-8"))
