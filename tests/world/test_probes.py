"""Stories of probes: what was asked, whose answer it is, and that nothing of a question outlives it."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from spotproof.controller.kinds import NAMESPACE, NODE_CLAIM, POD, POLICY, Object
from spotproof.controller.watched import WATCHED
from spotproof.kube.client import Refused, Unreachable
from spotproof.vocabulary import CHECKPOINT_URI_ENV, MANUAL_LABEL, PAUSED_LABEL, PROBE_LABEL, SYSTEM_NAMESPACE
from tests.world import karpenter
from tests.world.jobs import Tier, jobset
from tests.world.line import Killed
from tests.world.managed import POLICY_NAME, Managed
from tests.world.things import labels, leaves, name, node_of

TIERS: Final = (
    Tier("spot-a", max_failures=0, pending_timeout="4h"),
    Tier("on-demand", -1, capacity="on-demand", usd=30.0),
)
DUE_SECONDS: Final = 3600.0
WITHDRAWN_SECONDS: Final = 60.0
Wrong = Callable[[], BaseException]
WRONG: Final[dict[str, Wrong]] = {
    "too many": lambda: Refused(429, "too many requests, please try again later", "TooManyRequests"),
    "broken": lambda: Refused(500, "etcdserver: request timed out", "InternalError"),
    "cut": lambda: Unreachable("the API server did not answer: connection reset"),
    "killed": Killed,
}


def probes(world: Managed) -> list[Object]:
    """Probe pods that are there."""
    return [pod for pod in world.all(POD) if PROBE_LABEL in labels(pod)]


def of_spot(world: Managed) -> list[Object]:
    """NodeClaims of the pool that is asked."""
    return [each for each in world.all(NODE_CLAIM) if labels(each)["karpenter.sh/nodepool"] == "spot-a"]


def returning(nodes: int | str = 1) -> Managed:
    """A world whose jobs return from on-demand once spot has answered a probe, or as many as they have pods."""
    rule: dict[str, Any] = {"probe": {"every": "30m", "nodes": nodes}, "return": {"minStay": "10m"}}
    return Managed(TIERS, **rule)


def gang(job: str, pods: int = 1) -> Object:
    """A JobSet that saves to a place of its own."""
    made: Object = json.loads(json.dumps(jobset(job, POLICY_NAME, "spot-a", pods=pods)))
    for role in made["spec"]["replicatedJobs"]:
        for container in role["template"]["spec"]["template"]["spec"]["containers"]:
            for each in container["env"]:
                if each["name"] == CHECKPOINT_URI_ENV:
                    each["value"] = f"s3://checkpoints/{job}"
    return made


def away(nodes: int | str = 1, *, pods: int = 2) -> Managed:
    """A gang that was taken from spot, of which no more is to be had, and runs on-demand; it is to return."""
    world = returning(nodes)
    world.submit(gang("train", pods))
    world.until_whole("train", "spot-a")
    world.pools["spot-a"].most = 0
    world.lose("train", "reclaim")
    world.until_whole("train", "on-demand")
    world.run(30)
    return world


def asking(nodes: int | str = 1, *, pods: int = 2) -> Managed:
    """Such a gang while its probe is out, which is neither bound nor refused: its pool is at its limit."""
    world = away(nodes, pods=pods)
    world.run_until(lambda: probes(world), DUE_SECONDS)
    return world


def goes_wrong_once(world: Managed, verb: str, wrong: Wrong, *, after: int = 0) -> list[str]:
    """Of the server's calls about probes the one after so many goes wrong, before it is done; names those it hit."""
    really, hit = getattr(world.server, verb), list[str]()
    passed = 0

    def once(*about: Any, **more: Any) -> Any:
        nonlocal passed
        of = about[0] if verb == "create" else world.get(POD, about[2], SYSTEM_NAMESPACE)
        if not hit and of is not None and world.process.line.acts and PROBE_LABEL in labels(of):
            passed += 1
            if passed > after:
                hit.append(name(of))
                raise wrong()
        return really(*about, **more)

    setattr(world.server, verb, once)
    return hit


@pytest.mark.parametrize("wrong", WRONG)
def test_a_probe_whose_withdrawal_goes_wrong_is_withdrawn_all_the_same(wrong: str) -> None:
    world = asking()
    hit = goes_wrong_once(world, "delete", WRONG[wrong])
    world.run_until(lambda: hit, 600)
    if not world.process.up:
        world.process.start()

    world.run_until(lambda: not probes(world), WITHDRAWN_SECONDS)
    assert world.tier("train") == "on-demand"


