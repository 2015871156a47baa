"""Selectors and required affinity are read as the scheduler reads them, where the labels are known at all."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.controller.preflight import preflight
from spotproof.controller.preflight.labels import CAPACITY_KEYS, Labels
from spotproof.vocabulary import ON_DEMAND, ON_DEMAND_SELECTORS, SPOT, SPOT_SELECTORS
from tests.portability.scheduler import Node, reasons_against
from tests.unit.controller.preflight.samples import JOBSET, POD_SPEC, changed, policy

POOL = {"spotproof.dev/pool": "t4-spot"}
FOREIGN = ("topology.kubernetes.io/zone", "disk")
VALUES = sorted({*SPOT_SELECTORS.values(), *ON_DEMAND_SELECTORS.values(), "t4-spot", "t4", "a"})

expressions = st.one_of(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(sorted({*CAPACITY_KEYS, *POOL, *FOREIGN})),
            "operator": st.sampled_from(["In", "NotIn"]),
            "values": st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
        }
    ),
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(sorted({*CAPACITY_KEYS, *POOL, *FOREIGN})),
            "operator": st.sampled_from(["Exists", "DoesNotExist"]),
        }
    ),
)
terms = st.fixed_dictionaries({}, optional={"matchExpressions": st.lists(expressions, max_size=3)})
pods = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": st.dictionaries(st.sampled_from(sorted({*CAPACITY_KEYS, *FOREIGN})), st.sampled_from(VALUES)),
        "affinity": st.lists(terms, min_size=1, max_size=3).map(
            lambda each: {
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": each}}
            }
        ),
    },
)


@given(
    pod=pods,
    capacity=st.sampled_from([SPOT, ON_DEMAND]),
    foreign=st.dictionaries(st.sampled_from(FOREIGN), st.just("a")),
)
@settings(max_examples=500)
def test_an_answer_is_what_the_scheduler_does_with_such_a_node(
    pod: Any, capacity: Any, foreign: dict[str, str]
) -> None:
    known = SPOT_SELECTORS if capacity == SPOT else ON_DEMAND_SELECTORS
    node = Node("n", {**known, **POOL, **foreign}, (), {})

    answer = Labels(capacity, POOL).land(pod)

    if answer is not None:
        assert answer is not bool(reasons_against(pod, node))


@given(pod=pods, disk=st.lists(st.sampled_from(VALUES), min_size=1, max_size=3, unique=True))
@settings(max_examples=500)
def test_an_answer_of_labels_that_differ_is_that_of_each_of_the_nodes(pod: Any, disk: list[str]) -> None:
    answer = Labels(SPOT, POOL, {"disk": disk}).land(pod)

    if answer is not None:
        nodes = [Node("n", {**SPOT_SELECTORS, **POOL, "disk": each}, (), {}) for each in disk]
        assert {not reasons_against(pod, node) for node in nodes} == {answer}


@given(pod=pods, capacity=st.sampled_from([SPOT, ON_DEMAND]))
def test_only_what_asks_for_unknown_labels_has_no_answer(pod: Any, capacity: Any) -> None:
    if not any(key in str(pod) for key in FOREIGN):
        assert Labels(capacity, POOL).land(pod) is not None


def affinity(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": each} for each in terms]
            }
        }
    }


def stranded(*terms: list[dict[str, Any]]) -> list[str]:
    found = preflight(changed(JOBSET, (*POD_SPEC, "affinity"), affinity(*terms)), policy(), ())
    return [each.message.partition(";")[0] for each in found]


def test_an_affinity_to_one_pool_or_one_capacity_strands_a_moved_job() -> None:
    on_spot = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}
    off_spot = {"key": "cloud.google.com/gke-spot", "operator": "DoesNotExist"}
    one_pool = {"key": "spotproof.dev/pool", "operator": "In", "values": ["t4-spot"]}
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-west-2a"]}
    assert stranded([on_spot]) == ["admits no node of t4"]
    assert stranded([off_spot]) == ["admits no node of t4-spot"]
    assert stranded([one_pool]) == ["admits no node of t4"]
    assert stranded([on_spot, off_spot]) == ["admits no node of t4-spot and t4"]
    assert stranded([on_spot], [off_spot]) == []
    assert stranded([zone]) == []
    assert stranded([one_pool], [zone]) == []


IN_ZONES = {"t4-spot": {"zones": ("us-west-2a", "us-west-2b")}, "t4": {"zones": ("us-west-2b",)}}
ZONE, TYPE = "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type"


@pytest.mark.parametrize(
    ("key", "value", "tiers", "found"),
    [
        (ZONE, "us-west-2a", IN_ZONES, ['asks for "us-west-2a", which nodes of t4 do not have']),
        (ZONE, "us-west-2b", IN_ZONES, []),
        (ZONE, "us-west-2c", IN_ZONES, ['asks for "us-west-2c", which nodes of t4-spot and t4 do not have']),
        (ZONE, "us-west-2a", {}, []),  # pools that name no zone have all of the network's
        (TYPE, "p5.48xlarge", {}, ['asks for "p5.48xlarge", which nodes of t4-spot and t4 do not have']),
        (TYPE, "g4dn.2xlarge", {}, []),
    ],
)
def test_a_zone_or_a_machine_that_some_tier_does_not_have_strands_a_moved_job(
    key: str, value: str, tiers: dict[str, Any], found: list[str]
) -> None:
    pinned = changed(JOBSET, (*POD_SPEC, "nodeSelector", key), value)
    assert [each.message.partition(";")[0] for each in preflight(pinned, policy(tiers=tiers), ())] == found

    wanted = affinity([{"key": key, "operator": "In", "values": [value]}])
    required = changed(JOBSET, (*POD_SPEC, "affinity"), wanted)
    codes = [each.code for each in preflight(required, policy(tiers=tiers), ())]
    assert codes == (["Affinity"] if found else [])
