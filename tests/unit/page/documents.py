"""A plan as `spotproof plan --format json` prints it: small, and by its figures one that could be."""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]
ON_DEMAND_USD = 2187.0


def plan(**other: Any) -> Json:
    """Four policies for 48 h of work on two nodes within 60 h; other parts by their names."""
    return {
        "stack": "aws-prod",
        "policy": "a100",
        "bill": "fixed-at-launch",
        "job": {
            "workHours": 48.0,
            "deadlineHours": 60.0,
            "restartMinutes": 12.0,
            "checkpointEveryMinutes": 30.0,
            "checkpointWriteMinutes": 1.0,
            "nodes": 2,
            "nodesHeldWaiting": 0,
            "probeMinutes": 10.0,
        },
        "market": {
            "source": "rate",
            "names": [],
            "evictionsPerHour": 0.3,
            "outageHours": 1.5,
            "availabilityPercent": [69.0, 64.5],
            "runs": 2000,
            "seed": 0,
            "note": "Random markets with spells and outages as uneven as measured ones.",
        },
        "tiers": [
            _tier("a100-spot-a", "spot", 7.685175, "0.35 of on-demand", assumed=True),
            _tier("a100-spot-b", "spot", 8.1, "prices file", assumed=False),
            _tier("a100", "on-demand", 21.957642, "price list of 2026-07-20", assumed=False),
        ],
        "policies": [
            policy("as written", 56.0, (54.2, 58.3), [(54.0, 950), (52.5, 790), (57.9, 1180)], chosen=True),
            policy("deadline pace", 57.5, (54.4, 57.8), [(53.8, 940), (54.1, 815), (57.0, 1090)], recommended=True)
            | {"same": ["maxFailures -1, pace"]},
            policy("on-demand alone", 0.0, (49.8, 49.8), [(49.8, ON_DEMAND_USD)]),
            policy("spot alone", 62.4, (71.0, None), [(54.2, 805), (64.0, 830), (98.5, 820)]),
        ],
        "onDemandAloneUsd": ON_DEMAND_USD,
        "bounds": [
            {
                "evictionsPerHour": 0.6,
                "nodesHeldWaiting": 1,
                "runs": 2000,
                "policies": [{"name": "as written", "meanCostUsd": 1190.5, "savingsPercent": 45.6}],
            }
        ],
        "alwaysOn": {"systemUsd": 25.12, "headUsd": None, "usdPerHour": 0.87, "note": "A JobSet has no head."},
        "checkpoint": {
            "dalyMinutes": 18.9,
            "youngMinutes": 20.0,
            "recommendedMinutes": 18.9,
            "slowdown": 1.176,
            "slowdownNow": 1.187,
        },
        "seed": {
            "alphaPercent": 90.5,
            "savingsPercent": 55.7,
            "runtimeFlexibilityPercent": 143.0,
            "note": "They spread overhead over both tiers alike.",
        },
        "breakEven": {"mtbfHours": 0.46, "curve": [[0.0, 65.0], [1.0, 40.0], [2.174, 0.0], [3.0, -60.0]]},
        "recommendation": {
            "name": "deadline pace",
            "sentences": [
                "Take `deadline pace`: it costs 929 USD on average, 57.5 % less than on-demand alone.",
                "It misses the deadline of 60h in 0.0 % of runs.",
                "As written the policy costs 962 USD.",
                "pendingTimeout 30m: spot is gone for 1h30m on average after an eviction.",
            ],
            "yaml": "fallbackPolicies:\n  - name: a100\n    deadline: pace\n",
        },
        "warnings": ["The price of a100-spot-a is assumed, so every saving here is too."],
    } | other


def bare() -> Json:
    """The same where nothing is known: what may be null is null, and every list is empty."""
    whole = plan()
    return whole | {
        "job": whole["job"] | {"deadlineHours": None, "checkpointEveryMinutes": None, "checkpointWriteMinutes": None},
        "market": whole["market"]
        | {"evictionsPerHour": None, "outageHours": None, "availabilityPercent": [], "note": None},
        "tiers": [],
        "policies": [],
        "bounds": [],
        "alwaysOn": None,
        "checkpoint": None,
        "seed": None,
        "breakEven": None,
        "recommendation": {"name": "spot alone", "sentences": [], "yaml": ""},
        "warnings": [],
    }


def policy(
    name: str,
    saving: float,
    finish: tuple[float | None, float | None],
    points: Sequence[tuple[float, float]],
    **marks: bool,
) -> Json:
    """One policy, with a run that goes through every state."""
    return {
        "name": name,
        "same": [],
        "chosen": False,
        "recommended": False,
        "settings": {"maxFailures": "5", "pendingTimeout": "30m", "return": "2h", "deadline": None},
        "meanCostUsd": round(ON_DEMAND_USD * (1 - saving / 100), 2),
        "savingsPercent": saving,
        "savingsInterval": [saving - 1.2, saving + 1.2],
        "finishHours": {"median": finish[0], "p95": finish[1]},
        "meanEvictions": 8.04,
        "spotSharePercent": 90.5,
        "latePercent": 0.0,
        "unfinishedPercent": 0.0,
        "spotHours": 48.13,
        "onDemandHours": 5.03,
        "waitingHours": 1.14,
        "points": [list(point) for point in points],
        "timeline": [
            _span("a100-spot-a", "spot", 0, 20.5),
            _span(None, "waiting", 20.5, 22),
            _span("a100-spot-b", "spot", 22, 49),
            _span("a100", "on-demand", 49, 54),
        ],
    } | marks


def _span(pool: str | None, capacity: str, start: float, end: float) -> Json:
    return {"pool": pool, "capacity": capacity, "fromHours": start, "toHours": end}


def _tier(pool: str, capacity: str, usd: float, source: str, *, assumed: bool) -> Json:
    return {
        "pool": pool,
        "capacity": capacity,
        "usdPerNodeHour": usd,
        "priceSource": source,
        "assumed": assumed,
    }
