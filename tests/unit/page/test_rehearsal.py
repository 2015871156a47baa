from collections.abc import Callable
from typing import Any

import pytest

from spotproof.page.rehearsal import MOST_LANES, html, lanes
from tests.unit.page.charts.test_pictures import WIDTHS
from tests.unit.page.reading import Node, faults, read
from tests.unit.page.test_page import HOSTILE

Json = dict[str, Any]
TITLES = [
    "What became of the job",
    "Timeline",
    "Moment by moment",
    "What the fallback rule would do",
    "What is real here",
]


def rehearsal(**other: Any) -> Json:
    """A small rehearsal: one node of two reclaimed, then the market closes; other parts by their names."""
    return {
        "stack": "aws-prod",
        "policy": "a100",
        "kubernetes": "v1.36.3",
        "readySeconds": 9.1,
        "seconds": 41.5,
        "unfinished": None,
        "holes": [],
        "job": {
            "kind": "JobSet",
            "name": "train",
            "namespace": "research",
            "roles": [{"name": "worker", "pods": 2}],
        },
        "pools": [{"name": "a100-spot-a", "capacity": "spot"}, {"name": "a100", "capacity": "on-demand"}],
        "figures": {
            "reclaims": 2,
            "dry": True,
            "podsEvicted": 2,
            "podsEnded": 1,
            "exitCodes": [143],
            "restarts": 2,
            "restartsCounted": 0,
            "maxRestarts": 5,
            "interruptions": [{"from": 8.7, "to": 16.3}, {"from": 18.4, "to": None}],
            "waitingSince": 22.5,
        },
        "verdict": ["2 spot nodes were taken away.", "Nothing moves the job."],
        "rule": {
            "tolerance": "maxFailures of a100-spot-a is 10: 2 have been counted",
            "outlook": "If the market stayed as it is, the rule would take the job to a100 20m after the wait began.",
            "asked": [],
            "steps": [{"after": "20m", "to": "a100", "reason": "no place on a100-spot-a for 20m"}],
        },
        "limits": ["Nothing trains."],
        "lanes": [
            _lane("market", "spot market", "closed", ("closed", None, 18.0, 41.5)),
            _lane(
                "pods",
                "worker 0",
                "2 pods",
                ("waiting", None, 1.4, 5.0),
                ("up", "a100-spot-a", 5.0, 8.7),
                ("leaving", "a100-spot-a", 8.7, 9.7),
                ("waiting", None, 22.5, 41.5),
            ),
            _lane("nodes", "a100-spot-a-x7k2p", "a100-spot-a, us-west-2a", ("up", "a100-spot-a", 4.0, 9.0)),
        ],
        "marks": [],
        "moments": [
            {
                "at": 8.7,
                "until": 13.9,
                "kind": "reclaimed",
                "text": "node a100-spot-a-x7k2p is reclaimed",
                "quote": None,
                "objects": ["a100-spot-a-x7k2p"],
            },
            {
                "at": 22.5,
                "until": None,
                "kind": "waiting",
                "text": "2 pods of worker wait for a node",
                "quote": "Scheduler: 0/1 nodes are available.",
                "objects": [],
            },
        ],
    } | other


def _lane(group: str, name: str, note: str, *phases: tuple[str, str | None, float, float]) -> Json:
    return {
        "group": group,
        "name": name,
        "note": note,
        "phases": [dict(zip(("phase", "pool", "from", "to"), each, strict=True)) for each in phases],
    }


def bare() -> Json:
    """Of a rehearsal that was stopped before its job was seen: what may be null is null, and every list is empty."""
    return rehearsal(
        policy=None,
        unfinished="it was stopped",
        holes=["RuntimeError: too old"],
        figures=None,
        rule=None,
        verdict=[],
        lanes=[],
        moments=[],
    )


def section(document: Json, title: str) -> Node:
    (found,) = [each for each in read(html(document)).all("section") if each.one("h2").text == title]
    return found


def plain(node: Node) -> str:
    return node.text.replace("\u00a0", " ")


def test_the_page_reads_as_it_did(golden: Callable[[str, object], None]) -> None:
    golden("page/rehearsal.html", html(rehearsal()))


@pytest.mark.parametrize("document", [rehearsal(), bare()], ids=["rehearsal", "bare"])
def test_every_section_is_there_in_order_and_none_is_empty(document: Json) -> None:
    sections = list(read(html(document)).all("section"))

    assert [each.one("h2").text for each in sections] == TITLES
    assert [each.text.split() for each in sections if len(each.text.split()) < 4] == []


def test_the_first_section_has_the_figures_that_count() -> None:
    text = plain(section(rehearsal(), TITLES[0]))

    for words in ("Nodes taken away", "back after 7.6 s", "0 of maxRestarts 5", "Waiting at the end", "19 s"):
        assert words in text


def test_a_rehearsal_that_did_not_go_to_its_end_says_so_first() -> None:
    text = plain(section(bare(), TITLES[0]))

    assert "The rehearsal did not go to its end: it was stopped." in text
    assert "The recording has a hole: RuntimeError: too old." in text


def test_a_moment_is_a_row_with_its_number_its_seconds_and_the_cluster_s_own_words() -> None:
    rows = [[plain(cell) for cell in row.all("th", "td")] for row in section(rehearsal(), TITLES[2]).all("tr")]

    assert rows[1:] == [
        ["1: 8.7 to 13.9 s", "Node a100-spot-a-x7k2p is reclaimed."],
        [
            "2: 22.5 s",
            "2 pods of worker wait for a node. In the cluster's own words: Scheduler: 0/1 nodes are available.",
        ],
    ]


def test_what_the_rule_would_do_is_a_row_a_move_and_a_job_without_a_policy_has_none() -> None:
    assert "20m" in plain(section(rehearsal(), TITLES[3]).one("table"))
    assert "no rule would move it" in plain(section(bare(), TITLES[3]))


def test_the_picture_is_told_in_words_too() -> None:
    (title, *_), (words, *_) = (list(read(html(rehearsal())).all(tag)) for tag in ("svg", "desc"))

    assert title.attributes["role"] == "img"
    assert "8.7\u00a0s: node a100-spot-a-x7k2p is reclaimed" in words.text


def test_a_gang_of_hundreds_is_not_drawn_whole_and_that_is_said() -> None:
    many = [_lane("pods", f"worker {each}", "1 pod", ("up", "a100", 0.0, 9.0)) for each in range(100)]
    document = rehearsal(lanes=many)

    assert len(lanes(document).lanes) == MOST_LANES
    assert f"Not drawn: {100 - MOST_LANES} lines more" in plain(section(document, TITLES[1]))


@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_of_the_picture_meets_another(width: int) -> None:
    assert faults(lanes(rehearsal()).draw(width)) == []


@pytest.mark.parametrize("hostile", HOSTILE)
def test_names_from_anywhere_are_text(hostile: str) -> None:
    document = rehearsal(stack=hostile, verdict=[hostile], limits=[hostile])
    document["lanes"][1]["name"] = document["moments"][0]["text"] = document["moments"][1]["quote"] = hostile

    read(html(document))
    assert not list(read(html(document)).all("script", "iframe"))
