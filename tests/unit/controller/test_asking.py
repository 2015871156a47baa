"""What the probes of a question say, and of which question a probe is."""

from typing import TYPE_CHECKING, Final, cast

import pytest

from spotproof.controller.asking import answer, names, probes_of, withdraw_closed
from spotproof.controller.cache import Cache
from spotproof.controller.kinds import NODE_CLAIM, POD, Object
from spotproof.controller.relations import Key
from spotproof.fallback.record import RunTier, TrainingRunStatus
from spotproof.fallback.resolved import NO_PRICE, ResolvedTier
from spotproof.fallback.view import ANSWER
from spotproof.vocabulary import POOL_LABEL, PROBE_LABEL, PROBE_OF_ANNOTATION, SPOT
from tests.unit.controller.things import NOW, at
from tests.unit.controller.things import pod as pod_of_a_gang

if TYPE_CHECKING:
    from spotproof.controller.api import Api

POOL = "spot"
JOB = Key("JobSet", "team", "train")
UID = "uid-train"
TIER = ResolvedTier(
    pool=POOL,
    capacity=SPOT,
    node_selector={POOL_LABEL: POOL},
    tolerations=(),
    accelerator=None,
    usd_per_node_hour=None,
    price_source=NO_PRICE,
)


def probe(
    name: str = "probe", *, made: int = 0, node: str = "", phase: str = "Pending", leaving: bool = False
) -> Object:
    """A probe as the cache holds it, made so many seconds after the tests' moment."""
    meta: Object = {
        "name": name,
        "namespace": "spotproof-system",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": at(made),
        "labels": {PROBE_LABEL: POOL},
        "annotations": {PROBE_OF_ANNOTATION: "/".join(JOB)},
    }
    return {
        "metadata": {**meta, **({"deletionTimestamp": at()} if leaving else {})},
        "spec": {"nodeSelector": {POOL_LABEL: POOL}, **({"nodeName": node} if node else {})},
        "status": {"phase": phase, "conditions": []},
    }


def claim(*, made: int, launched: bool = True, node: str = "") -> Object:
    """A NodeClaim of the pool."""
    condition = {"type": "Launched", "status": "True" if launched else "False"}
    meta = {"name": "bought", "resourceVersion": "1", "creationTimestamp": at(made), "labels": {POOL_LABEL: POOL}}
    return {"metadata": meta, "status": {"conditions": [condition], **({"nodeName": node} if node else {})}}


def said(cache: Cache, *probes: Object, nodes: int = 1, since: int = NOW, later: int = 10) -> bool | None:
    """The answer some seconds after the question, by the clock that it was asked by."""
    return answer(cache, TIER, probes, since, since + later, nodes=nodes)


def test_a_probe_with_a_node_is_a_yes() -> None:
    assert said(Cache(), probe(node="n")) is True


@pytest.mark.parametrize("how", [{"phase": "Failed"}, {"leaving": True}], ids=str)
def test_a_probe_that_has_lost_its_node_is_none(how: Object) -> None:
    assert said(Cache(), probe(node="n", **how)) is None


def test_part_of_the_probes_is_no_answer() -> None:
    assert said(Cache(), probe("a", node="n"), probe("b"), nodes=3) is None
    assert said(Cache(), probe("a", node="n"), probe("b", node="m"), nodes=3) is None
    assert said(Cache(), *(probe(each, node=each) for each in "abc"), nodes=3) is True


def test_nothing_is_known_of_probes_that_are_not_made_and_after_the_time_of_an_answer_it_is_a_no() -> None:
    assert said(Cache(), later=ANSWER - 1) is None
    assert said(Cache(), later=ANSWER) is False


@pytest.mark.parametrize("skew", [-3600, 0, 3600])
def test_claims_are_held_against_the_probe_whatever_the_clock_of_the_controller_says(skew: int) -> None:
    def with_claim(thing: Object, *, gone: bool) -> bool | None:
        cache = Cache()
        cache.put(NODE_CLAIM, thing)
        if gone:
            cache.drop(NODE_CLAIM, thing)
        return said(cache, probe(), since=NOW + skew)

    assert with_claim(claim(made=1), gone=False) is True
    assert with_claim(claim(made=-1), gone=False) is None
    assert with_claim(claim(made=1, launched=False), gone=True) is False
    assert with_claim(claim(made=-1, launched=False), gone=True) is None


