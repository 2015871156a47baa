"""A RayJob's head and its submitter are kept off spot: whatever selects it, and whatever only lets them land there."""

import copy
from typing import Any, Final

import pytest

from spotproof.controller.preflight import preflight
from spotproof.fallback.resolved import ResolvedTier
from spotproof.vocabulary import CAPACITY_LABEL, KARPENTER_CAPACITY_LABEL, ON_DEMAND, POOL_LABEL, SPOT, SPOT_TAINT
from tests.unit.controller.preflight.samples import GONE, HEAD, JOBSET, RAYJOB, Json, Path, changed, policy

AT: Final = "spec.rayClusterSpec.headGroupSpec.template.spec"
AFFINITY: Final = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
SUBMITTER: Path = ("spec", "submitterPodTemplate", "spec")
EVERYTHING: Final = [{"operator": "Exists"}]
ON_SPOT_TAINT: Final = [{"key": SPOT_TAINT["key"], "operator": "Exists"}]
ON_GPU_TAINT: Final = [{"key": "nvidia.com/gpu", "operator": "Exists"}]

SPOT_TIER = policy().tiers[0]
ELSEWHERE: ResolvedTier = SPOT_TIER.model_copy(
    update={"pool": "cpu-spot", "node_selector": {POOL_LABEL: "cpu-spot"}, "tolerations": SPOT_TIER.tolerations[:1]}
)
"""A spot pool without accelerators that only another policy names: its one taint is that of spot."""


def required(key: str, operator: str, *values: str) -> Json:
    term = {"matchExpressions": [{"key": key, "operator": operator, **({"values": [*values]} if values else {})}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def with_(path: Path, *, selector: object = GONE, tolerations: object = GONE, affinity: object = GONE) -> Json:
    """A RayJob of which one template asks for these nodes and no others."""
    asked = {"nodeSelector": selector, "tolerations": tolerations, "affinity": affinity}
    here: Any = RAYJOB
    for part in path:
        here = here[part]
    spec = {key: each for key, each in here.items() if key not in asked}
    return changed(RAYJOB, path, {**spec, **{key: each for key, each in asked.items() if each is not GONE}})


def found(job: Json, *known: ResolvedTier, **changes: Any) -> list[tuple[str, str]]:
    return [(each.code, each.field) for each in preflight(job, policy(**changes), (), spot=known)]


def test_a_head_in_a_spot_pool_that_only_another_policy_names_is_refused() -> None:
    job = with_(HEAD, selector={POOL_LABEL: "cpu-spot"})
    assert found(job, ELSEWHERE) == [("HeadOnSpot", f"{AT}.nodeSelector")]
    assert found(job) == [], "of a pool that no policy names nobody here knows the capacity"


def test_where_a_pool_is_a_tier_of_its_own_policy_that_one_says_what_it_is() -> None:
    changed_hands = ELSEWHERE.model_copy(update={"pool": "t4", "node_selector": {POOL_LABEL: "t4"}})
    assert found(with_(HEAD, selector={POOL_LABEL: "t4"}), changed_hands) == []


LANDS: list[tuple[str, Json, str]] = [
    # by what it may land on the spot pool without accelerators, and the field that its author wrote
    ("a toleration of everything", {"tolerations": EVERYTHING}, "tolerations"),
    ("one of the spot taint", {"tolerations": ON_SPOT_TAINT}, "tolerations"),
    ("an affinity to the pool", {"tolerations": EVERYTHING, "affinity": required(POOL_LABEL, "In", "cpu-spot")},
     AFFINITY),
    ("an affinity that keeps it off nothing",
     {"tolerations": EVERYTHING, "affinity": required(POOL_LABEL, "NotIn", "a")}, AFFINITY),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "field"), [each[1:] for each in LANDS], ids=[each[0] for each in LANDS])
@pytest.mark.parametrize(
    ("path", "at", "code"),
    [
        (HEAD, AT, "HeadMayLandOnSpot"),
        (SUBMITTER, "spec.submitterPodTemplate.spec", "SubmitterMayLandOnSpot"),
    ],
)
def test_what_may_land_on_spot_though_it_selects_none_is_refused(
    path: Path, at: str, code: str, asked: Json, field: str
) -> None:
    job = with_(path, **asked)
    no_own = {"t4-spot": {"capacity": ON_DEMAND}}
    assert found(job, ELSEWHERE, tiers=no_own) == [(code, f"{at}.{field}")]
    assert found(job, tiers=no_own) == [], "where nothing is spot there is nowhere to land"


KEPT_OFF: list[tuple[str, Json]] = [
    ("it tolerates nothing", {}),
    ("it tolerates something else", {"tolerations": ON_GPU_TAINT}),
    ("it tolerates another effect", {"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}),
    ("its selector", {"tolerations": EVERYTHING, "selector": {POOL_LABEL: "cpu"}}),
    ("its selector, of capacity", {"tolerations": EVERYTHING, "selector": {CAPACITY_LABEL: ON_DEMAND}}),
    ("its affinity", {"tolerations": EVERYTHING, "affinity": required(CAPACITY_LABEL, "NotIn", SPOT)}),
    ("perhaps its selector", {"tolerations": EVERYTHING, "selector": {"disk": "fast"}}),
]


@pytest.mark.parametrize("asked", [each[1] for each in KEPT_OFF], ids=[each[0] for each in KEPT_OFF])
def test_a_head_that_something_keeps_off_spot_passes(asked: Json) -> None:
    assert found(with_(HEAD, **asked), ELSEWHERE) == []


def test_a_head_that_tolerates_spot_and_no_accelerator_cannot_land_where_both_are() -> None:
    assert [each.key for each in SPOT_TIER.tolerations] == [SPOT_TAINT["key"], "nvidia.com/gpu"]
    assert found(with_(HEAD, tolerations=ON_SPOT_TAINT)) == []
    assert found(with_(HEAD, tolerations=[*ON_SPOT_TAINT, *ON_GPU_TAINT])) == [
        ("HeadMayLandOnSpot", f"{AT}.tolerations")
    ]


def test_spot_nodes_that_repel_nothing_take_a_head_that_selects_none() -> None:
    bare = ELSEWHERE.model_copy(update={"tolerations": ()})
    assert found(with_(HEAD), bare) == [("HeadMayLandOnSpot", f"{AT}.nodeSelector")]


@pytest.mark.parametrize(
    "affinity",
    [required(KARPENTER_CAPACITY_LABEL, "In", SPOT), required(CAPACITY_LABEL, "NotIn", ON_DEMAND)],
)
def test_the_field_is_the_affinity_where_that_selects_spot(affinity: Json) -> None:
    assert found(with_(HEAD, affinity=affinity)) == [("HeadOnSpot", f"{AT}.{AFFINITY}")]


@pytest.mark.parametrize(
    "affinity",
    [required(KARPENTER_CAPACITY_LABEL, "In", SPOT), required(CAPACITY_LABEL, "NotIn", ON_DEMAND)],
)
def test_so_it_is_for_a_role_beside_the_tiers(affinity: Json) -> None:
    (first,) = JOBSET["spec"]["replicatedJobs"]
    two = changed(JOBSET, ("spec", "replicatedJobs"), [first, copy.deepcopy(first)])
    there: Path = ("spec", "replicatedJobs", 1, "template", "spec", "template", "spec")
    job = changed(changed(two, (*there, "nodeSelector"), GONE), (*there, "affinity"), affinity)

    assert found(job) == [("SpotBesideTiers", f"spec.replicatedJobs[1].template.spec.template.spec.{AFFINITY}")]
