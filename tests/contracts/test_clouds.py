"""Every cloud of the table fulfils the contract; what one lacks is listed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.manifests.scheduling import Placement
from spotproof.settings.providers import PROVIDERS
from tests.contracts.clouds import Built, built, gaps, record_gaps, stacks_of


@pytest.mark.parametrize("cloud", PROVIDERS)
def test_a_cloud_fulfils_everything_of_the_contract(cloud: str) -> None:
    found = gaps(cloud)

    assert not found, "\n".join([f"{cloud} lacks:", *found])


@pytest.fixture(scope="module")
def whole() -> Built:
    return built(stacks_of("existing")[0])


Spoil = Callable[[Built], dict[str, Any]]

SPOILT: list[tuple[str, Spoil]] = [
    ("kubernetes_provider", lambda _: {"kubernetes_provider": None}),
    ("pools are", lambda _: {"pools": {}}),
    ("selects", lambda one: {"pools": {k: replace(v, node_selector={}) for k, v in one.cluster.pools.items()}}),
    ("own taint", lambda one: {"pools": {k: replace(v, tolerations=()) for k, v in one.cluster.pools.items()}}),
    ("accelerator", lambda one: {"pools": {k: replace(v, accelerator=1) for k, v in one.cluster.pools.items()}}),
    ("price", lambda one: {"pools": {k: replace(v, price=1) for k, v in one.cluster.pools.items()}}),
    ("checkpoints is not", lambda _: {"checkpoints": CheckpointStore("s3://elsewhere")}),
    ("neither selects", lambda _: {"system_scheduling": Placement({}, ())}),
    ("which is spot", lambda _: {"system_scheduling": Placement({"spotproof.dev/pool": "cpu-spot"}, ())}),
    ("provides", lambda _: {"provides": frozenset({"coffee"})}),
    ("ready", lambda _: {"ready": ["nodes"]}),
    ("lifetime", lambda _: {"lifetime": "for ever"}),
    ("workspaces are", lambda _: {"workspaces": {}}),
    ("exports lack", lambda _: {"exports": {}}),
]
"""A word of the sentence -> what is spoilt of a whole record."""


@pytest.mark.parametrize(("says", "spoil"), SPOILT, ids=[says for says, _ in SPOILT])
def test_a_field_that_is_wrong_is_listed(whole: Built, says: str, spoil: Spoil) -> None:
    assert list(record_gaps(whole)) == []
    spoilt = replace(whole, cluster=replace(whole.cluster, **spoil(whole)))

    assert [gap for gap in record_gaps(spoilt) if says in gap]


def test_a_workspace_that_would_outlive_its_operators_is_listed(whole: Built) -> None:
    free = [replace(one, dependencies=()) for one in whole.seen.resources]
    spoilt = replace(whole, seen=replace(whole.seen, resources=tuple(free)))

    assert "workspace research does not go before kuberay, whose finalizers its jobs carry" in record_gaps(spoilt)
