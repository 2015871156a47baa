import json
from typing import Any

import pytest

from spotproof.rehearsal.redaction import HIDDEN, Redaction

ZERO = 1_795_000_000.0  # 2026-11-18T11:06:40Z
UID = "0b7f6f3e-5a37-4b1c-9f64-1f3f4c1c2f11"
OTHER = "9f0e7c1a-0d55-4b7e-8a0f-33d1f1e2a3b4"


def thing(kind: str = "Pod", uid: str = UID, version: str = "812", **rest: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": "a", "uid": uid, "resourceVersion": version}} | rest


def redacted(each: dict[str, Any], *others: dict[str, Any], hidden: tuple[str, ...] = ()) -> dict[str, Any]:
    return Redaction([each, *others], zero=ZERO, hidden=hidden).redacted(each)


def test_a_uid_becomes_kind_and_number_wherever_it_stands() -> None:
    first, second = thing(), thing(uid=OTHER, version="90")
    redaction = Redaction([first, second], zero=ZERO)
    owned = thing(version="813", spec={"owner": OTHER, "said": f"pod {UID} of {OTHER}"})

    assert redaction.redacted(first)["metadata"]["uid"] == "pod-1"
    assert redaction.redacted(second)["metadata"]["uid"] == "pod-2"
    assert redaction.redacted(owned)["spec"] == {"owner": "pod-2", "said": "pod pod-1 of pod-2"}


def test_uids_of_objects_that_were_not_recorded_are_still_told_apart() -> None:
    first, second = ("1" * 8 + OTHER[8:]), ("2" * 8 + OTHER[8:])
    found = redacted(thing(spec={"a": first, "b": second, "c": first}))

    assert found["spec"] == {"a": "other-1", "b": "other-2", "c": "other-1"}


def test_resource_versions_keep_the_order_of_writes_over_all_kinds() -> None:
    things = [thing("Pod", UID, "1003"), thing("Node", OTHER, "999"), thing("Pod", UID, "1010")]
    redaction = Redaction(things, zero=ZERO)

    assert [redaction.redacted(each)["metadata"]["resourceVersion"] for each in things] == ["2", "1", "3"]


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        ("2026-11-18T11:06:52Z", "+12s"),
        ("2026-11-18T11:06:37Z", "-3s"),
        ("2026-11-18T12:06:52+01:00", "+12s"),
        ("2026-11-18T11:06:40.125000Z", "+0.125s"),
    ],
)
def test_times_become_seconds_from_the_start(time: str, seconds: str) -> None:
    assert redacted(thing(status={"at": time, "said": f"since {time}, at least"}))["status"] == {
        "at": seconds,
        "said": f"since {seconds}, at least",
    }


@pytest.mark.parametrize(
    "secret",
    [
        {"clientConfig": {"caBundle": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"}},
        {"data": {"x": "-----BEGIN PRIVATE KEY-----\nMIIE"}},
        {"token": "abc"},
        {"secretKey": "abc"},
        {"note": "Bearer eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVz.c2ln"},
        {"env": [{"name": "AWS_SECRET_ACCESS_KEY", "value": "abc"}]},
        {"env": [{"name": "db_password", "value": "abc"}]},
    ],
)
def test_what_opens_something_is_never_written(secret: dict[str, Any]) -> None:
    text = json.dumps(redacted(thing(spec=secret))["spec"])

    assert HIDDEN in text
    assert not [word for word in ("abc", "LS0t", "MIIE", "eyJ") if word in text]


def test_names_of_secrets_and_flags_about_tokens_stay() -> None:
    spec = {"automountServiceAccountToken": False, "secretName": "store", "env": [{"name": "EPOCHS", "value": "90"}]}

    assert redacted(thing(spec=spec))["spec"] == spec


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_of_what_holds_secrets_the_keys_alone_are_kept(kind: str) -> None:
    found = redacted(thing(kind, data={"ca.crt": "x", "other": "y"}))

    assert found["data"] == {"ca.crt": HIDDEN, "other": HIDDEN}


def test_who_wrote_a_field_and_which_machine_said_it_is_left_out() -> None:
    each = thing(
        "Event",
        reportingInstance="karpenter-builder-7",
        source={"component": "karpenter", "host": "builder-7"},
        involvedObject={"kind": "Pod", "name": "a", "uid": OTHER, "resourceVersion": "7"},
    )
    each["metadata"] |= {"managedFields": [{"manager": "x"}], "name": "a.17f2a3b4c5d6e7f8"}
    each["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "kept": "1"}

    assert redacted(each) == {
        "kind": "Event",
        "metadata": {"name": "event-1", "uid": "event-1", "resourceVersion": "1", "annotations": {"kept": "1"}},
        "source": {"component": "karpenter"},
        "involvedObject": {"kind": "Pod", "name": "a", "uid": "other-1"},
    }


def test_words_and_paths_of_the_machine_are_hidden_and_those_of_containers_stay() -> None:
    said = {
        "a": "on builder-7: open /tmp/spotproof-x1/etcd: no",
        "b": "/dev/nvidia0",
        "c": "/checkpoints/tmp",
        "d": "builder-75",
    }  # fmt: skip
    found = redacted(thing(status=said), hidden=("builder-7", ""))["status"]

    assert found == {
        "a": f"on {HIDDEN}: open {HIDDEN}: no",
        "b": "/dev/nvidia0",
        "c": "/checkpoints/tmp",
        "d": "builder-75",
    }


def test_the_object_given_stays_as_it_is() -> None:
    each = thing(spec={"token": "abc"})
    before = json.dumps(each)

    redacted(each)

    assert json.dumps(each) == before