def _fails_too_often(world: Managed) -> None:
    world.run(2)
    for _ in range(3):
        world.run_until(lambda: world.is_calm("train"))
        world.fail("train", 1)
    world.run_until(lambda: world.status("train").phase == "Failed")


HELD: Final[dict[str, Callable[[Managed], None]]] = {
    "Suspended": lambda world: world.suspend("train"),
    "Manual": lambda world: world.label(world.job("train"), MANUAL_LABEL, "true"),
    "Paused": lambda world: world.label(world.get(NAMESPACE, SYSTEM_NAMESPACE, "") or {}, PAUSED_LABEL, "true"),
    "Refused": lambda world: world.server.delete(*POLICY, POLICY_NAME),
    "Failed": _fails_too_often,
    "gone": lambda world: world.server.delete("jobset.x-k8s.io/v1alpha2", "JobSet", "train", world.namespace),
}


@pytest.mark.parametrize("how", HELD)
def test_a_job_that_is_not_to_be_moved_any_more_has_no_probe_out(how: str) -> None:
    world = asking()
    HELD[how](world)

    world.run_until(lambda: not probes(world), 10)
    world.pools["spot-a"].most = 100
    world.run(120)
    assert of_spot(world) == []


@pytest.mark.parametrize("wrong", WRONG)
def test_a_part_of_the_probes_does_not_answer_for_all(wrong: str) -> None:
    world = away("all")
    world.pools["spot-a"].most = 1
    hit = goes_wrong_once(world, "create", WRONG[wrong], after=1)
    world.run_until(lambda: hit, DUE_SECONDS)
    if not world.process.up:
        world.process.start()

    world.run_until(lambda: len(probes(world)) == 2)
    world.run_until(lambda: any(node_of(each) for each in probes(world)))
    world.run(600)
    assert world.tier("train") == "on-demand"


def test_a_node_that_is_bought_for_another_job_is_no_answer() -> None:
    world = away()
    world.submit(gang("other"))
    world.run_until(lambda: probes(world), DUE_SECONDS)
    assert world.status("other").phase == "Waiting"

    world.pools["spot-a"].most = 1
    world.until_whole("other", "spot-a")
    world.run(600)

    assert world.tier("train") == "on-demand"


def test_a_node_that_is_bought_for_the_probe_of_another_job_is_an_answer_to_that_one() -> None:
    world = returning()
    for each in ("first", "second"):
        world.submit(gang(each))
        world.until_whole(each, "spot-a")
    world.pools["spot-a"].most = 0
    for each in ("first", "second"):
        world.lose(each, "vanish")
    for each in ("first", "second"):
        world.until_whole(each, "on-demand")
    world.run_until(lambda: len(probes(world)) == 2, DUE_SECONDS)

    world.pools["spot-a"].most = 1
    world.run_until(lambda: len(probes(world)) < 2)

    # the judge lets nobody return whose own probe was never on a node, and whose tier has not launched one since
    assert sorted(world.tier(each) for each in ("first", "second")) == ["on-demand", "spot-a"]


def test_a_node_of_another_job_that_is_not_ready_yet_is_not_given_back_with_a_probe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(karpenter, "STARTED_SECONDS", 60.0)
    world = away()
    world.submit(gang("other"))
    world.run_until(lambda: probes(world), DUE_SECONDS)
    world.pools["spot-a"].most = 1
    world.run_until(lambda: [each for each in of_spot(world) if each.get("status", {}).get("nodeName")])
    (bought,) = of_spot(world)

    world.pools["spot-a"].dry, world.pools["spot-a"].most = True, 2
    world.run_until(lambda: not probes(world))

    world.until_whole("other", "spot-a")
    assert [name(each) for each in of_spot(world) if not leaves(each)] == [name(bought)]


def test_the_node_that_a_probe_bought_and_nobody_uses_is_given_back() -> None:
    world = asking(pods=1)
    world.pools["spot-a"].most = 100
    for place, watched in enumerate(WATCHED):
        if watched.kind in {NODE_CLAIM, POD}:
            world.process.hold(place)
    world.run_until(lambda: node_of(probes(world)[0]))
    world.suspend("train")
    world.process.release()

    world.run_until(lambda: not of_spot(world), karpenter.EMPTY_SECONDS / 2)
    assert not probes(world)
