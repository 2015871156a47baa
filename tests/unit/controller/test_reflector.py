"""The reflector against a server that answers as the test says, in time that the test sets."""

from collections.abc import Sequence

import pytest
from urllib3.exceptions import ProtocolError

from spotproof.controller.cache import Key
from spotproof.controller.kinds import JOBSET, JOBSET_NAME, Object
from spotproof.controller.projecting import Watched
from spotproof.controller.reflector import (
    END_SECONDS,
    LOOK_AGAIN_SECONDS,
    OVERTIME_SECONDS,
    PAGE_OBJECTS,
    Restored,
)
from spotproof.kube.client import Refused, Unreachable
from tests.unit.controller.played import (
    OF_JOBSETS,
    OF_NODES,
    OF_PODS,
    SILENCE,
    A,
    Coming,
    Played,
    bookmark,
    error,
    event,
    jobset,
    listed,
    watch,
)


def test_a_list_is_taken_page_by_page_and_watched_from_its_version() -> None:
    played = Played(listed(7, jobset(5), go_on="more"), listed(7, jobset(6, "b")), watch())
    assert played.turns(1) == [0.0]
    first, second, watched = played.server.asked
    assert first == ("list", *JOBSET, OF_JOBSETS.labels, PAGE_OBJECTS, "")
    assert second[-1] == "more"
    assert watched == ("watch", "JobSet", "7")
    assert played.woken == [{A, Key("JobSet", "team", "b")}]
    assert played.reflector.listed.is_set()
    assert played.seen.lists == [2]


