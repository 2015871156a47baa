import pytest
from hypothesis import given

from spotproof.manifests.scheduling import placement, pool_taints
from spotproof.settings.pools import Pool
from spotproof.vocabulary import (
    AKS_SPOT_TAINT,
    GKE_SPOT_TAINT,
    GPU_TAINT,
    POOL_LABEL,
    SPOT_TAINT,
    TOLERATIONS,
    Taint,
    Toleration,
)
from tests.unit.manifests.samples import pool, pools


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """As the scheduler does."""
    value = toleration["operator"] == "Exists" or toleration["value"] == taint["value"]
    return toleration["key"] == taint["key"] and toleration["effect"] == taint["effect"] and value


def test_a_job_selects_a_pool_by_its_name_alone() -> None:
    assert placement(pool()).node_selector == {POOL_LABEL: "aws-spot-g4dn-metal"}


@given(pools())
def test_a_pools_tolerations_are_just_those_its_taints_need(pool: Pool) -> None:
    taints, tolerations = pool_taints(pool), placement(pool).tolerations
    assert len(tolerations) == len(taints)
    assert all(any(tolerates(each, taint) for each in tolerations) for taint in taints)


@given(pools())
def test_the_constant_set_of_job_templates_tolerates_every_pool(pool: Pool) -> None:
    assert all(any(tolerates(each, taint) for each in TOLERATIONS) for taint in pool_taints(pool))


@pytest.mark.parametrize("own", [SPOT_TAINT, GKE_SPOT_TAINT, AKS_SPOT_TAINT])
def test_a_cloud_with_a_spot_taint_of_its_own_gets_that_one(own: Taint) -> None:
    assert pool_taints(pool(), own) == [own, GPU_TAINT]
    assert tolerates(placement(pool(), own).tolerations[0], own)


def test_what_is_handed_out_is_nobody_elses() -> None:
    pool_taints(pool())[0]["key"] = "changed"
    placement(pool()).tolerations[0]["key"] = "changed"
    assert pool_taints(pool()) == [SPOT_TAINT, GPU_TAINT]
    assert placement(pool()).tolerations[0]["key"] == SPOT_TAINT["key"]
