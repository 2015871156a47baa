import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.fallback import Order, Policy, Tier, policy_of
from spotproof.fallback.policy import are_equal, is_cheaper
from spotproof.manifests.fallback_policy import fallback_policy, read_policy, resolve_tiers
from spotproof.manifests.scheduling import placement
from spotproof.prices import Price
from spotproof.settings.pools import Pool
from tests.unit.fallback.samples import DEAR, ON_DEMAND, SPOT, TWIN, policy
from tests.unit.manifests.samples import environment

TIERS = (SPOT, TWIN, DEAR, ON_DEMAND)
PRICES = {"a100-spot": 7.7, "a100": 21.96}


def pool(name: str) -> dict[str, object]:
    capacity = "spot" if "spot" in name else "on-demand"
    return {"name": name, "capacity": capacity, "instanceTypes": ["p4d.24xlarge"], "maxNodes": 16}


def rendered(**spec: object) -> Policy:
    """The policy of these settings, by way of the object that a cluster would hold."""
    env = environment(pools=[pool("a100-spot"), pool("b100-spot"), pool("a100")], fallbackPolicies=[spec])
    chosen = env.fallback_policies[0]

    def price(pool: Pool) -> Price | None:
        return Price(PRICES[pool.name], "a list") if pool.name in PRICES else None

    tiers = resolve_tiers(
        chosen,
        pools={each.name: each for each in env.pools},
        scheduling={each.name: placement(each) for each in env.pools},
        price=price,
    )
    return policy_of(read_policy(fallback_policy(chosen, tiers=tiers)))


def test_a_policy_of_a_cluster_is_the_one_of_the_settings_in_seconds() -> None:
    found = rendered(
        name="standard",
        tiers=[
            {"pool": "a100-spot", "maxFailures": 3, "pendingTimeout": "90m"},
            {"pool": "b100-spot"},
            {"pool": "a100"},
        ],
        countErrors=True,
        failureWindow="6h",
        probe={"every": "10m"},
        deadline={"mode": "pace", "restart": "15m", "checkpointEvery": "20m", "margin": "90s"},
        maxMovesPerHour=4,
        **{"return": {"minStay": "2h"}},
    )

    assert found == Policy(
        tiers=(
            Tier("a100-spot", spot=True, usd=7.7, max_failures=3, pending_timeout=5400, rank=0),
            Tier("b100-spot", spot=True, usd=None, max_failures=5, pending_timeout=3600, rank=1),
            Tier("a100", spot=False, usd=21.96, max_failures=-1, pending_timeout=3600, rank=2),
        ),
        count_errors=True,
        failure_window=21_600,
        min_stay=7200,
        probe_every=600,
        mode="pace",
        restart=900,
        checkpoint_every=1200,
        margin=90,
        max_moves_per_hour=4,
    )


def test_the_defaults_are_those_of_the_settings() -> None:
    assert rendered(name="least", tiers=[{"pool": "a100"}]) == Policy(
        tiers=(Tier("a100", spot=False, usd=21.96, max_failures=-1),)
    )


def test_what_rules_ask_for_at_every_decision_follows_from_the_tiers() -> None:
    found = policy(*TIERS, Tier("other", spot=False, usd=6.0))

    assert [tier.rank for tier in found.tiers] == [0, 1, 2, 3, 4]
    assert [tier.pool for tier in found.spot] == ["spot", "twin", "dear"]
    assert found.on_demand == found.by_pool["on-demand"]
    assert policy(SPOT).on_demand is None
    assert {pool: [each.pool for each in tiers] for pool, tiers in found.equals.items()} == {
        "spot": ["twin"], "twin": ["spot"], "dear": [], "on-demand": [], "other": [],
    }  # fmt: skip
    assert [each.pool for each in found.cheaper["on-demand"]] == ["spot", "twin", "dear"]
    assert found.cheaper["spot"] == found.cheaper["twin"] == ()


@pytest.mark.parametrize(
    ("words", "one", "other", "cheaper"),
    [
        ("a lower price", SPOT, DEAR, True),
        ("an equal price", SPOT, TWIN, False),
        ("a higher price", DEAR, SPOT, False),
        ("itself", SPOT, SPOT, False),
        ("no price, earlier in the list", SPOT._replace(usd=None), DEAR._replace(rank=1), True),
        ("no price, later in the list", SPOT._replace(usd=None, rank=1), DEAR, False),
        ("on-demand below spot", ON_DEMAND._replace(usd=0.5), SPOT, True),
    ],
)
def test_a_tier_is_cheaper_by_price_or_where_one_is_unknown_by_the_list(
    words: str, one: Tier, other: Tier, *, cheaper: bool
) -> None:
    assert is_cheaper(one, other) is cheaper, words


USD = st.none() | st.floats(0, 100, allow_nan=False)
TIER = st.builds(Tier, st.sampled_from("abc"), st.booleans(), USD, rank=st.integers(0, 3))


@settings(max_examples=200)
@given(one=TIER, other=TIER)
def test_two_tiers_are_equal_or_at_most_one_is_cheaper(one: Tier, other: Tier) -> None:
    assert are_equal(one, other) == are_equal(other, one)
    assert are_equal(one, other) + is_cheaper(one, other) + is_cheaper(other, one) <= 1


def test_an_order_learned_from_earlier_jobs_moves_spot_tiers_only_and_untried_ones_last() -> None:
    found = policy(*TIERS, restart=99).learned({"dear": 0.9, "spot": 0.4})

    assert [tier.pool for tier in found.spot] == ["dear", "spot", "twin"]
    assert [tier.rank for tier in found.tiers] == [0, 1, 2, 3]
    assert [tier.spot for tier in found.tiers] == [tier.spot for tier in TIERS]
    assert (found.restart, found.order) == (99, Order.LISTED)