def test_what_is_kept_has_its_kind_and_is_projected() -> None:
    heavy = jobset(5)
    heavy["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    played = Played(listed(7, heavy), watch())
    played.turns(1)
    (kept,) = played.cache.all(JOBSET)
    assert (kept["apiVersion"], kept["kind"]) == JOBSET
    assert "managedFields" not in kept["metadata"]


def test_events_reach_the_cache_and_the_next_watch_begins_after_the_last() -> None:
    events = (event("ADDED", jobset(8)), event("MODIFIED", jobset(9, suspend=True)), bookmark(20))
    played = Played(listed(7), watch(*events), watch(event("DELETED", jobset(21))), watch())
    played.turns(3)
    assert [asked[-1] for asked in played.server.asked] == ["", "7", "20", "21"]
    assert played.woken == [set(), {A}, {A}, {A}]
    assert played.cache.all(JOBSET) == []
    assert played.seen.ends == ["ended"] * 3


@pytest.mark.parametrize(("watched", "pauses"), [(OF_NODES, [OF_NODES.gather_seconds] * 2), (OF_PODS, [])])
def test_after_a_nodes_report_that_came_alone_those_of_the_next_moment_are_read_together(
    watched: Watched, pauses: list[float]
) -> None:
    reports = Coming([bookmark(at) for at in range(8, 13)], None)
    played = Played(listed(7), reports, watched=watched)
    reports.later = iter([0.5, 0.0, 0.001, 0.3, 0.0])
    reports.passes = played.server.passes
    assert played.turns(1) == [0.0]
    assert played.pauses == pauses
    assert OF_NODES.gather_seconds > 0


def test_a_version_that_is_too_old_is_listed_again_and_what_went_meanwhile_is_gone() -> None:
    played = Played(listed(7, jobset(5)), watch(error(410)), listed(90), watch())
    assert played.turns(2) == [0.0, 0.0]
    assert played.verbs == ["list", "watch", "list", "watch"]
    assert played.cache.all(JOBSET) == []
    assert played.woken[-1] == {A}
    assert played.seen.ends == ["expired", "ended"]


def test_a_watch_that_is_refused_as_too_old_is_listed_again() -> None:
    played = Played(listed(7), Refused(410, "too old"), listed(90), watch())
    played.turns(2)
    assert played.verbs == ["list", "watch", "list", "watch"]


def test_a_silent_stream_is_begun_again_where_it_was() -> None:
    played = Played(listed(7), watch(bookmark(11), end=SILENCE), watch(event("ADDED", jobset(12))))
    assert played.turns(2) == [0.0, 0.0]
    assert played.server.asked[-1] == ("watch", "JobSet", "11")
    assert played.seen.ends == ["silent", "ended"]
    assert played.woken[-1] == {A}


def test_a_stream_that_outlives_its_end_is_not_believed() -> None:
    late = watch(bookmark(8), bookmark(9))
    played = Played(listed(7), late, watch(), seconds_a_watch=END_SECONDS + OVERTIME_SECONDS + 1)
    played.turns(2)
    assert played.server.asked[-1] == ("watch", "JobSet", "8")
    assert played.seen.ends[0] == "silent"
    assert late.closed


def test_a_server_that_does_not_answer_is_asked_ever_more_seldom_and_nothing_is_forgotten() -> None:
    cut = watch(end=ProtocolError("Connection broken"))
    gone = [Unreachable("no route") for _ in range(8)]
    played = Played(listed(7, jobset(5)), cut, *gone, watch(bookmark(8)), cut)
    waits = played.turns(9)
    assert waits == sorted(waits)
    assert waits[0] == pytest.approx(0.25)
    assert waits[-1] == pytest.approx(15)
    assert played.turns(1) == [0.0]
    assert played.turns(1) == [pytest.approx(0.25)], "an event has ended the series"
    assert played.verbs.count("list") == 1
    assert len(played.cache.all(JOBSET)) == 1


def test_half_an_event_is_none_and_comes_again() -> None:
    played = Played(listed(7), watch(end=ProtocolError("IncompleteRead")), watch(event("ADDED", jobset(8))))
    played.turns(2)
    assert len(played.cache.all(JOBSET)) == 1


def test_what_the_server_asks_for_is_waited_for() -> None:
    played = Played(listed(7), Refused(429, "slow down", "", 9), watch(error(429, retryAfterSeconds=4)), watch())
    assert played.turns(3) == [9, 4, 0.0]
    assert played.verbs == ["list", "watch", "watch", "watch"]


def test_a_list_whose_pages_expire_begins_anew() -> None:
    played = Played(
        listed(7, jobset(5), go_on="more"), Refused(410, "expired"), listed(9, jobset(5), jobset(6, "b")), watch()
    )
    played.turns(2)
    assert [asked[-1] for asked in played.server.asked] == ["", "more", "", "9"]
    assert len(played.cache.all(JOBSET)) == 2


def test_any_other_end_by_the_server_is_listed_again() -> None:
    played = Played(listed(7), watch(error(500)), listed(8), watch())
    assert played.turns(2)[0] > 0
    assert played.verbs == ["list", "watch", "list", "watch"]


def test_a_kind_that_the_server_lacks_is_looked_for_again_and_found_later() -> None:
    no = Refused(404, "the server has no kind JobSet")
    played = Played(no, no, listed(7, jobset(5)), watch())
    assert played.turns(2) == [LOOK_AGAIN_SECONDS / 2] * 2
    assert played.reflector.listed.is_set(), "its absence is no reason to wait"
    assert not played.cache.serves(JOBSET)
    played.turns(1)
    assert played.cache.serves(JOBSET)
    assert played.woken[-1] == {A}
    assert played.seen.ends == ["not served", "ended"]


def test_a_kind_that_is_removed_is_gone_with_all_its_objects() -> None:
    played = Played(listed(7, jobset(5)), watch(), Refused(404, "gone"))
    played.turns(2)
    assert not played.cache.serves(JOBSET)
    assert played.woken[-1] == {A}
    assert played.cache.all(JOBSET) == []


def pod(at: int, *, conditions: Sequence[str] = (), leaving: bool = False) -> Object:
    meta = {"name": "p", "namespace": "team", "uid": "p", "resourceVersion": f"{at}", "labels": {JOBSET_NAME: "a"}}
    return {
        "metadata": {**meta, **({"deletionTimestamp": "2026-11-01T00:00:00Z"} if leaving else {})},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running", "conditions": [{"type": each, "status": "True"} for each in conditions]},
    }


@pytest.mark.parametrize(
    "news",
    [
        event("MODIFIED", pod(9, conditions=["DisruptionTarget"])),
        event("MODIFIED", pod(9, leaving=True)),
        event("DELETED", pod(9)),
    ],
    ids=("disrupted", "leaving", "gone"),
)
def test_a_pod_that_is_lost_is_urgent_once(news: Object) -> None:
    played = Played(
        listed(7, pod(5)),
        watch(event("MODIFIED", pod(8, conditions=["Ready"])), news, event("DELETED", pod(10, leaving=True))),
        watched=OF_PODS,
    )
    played.turns(1)

    job = Key("JobSet", "team", "a")
    assert played.urgent == [{job}]
    assert played.woken[1] == {job}


def test_a_kind_that_must_be_there_is_waited_for() -> None:
    played = Played(Refused(404, "no"), watched=OF_PODS)
    assert played.turns(1)[0] < 1
    assert not played.reflector.listed.is_set()


def test_a_watch_that_ends_at_once_is_not_begun_again_at_once() -> None:
    played = Played(listed(7), watch(), watch(), watch(event("ADDED", jobset(8))), seconds_a_watch=0.1)
    first, second, third = played.turns(3)
    assert 0 < first < second
    assert third == 0.0


def test_versions_that_go_back_end_the_process() -> None:
    played = Played(listed(70, jobset(50)), watch(error(410)), listed(7))
    played.turns(1)
    with pytest.raises(Restored, match="version 7, and version 70 was seen"):
        played.turns(1)


def test_an_object_that_cannot_be_read_does_not_end_the_watch() -> None:
    played = Played(listed(7), watch(event("ADDED", {"metadata": {"resourceVersion": "8"}})), listed(9), watch())
    assert played.turns(2)[0] > 0
    assert played.verbs[-2:] == ["list", "watch"]


def test_what_could_not_be_kept_is_listed_again_each_time_later() -> None:
    watches = [watch() for _ in range(4)]
    first, second, well, last = watches
    played = Played(listed(7), first, listed(8), second, listed(9), well, last)
    for each in (first, second, last):
        each.meanwhile = played.reflector.doubt
    _, soon, _, later, _, _, as_soon = played.turns(7)
    assert played.verbs == ["list", "watch"] * 3 + ["watch"]
    assert 0 < soon < later
    assert soon == as_soon


def test_stopping_ends_the_watch_that_runs() -> None:
    played = Played(listed(7), watch())
    played.reflector.stop()
    played.reflector.run()
    assert played.server.asked == []
