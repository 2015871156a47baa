"""The same jobs through `spotproof render`: one manifest for every cloud, each pod on the capacity that was meant."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from spotproof.clouds.registry import checkpoint_store
from spotproof.manifests.gang import Job
from spotproof.manifests.jobs import render
from spotproof.settings.environment import Workspace
from spotproof.settings.experiment.load import load_experiment
from spotproof.vocabulary import ON_DEMAND, POOL_LABEL, SPOT
from tests.portability.admission import admitted
from tests.portability.documents import DOCUMENTS, OPERATORS, Document, experiment, pods_of
from tests.portability.landing import Stack, stack
from tests.portability.page import page
from tests.stacks.runs import STACKS

WORKSPACE = Workspace(namespace="research")
HEADS = {"head", "submitter"}


def rendered(here: Stack, operator: str, choice: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    raw = experiment(operator, gpus=here.gpus, choice=choice)
    raw["spec"] |= spec
    case = load_experiment(raw, here.env, stem="train", source="train.yaml")
    return render(Job(case, WORKSPACE, checkpoint_store(here.name, here.env)))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.words)
@pytest.mark.parametrize("name", STACKS)
def test_a_rendered_job_lands_on_the_capacity_its_document_means(name: str, document: Document, operator: str) -> None:
    here = stack(name)
    choice = {"extraSelectors": document.selectors, "extraTolerations": list(document.tolerations)}

    for role, pod in pods_of(rendered(here, operator, choice)):
        wanted = ON_DEMAND if role in HEADS else document.capacity
        pools = here.lands_on(admitted(pod, here.env))
        assert pools, (role, pod["nodeSelector"])
        assert here.capacities(pools) == {wanted}, role


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", STACKS)
def test_a_rendered_job_of_a_policy_lands_on_every_tier_by_one_value(name: str, operator: str) -> None:
    here = stack(name)
    policy = next(
        one
        for one in here.env.fallback_policies
        if bool(here.env.pool(one.tiers[0].pool).accelerator) == bool(here.gpus)
    )

    job = rendered(here, operator, {}, fallbackPolicy=policy.name)

    for role, pod in pods_of(job):
        if role in HEADS:
            assert here.capacities(here.lands_on(admitted(pod, here.env))) == {ON_DEMAND}
            continue
        (key,) = pod["nodeSelector"]
        for tier in policy.tiers:
            value = (here.env.pool(tier.pool).node_labels or {POOL_LABEL: tier.pool})[key]
            moved = {**pod, "nodeSelector": {key: value}}
            assert here.lands_on(moved) == (tier.pool,), (role, tier.pool)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", STACKS)
def test_determineds_choice_of_a_pool_lands_on_that_pool_and_no_other(name: str, operator: str) -> None:
    here = stack(name)

    for pool in here.training_pools:
        for role, pod in pods_of(rendered(here, operator, {}, pool=pool.name)):
            if role not in HEADS:
                assert here.lands_on(pod) == (pool.name,)


def test_the_page_says_where_every_job_lands(golden: Callable[[str, object], None]) -> None:
    def worker(here: Stack, document: Document) -> dict[str, Any]:
        choice = {"extraSelectors": document.selectors, "extraTolerations": list(document.tolerations)}
        return dict(pods_of(rendered(here, "jobset", choice)))["worker"]

    golden("../../docs/portability.md", page([stack(name) for name in STACKS], worker))


def test_a_job_that_says_nothing_lands_on_on_demand() -> None:
    for name in STACKS:
        here = stack(name)
        for _, pod in pods_of(rendered(here, "jobset", {})):
            assert here.capacities(here.lands_on(pod)) == {ON_DEMAND}


def test_no_rendered_pod_can_reach_a_node_it_did_not_name() -> None:
    """The constant tolerations open every spot pool; it is the selector that keeps a job where it belongs."""
    for name in STACKS:
        here = stack(name)
        spot = {pool.name for pool in here.env.pools if pool.capacity == SPOT}
        for _, pod in pods_of(rendered(here, "jobset", {})):
            assert not set(here.lands_on(admitted(pod, here.env))) & spot
