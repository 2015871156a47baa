import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from spotproof.manifests.fallback_policy import aggregate_roles, crd, fallback_policy, read_policy, resolve_tiers
from spotproof.manifests.scheduling import placement
from spotproof.prices import Price
from spotproof.settings import Environment
from spotproof.settings.pools import Pool
from spotproof.vocabulary import POOL_LABEL
from tests.unit.manifests.crds import errors, schema_of
from tests.unit.manifests.samples import Json, environment

SCHEMA = schema_of(crd())


LIST = "a list of 2026-11-01"
PRICES = {"a100-spot": Price(7.7, LIST, guessed=True), "a100": Price(21.96, LIST)}


def pools_of(*names: str) -> list[Json]:
    return [
        {
            "name": name,
            "capacity": "spot" if name.endswith("-spot") else "on-demand",
            "instanceTypes": ["p4d.24xlarge"],
            "maxNodes": 16,
        }
        for name in names
    ]


FULL: Json = {
    "name": "standard",
    "tiers": [{"pool": "a100-spot", "maxFailures": 5, "pendingTimeout": "1h"}, {"pool": "a100"}],
    "countErrors": True,
    "failureWindow": "6h",
    "return": {"minStay": "2h"},
    "probe": {"every": "30m", "nodes": "all"},
    "deadline": {"mode": "guard", "restart": "12m", "checkpointEvery": "1h30m", "margin": "90s"},
    "maxMovesPerHour": 6,
}
LEAST: Json = {"name": "least", "tiers": [{"pool": "a100"}]}


def price_of(pool: Pool) -> Price | None:
    return PRICES.get(pool.name)


def env_of(*policies: Json) -> Environment:
    return environment(pools=pools_of("a100-spot", "a100"), fallbackPolicies=list(policies))


def rendered(env: Environment, price: Callable[[Pool], Price | None] = price_of) -> list[Any]:
    pools = {pool.name: pool for pool in env.pools}
    where = {name: placement(pool) for name, pool in pools.items()}
    return [
        fallback_policy(policy, tiers=resolve_tiers(policy, pools=pools, scheduling=where, price=price))
        for policy in env.fallback_policies
    ]


def test_policies_are_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/fallback-policies.yaml", rendered(env_of(FULL, LEAST)))


def test_the_crd_is_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/fallback-policy-crd.yaml", crd())


def test_the_roles_are_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/fallback-roles.yaml", aggregate_roles())


@pytest.mark.parametrize("manifest", rendered(env_of(FULL, LEAST)))
def test_what_is_rendered_fits_the_crd(manifest: Json) -> None:
    assert errors(SCHEMA, manifest) == []


def test_the_one_flag_renders_policies_that_fit() -> None:
    manifests = rendered(environment(spot=True), lambda _: None)
    assert [manifest["metadata"]["name"] for manifest in manifests] == ["standard", "standard-cpu"]
    assert [errors(SCHEMA, manifest) for manifest in manifests] == [[], []]


def test_a_price_nobody_knows_is_left_out_and_said() -> None:
    (manifest,) = rendered(env_of(LEAST), lambda _: None)
    (tier,) = manifest["spec"]["tiers"]
    assert "usdPerNodeHour" not in tier
    assert tier["priceSource"] == "none"


def test_an_assumed_price_says_so_however_long_its_source() -> None:
    (manifest,) = rendered(env_of(LEAST), lambda _: Price(1.0, "x" * 500, guessed=True))
    assert manifest["spec"]["tiers"][0]["priceSource"].endswith("x, assumed")
    assert errors(SCHEMA, manifest) == []


def full() -> Json:
    return copy.deepcopy(rendered(env_of(FULL))[0])


def first(manifest: Json) -> Json:
    return manifest["spec"]["tiers"][0]