def test_a_claim_is_a_yes_only_where_nobody_else_waits_for_the_pool_and_its_node_is_not_there() -> None:
    cache = Cache()
    cache.put(NODE_CLAIM, claim(made=1))
    asked = probe()
    cache.put(POD, asked)
    assert said(cache, asked) is True

    cache.put(POD, pod_of_a_gang("other", waits=True))
    assert said(cache, asked) is None

    cache.drop(POD, pod_of_a_gang("other", waits=True))
    assert said(cache, asked) is True
    kept = claim(made=1, node="n")
    cache.put(NODE_CLAIM, {**kept, "metadata": {**kept["metadata"], "resourceVersion": "2"}})
    assert said(cache, asked) is None


def test_a_probe_is_of_one_question_of_one_job() -> None:
    cache = Cache()
    (mine,) = names(UID, POOL, NOW, 1)
    cache.put(POD, probe(mine))

    assert [each["metadata"]["name"] for each in probes_of(cache, JOB, UID, POOL, NOW)] == [mine]
    assert probes_of(cache, JOB, UID, POOL, NOW + 1) == []
    assert probes_of(cache, JOB, "uid-of-a-namesake", POOL, NOW) == []


class Server:
    """Fits what a withdrawal asks of the API server: there is one claim, and these pods are on its node."""

    def __init__(self, *pods: Object) -> None:
        self._pods = pods
        self.deleted: list[str] = []

    def find(self, api_version: str, kind: str, name: str) -> Object:
        """The claim."""
        del api_version, kind
        return {"metadata": {"name": name, "uid": f"uid-{name}"}}

    def list(self, api_version: str, kind: str, *, fields: str) -> list[Object]:
        """The pods."""
        del api_version, kind, fields
        return list(self._pods)

    def delete(self, api_version: str, kind: str, name: str, namespace: str | None, *, uid: str) -> None:
        """Remember it."""
        del api_version, namespace
        assert uid == f"uid-{name}"
        self.deleted.append(kind)


DAEMON: Final[Object] = {"metadata": {"name": "agent", "uid": "uid-agent", "ownerReferences": [{"kind": "DaemonSet"}]}}
TRAINS: Final[Object] = {"metadata": {"name": "train", "uid": "uid-train", "ownerReferences": [{"kind": "Job"}]}}
BOTH: Final = ["NodeClaim", "Pod"]


@pytest.mark.parametrize(
    ("made", "on_node", "waits", "tier", "deleted"),
    [
        pytest.param(1, [DAEMON], False, "on-demand", BOTH, id="a node of nobody else"),
        pytest.param(-1, [DAEMON], False, "on-demand", ["Pod"], id="one that was there before"),
        pytest.param(1, [DAEMON, TRAINS], False, "on-demand", ["Pod"], id="one that is used"),
        pytest.param(1, [DAEMON], True, "on-demand", ["Pod"], id="one that somebody waits for"),
        pytest.param(1, [DAEMON], False, POOL, ["Pod"], id="one that the job is to have"),
    ],
)
def test_only_the_node_that_a_probe_had_alone_is_given_back_before_the_probe(
    made: int,
    on_node: list[Object],
    waits: bool,  # noqa: FBT001  # a parameter of the test
    tier: str,
    deleted: list[str],
) -> None:
    cache, out = Cache(), probe(node="n")
    cache.put(POD, out)
    cache.put(NODE_CLAIM, claim(made=made, node="n"))
    if waits:
        cache.put(POD, pod_of_a_gang("other", waits=True))
    server = Server(out, *on_node)

    withdraw_closed(cast("Api", server), cache, JOB, UID, TrainingRunStatus(tier=tier))
    assert server.deleted == deleted

    withdraw_closed(cast("Api", server), cache, JOB, UID, TrainingRunStatus(tier=tier))
    assert server.deleted == deleted, "what is withdrawn is not asked for again"


def test_a_question_that_is_open_keeps_its_probes() -> None:
    cache, server = Cache(), Server()
    (mine,) = names(UID, POOL, NOW, 1)
    cache.put(POD, probe(mine))
    open_ = TrainingRunStatus(tiers=(RunTier(pool=POOL, asking_since=NOW),))

    withdraw_closed(cast("Api", server), cache, JOB, UID, open_)
    assert server.deleted == []

    later = TrainingRunStatus(tiers=(RunTier(pool=POOL, asking_since=NOW + 1),))
    withdraw_closed(cast("Api", server), cache, JOB, UID, later)
    assert server.deleted == ["Pod"]
