"""The FallbackPolicy kind in a real API server: each of its own rules refuses, in our words, what it is there for."""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

from spotproof.kube.client import Kube, Refused
from spotproof.manifests.fallback_policy import crd
from spotproof.manifests.fallback_rules import OF_A_TIER, OF_A_TOLERATION, OF_TIERS
from spotproof.rehearsal.control_plane import ControlPlane
from tests.e2e.stacks import Object, lost, make
from tests.unit.manifests.test_fallback_policy import DAMAGES, FULL, LEAST, env_of, full, rendered

Path = tuple[str | int, ...]
Damage = Callable[[Any], Any]
HERE: Final[Path] = ("spec", "versions", 0, "schema", "openAPIV3Schema")


def rules(schema: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every rule of the schema: where in an object it is asked, and its sentence; the first stands for a list's all."""
    yield from ((path, rule["message"]) for rule in schema.get("x-kubernetes-validations", []))
    for name, each in schema.get("properties", {}).items():
        yield from rules(each, (*path, name))
    if "items" in schema:
        yield from rules(schema["items"], (*path, 0))


def at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


RULES: Final = tuple(rules(at(crd(), HERE)))


def _second(**changes: object) -> Damage:
    """The tiers with a second one that differs from the first."""
    return lambda tiers: [tiers[0], {**tiers[1], **changes}, *tiers[2:]]


def _accelerated(tiers: list[Object]) -> list[Object]:
    return _second(accelerator={**tiers[0]["accelerator"], "count": 1})(tiers)


def _selected_otherwise(tiers: list[Object]) -> list[Object]:
    return _second(nodeSelector={"group": "a100"})(tiers)


SENTENCES: Final[dict[str, tuple[Damage, str]]] = {
    OF_TIERS[0]["message"]: (lambda tiers: [tiers[0], *tiers], "names a pool in two tiers"),
    OF_TIERS[1]["message"]: (lambda tiers: tiers[:1], "the last tier is spot with a finite maxFailures"),
    OF_TIERS[2]["message"]: (_accelerated, "tiers differ in accelerator"),
    OF_TIERS[3]["message"]: (_selected_otherwise, "tiers select nodes by different labels"),
    OF_A_TIER[0]["message"]: (
        lambda tier: {**tier, "nodeSelector": {"spotproof.dev/pool": "another"}},
        "tier a100-spot must select spotproof.dev/pool=a100-spot, or labels of another key",
    ),
    OF_A_TIER[1]["message"]: (lambda tier: {**tier, "priceSource": "none"}, "exactly where usdPerNodeHour is left out"),
    OF_A_TOLERATION[0]["message"]: (
        lambda toleration: {**toleration, "operator": "Exists"},
        "a toleration has a value with Equal, and none with Exists",
    ),
    "the name is at most 63 lower-case letters, digits and hyphens, as a label's value": (
        lambda policy: {**policy, "metadata": {**policy["metadata"], "name": "team.standard"}},
        "as a label's value",
    ),
    "a duration of nothing has no meaning here; write a number with its unit, as in 90s, 30m, 2h or 1h30m": (
        lambda _: "0s",
        "a duration of nothing has no meaning here",
    ),
    "must be 1 or all": (lambda _: 2, "must be 1 or all"),
}
"""A rule's message -> what breaks it, given the part of the policy that it judges, and what the API server says."""


@pytest.fixture(scope="module")
def kube(plane: ControlPlane) -> Kube:
    """An API server that knows the kind."""
    make(plane.kube, [dict(crd())])
    return plane.kube


def damaged(path: Path, damage: Damage) -> Object:
    policy: Any = {"whole": full()}
    *above, last = ("whole", *path)
    holder = at(policy, tuple(above))
    holder[last] = damage(copy.deepcopy(holder[last]))
    return policy["whole"]


def test_every_rule_of_the_kind_has_a_case() -> None:
    assert {message for _, message in RULES} == SENTENCES.keys()
    assert len(RULES) > len(SENTENCES)  # durations are in many places, and each of them is asked


@pytest.mark.parametrize(
    ("path", "message"), RULES, ids=[".".join(map(str, path)) + " " + said[:30] for path, said in RULES]
)
def test_what_a_rule_is_there_for_is_refused_in_our_words(kube: Kube, path: Path, message: str) -> None:
    damage, says = SENTENCES[message]

    with pytest.raises(Refused) as refused:
        kube.create(damaged(path, damage), dry_run=True)

    assert refused.value.reason == "Invalid"
    assert says in refused.value.message
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    assert f"{where}: Invalid value" in refused.value.message


@pytest.mark.parametrize("policy", [FULL, LEAST], ids=["full", "least"])
def test_the_twin_that_nobody_damaged_is_taken_whole(kube: Kube, policy: Object) -> None:
    (manifest,) = rendered(env_of(policy))
    answer = kube.create(manifest, dry_run=True)
    assert answer.warnings == ()
    assert list(lost(manifest, answer.object)) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_the_unit_tests_schema_refuses_the_api_server_refuses(kube: Kube, damage: str) -> None:
    policy = full()
    DAMAGES[damage](policy)
    with pytest.raises(Refused) as refused:
        kube.create(policy, dry_run=True)
    assert refused.value.status in {400, 422}, refused.value


def test_what_is_left_out_comes_back_as_the_settings_have_it(kube: Kube) -> None:
    policy = full()
    least = {**policy, "spec": {"tiers": policy["spec"]["tiers"]}}
    kept = kube.create(least, dry_run=True).object["spec"]
    (written,) = rendered(env_of({**LEAST, "tiers": FULL["tiers"]}))
    assert kept == written["spec"]
