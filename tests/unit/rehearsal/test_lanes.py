from spotproof.rehearsal.history import History
from spotproof.rehearsal.lanes import Lane, lanes
from spotproof.rehearsal.marks import CLOSES
from spotproof.rehearsal.recording import Recording
from tests.unit.rehearsal.tale import EVICTED, NO_NODE, RUNS, Tale, claim, jobset, node, pod, raycluster, rayjob


def drawn(recording: Recording, group: str) -> list[Lane]:
    return [lane for lane in lanes(History(recording)) if lane.group == group]


def phases(lane: Lane) -> list[tuple[str, float, float, str]]:
    return [(each.phase, each.start, each.end, each.pool) for each in lane.stretches]


def test_a_pod_waits_starts_is_up_and_leaves() -> None:
    tale = Tale().put(0, jobset(), node("n0")).put(1, pod("a", **NO_NODE)).put(3, pod("a", node="n0"))
    tale.put(4, pod("a", node="n0", **RUNS)).put(8, pod("a", node="n0", phase="Running", **EVICTED))
    tale.put(9, pod("a", node="n0", phase="Failed", code=143, **EVICTED)).gone(9.2, pod("a"))
    (lane,) = drawn(tale.ends(12), "pods")

    assert (lane.name, lane.note) == ("worker 0", "1 pod")
    assert phases(lane) == [
        ("waiting", 1, 3, ""),
        ("starting", 3, 4, "spot-a"),
        ("up", 4, 8, "spot-a"),
        ("leaving", 8, 9, "spot-a"),
    ]


def test_the_pods_of_one_rank_are_one_lane_over_all_attempts_and_the_last_one_goes_on() -> None:
    tale = Tale().put(0, jobset(), node("n0")).put(1, pod("a", node="n0", **RUNS)).gone(3, pod("a"))
    tale.put(3, pod("b", node="n0", **RUNS), pod("c", rank=1, **NO_NODE))
    first, second = drawn(tale.ends(9), "pods")

    assert (first.note, phases(first)) == ("2 pods", [("up", 1, 3, "spot-a"), ("up", 3, 9, "spot-a")])
    assert phases(second) == [("waiting", 3, 9, "")]


def test_a_ray_worker_that_replaces_another_takes_its_lane_and_one_beside_it_does_not() -> None:
    tale = Tale().put(0, rayjob(), raycluster(), node("n0"))
    tale.put(1, pod("u", of="tune-x/gpu", node="n0", **RUNS), pod("v", of="tune-x/gpu", node="n0", **RUNS))
    tale.gone(4, pod("u", of="tune-x/gpu")).put(4.2, pod("w", of="tune-x/gpu", **NO_NODE))
    found = drawn(tale.ends(9), "pods")

    assert [(lane.name, lane.note) for lane in found] == [("gpu 0", "2 pods"), ("gpu 1", "1 pod")]


def test_a_node_starts_with_its_claim_and_leaves_with_its_taint_or_its_end() -> None:
    tale = Tale().put(1, claim("c")).put(2, node("n0", Ready="False")).put(3, node("n0"))
    tale.put(3, claim("c", node="n0", Launched="True")).put(7, node("n0", leaving=True)).gone(9, node("n0"))
    (lane,) = drawn(tale.ends(12), "nodes")

    assert (lane.name, lane.note) == ("c", "spot-a, zone-a")
    assert phases(lane) == [("starting", 1, 3, "spot-a"), ("up", 3, 7, "spot-a"), ("leaving", 7, 9, "spot-a")]


def test_the_market_is_drawn_from_where_it_closed() -> None:
    (lane,) = drawn(Tale().mark(5, CLOSES).ends(9), "market")

    assert phases(lane) == [("closed", 5, 9, "")]
    assert drawn(Tale().ends(9), "market") == []
