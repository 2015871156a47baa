"""The recorded runs: what really happened, as it is told."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spotproof.rehearsal.outcome import Outcome
from spotproof.rehearsal.recording import Recording, load, read
from spotproof.rehearsal.timeline import FORMAT, LENT, LIMITS, document
from tests.pages.rehearse import RECORDINGS, recorded
from tests.unit.manifests.jobs import with_controller

RUNS = {
    "rehearse-aws-dev": ("aws-dev", None),
    "rehearse-aws-prod": ("aws-prod", None),
    "rehearse-kuberay": ("aws-dev", "examples/experiments/kuberay.yaml"),
}


def told(name: str) -> dict[str, Any]:
    return document(*recorded(name, *RUNS[name]))


def kinds(name: str) -> list[str]:
    return [moment["kind"] for moment in told(name)["moments"]]


@pytest.mark.parametrize("name", RUNS)
def test_the_story_of_a_recorded_run_reads_as_it_did(name: str, golden: Callable[[str, object], None]) -> None:
    found = told(name)

    golden(f"rehearsal/{name}.yaml", {key: found[key] for key in ("job", "figures", "rule", "verdict", "moments")})


@pytest.mark.parametrize("name", RUNS)
def test_the_document_is_plain_json_and_says_what_it_is(name: str) -> None:
    found = told(name)

    assert json.loads(json.dumps(found)) == found
    assert found["format"] == FORMAT
    assert (found["unfinished"], found["holes"]) == (None, [])


def test_a_jobset_s_reclaim_is_evicted_ended_with_the_others_restarted_and_back() -> None:
    assert kinds("rehearse-aws-prod")[:10] == [
        "submitted",
        "waiting",
        "bought",
        "running",
        "reclaimed",
        "evicted",
        "ended",
        "restarted",
        "waiting",
        "bought",
    ]
    found = told("rehearse-aws-prod")
    assert found["figures"]["restartsCounted"] == 0
    assert found["figures"]["exitCodes"] == [143]
    assert [step["to"] for step in found["rule"]["steps"]] == ["a100-spot-b", "a100-spot-c", "a100"]


def test_a_move_is_an_interruption_that_is_told_apart_from_those_that_count() -> None:
    found = told("rehearse-aws-dev")

    assert len(found["figures"]["interruptions"]) == 3
    assert [each for each in found["verdict"] if "controller counted" in each] == [
        (
            "The fallback controller counted 2 evictions, where the gang was interrupted 2 times from outside; once "
            "more it was ended by a move, which counts for nobody."
        )
    ]


def test_a_stack_whose_jobs_nobody_would_move_is_told_so_where_a_controller_was_lent_to_it() -> None:
    made, outcome = recorded("rehearse-aws-dev", "aws-dev")
    installed = replace(made, environment=with_controller(made.environment))

    assert document(made, outcome)["limits"] == [LENT, *LIMITS]
    assert document(installed, outcome)["limits"] == list(LIMITS)
    assert told("rehearse-aws-prod")["limits"] == list(LIMITS)


def test_a_rayjob_s_worker_is_replaced_and_nothing_restarts() -> None:
    assert "replaced" in kinds("rehearse-kuberay")
    assert not {"restarted", "ended", "retried", "over"} & set(kinds("rehearse-kuberay"))


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_file_is_small_and_what_the_code_would_write(name: str) -> None:
    text = (RECORDINGS / f"{name}.json").read_text(encoding="utf-8")

    assert read(text).text() == text
    assert len(text) < 350_000


@pytest.mark.parametrize("name", RUNS)
def test_seconds_never_go_back_and_an_object_s_last_version_is_its_end(name: str) -> None:
    versions = load(RECORDINGS / f"{name}.json").versions
    over: set[str] = set()
    for version in versions:
        assert version.uid not in over
        over |= {version.uid} if version.change == "deleted" else set()

    assert [version.at for version in versions] == sorted(version.at for version in versions)


def test_of_a_run_that_was_stopped_before_its_job_was_seen_the_rest_is_told() -> None:
    made, _ = recorded("rehearse-aws-prod", "aws-prod")
    found = document(made, Outcome(Recording((), seconds=1.0), 9.0, "it was stopped", ["RuntimeError: too old"]))

    assert (found["figures"], found["rule"], found["moments"], found["lanes"]) == (None, None, [], [])
    assert (found["unfinished"], found["holes"]) == ("it was stopped", ["RuntimeError: too old"])