DAMAGES: dict[str, Callable[[Json], object]] = {
    "no tiers": lambda m: m["spec"].update(tiers=[]),
    "no spec": lambda m: m.pop("spec"),
    "a capacity there is none of": lambda m: first(m).update(capacity="preemptible"),
    "a count below never": lambda m: first(m).update(maxFailures=-2),
    "a tier that says no count": lambda m: first(m).pop("maxFailures"),
    "a tier that says no patience": lambda m: first(m).pop("pendingTimeout"),
    "a tier that says no price source": lambda m: first(m).pop("priceSource"),
    "a tier that selects nothing": lambda m: first(m).update(nodeSelector={}),
    "a label that is no text": lambda m: first(m)["nodeSelector"].update({POOL_LABEL: True}),
    "a duration in days": lambda m: first(m).update(pendingTimeout="1d"),
    "an empty duration": lambda m: first(m).update(pendingTimeout=""),
    "a bare word as deadline": lambda m: m["spec"].update(deadline="guard"),
    "a mode there is none of": lambda m: m["spec"]["deadline"].update(mode="race"),
    "a blanket effect": lambda m: first(m)["tolerations"][0].update(effect="Never"),
    "no accelerators of a type": lambda m: first(m)["accelerator"].update(count=0),
    "a price below nothing": lambda m: first(m).update(usdPerNodeHour=-1),
    "more moves than a brake": lambda m: m["spec"].update(maxMovesPerHour=61),
    "a field of nobody": lambda m: m["spec"].update(max_failures=3),
    "seventeen tiers": lambda m: m["spec"].update(tiers=[first(m)] * 17),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_refused(damage: str) -> None:
    manifest = full()
    DAMAGES[damage](manifest)
    assert errors(SCHEMA, manifest)


@pytest.mark.parametrize("policy", [FULL, LEAST], ids=["full", "least"])
def test_a_reader_gets_back_what_was_rendered(policy: Json) -> None:
    env = env_of(policy)
    (manifest,) = rendered(env)
    read = read_policy(manifest)
    assert rendered_again(read, env) == manifest
    assert read.name == policy["name"]


def rendered_again(read: Any, env: Environment) -> Json:
    (policy,) = env.fallback_policies
    return fallback_policy(policy, tiers=read.tiers)


def test_a_reader_passes_over_fields_of_a_later_version() -> None:
    manifest = full()
    before = read_policy(manifest)
    manifest["spec"]["later"] = 1
    manifest["spec"]["deadline"]["later"] = 1
    first(manifest)["later"] = {"much": "later"}
    assert read_policy(manifest) == before


@pytest.mark.parametrize("broken", [{}, {"metadata": {"name": "x"}}, {"metadata": None, "spec": []}])
def test_an_object_that_is_no_policy_is_an_error_a_reader_can_catch(broken: Json) -> None:
    with pytest.raises(ValidationError):
        read_policy(broken)


def test_a_duration_that_is_nothing_is_refused_by_a_reader() -> None:
    manifest = full()
    first(manifest)["pendingTimeout"] = "0s"
    with pytest.raises(ValidationError, match="duration"):
        read_policy(manifest)


@given(
    st.lists(st.sampled_from(["a-spot", "b-spot", "c", "d-spot", "e"]), min_size=1, max_size=5, unique=True),
    st.lists(st.integers(-1, 1_000), min_size=5, max_size=5),
    st.integers(900, 10**6),
    st.floats(0, 1000) | st.none(),
)
@settings(max_examples=60)
def test_every_policy_fits_the_crd_and_comes_back(
    names: list[str], counts: list[int], seconds: int, usd: float | None
) -> None:
    tiers = [
        {"pool": name, "maxFailures": count, "pendingTimeout": f"{seconds}s"}
        for name, count in zip(names, counts, strict=False)
    ]
    tiers[-1]["maxFailures"] = -1
    env = environment(pools=pools_of(*names), fallbackPolicies=[{"name": "p", "tiers": tiers}])
    (manifest,) = rendered(env, lambda _: None if usd is None else Price(usd, LIST))
    assert errors(SCHEMA, manifest) == []
    assert [tier["pool"] for tier in manifest["spec"]["tiers"]] == names
    read = read_policy(manifest)
    assert tuple(read.tiers[: len(names)]) == resolve_tiers(
        env.fallback_policies[0],
        pools={pool.name: pool for pool in env.pools},
        scheduling={pool.name: placement(pool) for pool in env.pools},
        price=lambda _: None if usd is None else Price(usd, LIST),
    )


def rules_of(schema: Json) -> list[str]:
    return [rule["rule"] for rule in schema["x-kubernetes-validations"]]


def test_the_cross_checks_of_the_settings_are_in_the_crd() -> None:
    tiers = SCHEMA["properties"]["spec"]["properties"]["tiers"]
    unique, last, same, selected = rules_of(tiers)
    assert "exists_one" in unique
    assert "maxFailures == -1" in last
    assert all(f"accelerator.{field}" in same for field in ("type", "count", "memoryGib"))
    assert "key in self[0].nodeSelector" in selected
    selector, priced = rules_of(tiers["items"])
    assert POOL_LABEL in selector
    assert "usdPerNodeHour" in priced


def test_members_can_make_the_jobs_a_workspace_is_for() -> None:
    view, edit, reader = (dict(role) for role in aggregate_roles())
    assert kinds_of(edit) == kinds_of(view)
    assert {"jobsets", "rayjobs", "trainingruns", "fallbackpolicies"} <= kinds_of(edit)
    assert kinds_of(reader) == {"fallbackpolicies"}


def kinds_of(role: Json) -> set[str]:
    return {kind for rule in role["rules"] for kind in rule["resources"]}
