"""Of an event only what is kept is decoded, and nothing of that is lost."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from spotproof.controller.decoding import decoder, page_decoder
from spotproof.controller.kinds import Object
from spotproof.controller.projecting import Watched
from spotproof.controller.said import of_claims
from spotproof.controller.watched import WATCHED
from spotproof.rehearsal.recording import load
from tests.conftest import ROOT

RECORDINGS = sorted((ROOT / "tests" / "recordings").glob("*.json"))
NARROW = [watched for watched in WATCHED if watched.shape is not None]


def line(what: str, thing: Object) -> bytes:
    return json.dumps({"type": what, "object": thing}).encode()


def recorded(kind: str) -> Iterator[Object]:
    for path in RECORDINGS:
        yield from (dict(each.object) for each in load(path).versions if each.kind == kind)


@pytest.mark.parametrize("watched", NARROW, ids=lambda each: f"{each.kind.kind} {each.labels}")
def test_a_projection_reads_nothing_that_its_shape_lacks(watched: Watched) -> None:
    decode, found = decoder(watched.shape), list(recorded(watched.kind.kind))
    for thing in found:
        assert watched.project(decode(line("MODIFIED", thing))["object"]) == watched.project(thing)
    assert found or watched.kind.kind in {"Namespace", "RayCluster"}


@pytest.mark.parametrize("watched", NARROW, ids=lambda each: f"{each.kind.kind} {each.labels}")
def test_a_page_is_what_its_objects_are_as_events(watched: Watched) -> None:
    found = [*recorded(watched.kind.kind), {"metadata": {"name": "odd", "ownerReferences": 1}}]
    page = page_decoder(watched.shape)(json.dumps({"metadata": {"continue": "x"}, "items": found}).encode())

    assert page["metadata"] == {"continue": "x"}
    assert page["items"] == [decoder(watched.shape)(line("ADDED", each))["object"] for each in found]


def test_a_page_without_objects_may_have_null_and_what_is_no_page_is_an_error() -> None:
    decode = page_decoder(None)
    assert decode(b'{"kind": "PodList", "metadata": {}, "items": null}')["items"] == []
    with pytest.raises(ValueError, match="items"):
        decode(b'{"kind": "Status", "metadata": {}}')


def test_karpenters_words_on_a_claim_that_it_could_not_launch_are_kept() -> None:
    said = {"type": "Launched", "status": "Unknown", "reason": "LaunchFailed", "message": "no capacity"}
    (watched,) = (each for each in WATCHED if each.kind.kind == "NodeClaim")
    thing = {"metadata": {"name": "k"}, "status": {"conditions": [{**said, "lastTransitionTime": "2026"}]}}

    assert of_claims([watched.project(decoder(watched.shape)(line("ADDED", thing))["object"])]) == ("no capacity",)


def test_what_is_not_read_is_not_made() -> None:
    pod = next(recorded("Pod"))

    (watched, *_) = (each for each in NARROW if each.kind.kind == "Pod")
    decoded = decoder(watched.shape)(line("ADDED", pod))["object"]

    assert "containers" in pod["spec"]
    assert decoded["spec"].keys() <= {"nodeName", "nodeSelector"}


@pytest.mark.parametrize("watched", WATCHED, ids=lambda each: f"{each.kind.kind} {each.labels}")
@pytest.mark.parametrize(
    ("what", "thing"),
    [
        ("ERROR", {"kind": "Status", "metadata": {}, "status": "Failure", "code": 410, "reason": "Expired"}),
        ("MODIFIED", {"metadata": {"name": "a", "ownerReferences": "of another type than ever"}}),
    ],
    ids=["a status", "another type"],
)
def test_what_does_not_fit_is_decoded_as_a_whole(watched: Watched, what: str, thing: Object) -> None:
    assert decoder(watched.shape)(line(what, thing)) == {"type": what, "object": thing}


@pytest.mark.parametrize("watched", WATCHED, ids=lambda each: f"{each.kind.kind} {each.labels}")
def test_a_bookmark_brings_its_version(watched: Watched) -> None:
    thing: dict[str, Any] = {
        "metadata": {"resourceVersion": "7", "creationTimestamp": None, "annotations": {"k8s.io/initial": "true"}},
        "spec": {"containers": None, "template": {"spec": {"containers": None}, "metadata": {}}},
        "status": {},
    }
    assert decoder(watched.shape)(line("BOOKMARK", thing))["object"]["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"type": "ADDED"}', b'{"type": "ADDED", "object": {"metadata": '])
def test_what_is_no_event_is_said_to_be_none(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        decoder(None)(text)
