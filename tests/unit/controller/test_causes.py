"""What a lost pod tells: one row for each way to go."""

import pytest

from spotproof.controller.cache import Cache
from spotproof.controller.causes import DRAIN_SECONDS, LOOK_SECONDS, Evidence, evidence, fate, settled, strongest
from spotproof.controller.kinds import NODE, Object
from tests.unit.controller.things import cached, claim, node, on_demand, pod

EVICTED = pod("a", phase="Failed", disrupted="EvictionByEvictionAPI", exit_code=143)

ROWS: dict[str, tuple[Cache, Object, str]] = {
    "its NodeClaim is being deleted": (cached(node(), claim("c", "node-1", leaving=True)), EVICTED, "eviction"),
    "its node is being deleted": (cached(node(leaving=True)), EVICTED, "eviction"),
    "its node is gone": (cached(), pod("a", leaving=True), "eviction"),
    "its node is unreachable": (cached(node(taints=["node.kubernetes.io/unreachable"])), EVICTED, "eviction"),
    "AKS has announced the preemption": (cached(node(preempted=True)), EVICTED, "eviction"),
    "AWS has announced it": (cached(node(taints=["aws-node-termination-handler/spot-itn"])), EVICTED, "eviction"),
    "a plain delete as the node goes": (cached(node(leaving=True)), pod("a", leaving=True), "eviction"),
    "killed as the node goes": (cached(node(leaving=True)), pod("a", phase="Failed", exit_code=137), "eviction"),
    "exit code 0 after an eviction": (
        cached(node()),
        pod("a", phase="Succeeded", disrupted="EvictionByEvictionAPI", exit_code=0),
        "eviction",
    ),
    "a drain of what was done before": (
        cached(node()),
        pod("a", phase="Succeeded", disrupted="EvictionByEvictionAPI", disrupted_at=60, exit_code=0),
        "undecided",
    ),
    "GKE's node shut itself down": (
        cached(node()),
        {**(it := pod("a", phase="Failed")), "status": {**it["status"], "reason": "NodeShutdown"}},
        "eviction",
    ),
    "a node of the on-demand tier is gone": (cached(on_demand(leaving=True)), EVICTED, "voluntary"),
    "Karpenter consolidates": (
        cached(node(leaving=True), claim("c", "node-1", leaving=True, chosen="Underutilized")),
        EVICTED,
        "voluntary",
    ),
    "Karpenter takes a node that had lost its pods": (
        cached(node(leaving=True), claim("c", "node-1", leaving=True, chosen="Empty")),
        pod("a", phase="Failed", exit_code=1),
        "error",
    ),
    "a pod of higher priority took its place": (
        cached(node(leaving=True)),
        pod("a", phase="Failed", disrupted="PreemptionByScheduler"),
        "voluntary",
    ),
    "a drain of an on-demand node": (cached(on_demand()), EVICTED, "voluntary"),
    "a drain of a spot node that stays so far": (cached(node()), EVICTED, "undecided"),
    "no memory": (cached(node()), pod("a", phase="Failed", exit_code=137, why="OOMKilled"), "error"),
    "exit code 1": (cached(node()), pod("a", phase="Failed", exit_code=1), "error"),
    "killed on a node that stays so far": (cached(node()), pod("a", phase="Failed", exit_code=137), "killed"),
    "deleted with others of its gang": (cached(node()), pod("a", leaving=True, exit_code=143), "unexplained"),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_lost_pod_tells(row: str) -> None:
    cache, lost, finding = ROWS[row]

    assert evidence(cache, lost, on_spot=True).finding == finding


OUTLIVED = {
    "an error, where its NodeClaim is being deleted": ("its NodeClaim is being deleted", 1, "error"),
    "an error, where Karpenter consolidates": ("Karpenter consolidates", 1, "error"),
    "killed, where its node is being deleted": ("its node is being deleted", 137, "killed"),
    "no word, where its node is gone": ("its node is gone", 0, "unexplained"),
}


@pytest.mark.parametrize("row", OUTLIVED)
def test_what_becomes_of_a_node_that_the_gang_is_whole_on_again_tells_nothing_of_a_pod_lost_before(row: str) -> None:
    where, code, finding = OUTLIVED[row]
    lost = pod("a", phase="Failed", exit_code=code) if code else pod("a", leaving=True)

    assert evidence(ROWS[where][0], lost, on_spot=True, outlived=True).finding == finding


def test_of_a_node_that_nobody_saw_the_tier_tells() -> None:
    assert evidence(cached(), EVICTED, on_spot=True).finding == "eviction"
    assert evidence(cached(), EVICTED, on_spot=False).finding == "voluntary"


def test_what_kind_of_node_it_was_is_remembered_after_it_is_gone() -> None:
    cache = cached(on_demand())
    cache.drop(NODE, on_demand())

    assert evidence(cache, EVICTED, on_spot=True).finding == "voluntary"
    assert fate(cache, "node-1") == "node node-1 is gone"


def test_an_eviction_explains_what_it_does_to_the_rest_of_the_gang() -> None:
    found = [Evidence("error", "peer"), Evidence("unexplained", "sibling"), Evidence("eviction", "node")]

    assert strongest(found) == Evidence("eviction", "node")
    assert strongest([]) is None


@pytest.mark.parametrize(
    ("finding", "waited", "cause"),
    [
        ("undecided", DRAIN_SECONDS - 1, "undecided"),
        ("undecided", DRAIN_SECONDS, "voluntary"),
        ("killed", LOOK_SECONDS - 1, "undecided"),
        ("killed", LOOK_SECONDS, "error"),
        ("unexplained", LOOK_SECONDS - 1, "undecided"),
        ("unexplained", LOOK_SECONDS, "eviction"),
        ("error", 0, "error"),
        ("eviction", 0, "eviction"),
    ],
)
def test_evidence_is_waited_for_as_long_as_it_may_take(finding: str, waited: int, cause: str) -> None:
    assert settled(finding, waited, by_counter="eviction") == cause  # pyright: ignore[reportArgumentType]
