"""The report of `spotproof plan` as a page: what to take comes first, what it rests on last."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from spotproof.page import plan_charts as charts
from spotproof.page.page import page
from spotproof.page.sections import (
    Block,
    Card,
    Cards,
    Code,
    Column,
    Facts,
    Figure,
    Halves,
    Prose,
    Row,
    Section,
    Table,
    Warnings,
)
from spotproof.page.text import NBSP, hours, minutes, number, percent, usd

Document: TypeAlias = Mapping[str, Any]
Written: TypeAlias = tuple[str, Callable[[Document], str]]
"""The name of a column, and what a policy has in it."""

MOST: Final = f"95{NBSP}%"
UNKNOWN: Final = "not known"


def html(document: Document) -> str:
    """One self-contained page.

    Args:
        document: What `spotproof plan --format json` prints. What does not exist is null, and lists may be empty.
    """
    job = document["job"]
    due = "without a deadline" if job["deadlineHours"] is None else f"due within {hours(job['deadlineHours'])}"
    return page(
        f"Plan of policy {document['policy']} on {document['stack']}",
        f"{hours(job['workHours'])} of work on {_nodes(job)}, {due}.",
        [Section(title, make(document)) for title, make in SECTIONS],
    )


def _recommendation(document: Document) -> Sequence[Block]:
    advice = document["recommendation"]
    best = next((each for each in document["policies"] if each["recommended"]), None)
    words = Prose(advice["sentences"], lead=f"Take {advice['name']}.")
    paste = Code("To paste into the stack file", advice["yaml"])
    return [*([Cards(_headline(best, document))] if best else []), Halves([words], [paste])]


def _headline(best: Document, document: Document) -> list[Card]:
    whole, interval, finish = charts.on_demand_usd(document), best["savingsInterval"], best["finishHours"] or {}
    cards = [
        Card("Saving", percent(best["savingsPercent"]), f"{percent(interval[0])} to {percent(interval[1])}"),
        Card("Mean cost of a run", usd(best["meanCostUsd"]), f"on-demand: {usd(whole)}" if whole else ""),
        Card("Half of the runs end by", _or(finish.get("median"), hours), f"{MOST} by {_or(finish.get('p95'), hours)}"),
    ]
    if best["latePercent"] is not None:
        late = f"of {number(document['market']['runs'])} runs"
        cards.append(Card("End after the deadline", percent(best["latePercent"]), late))
    return cards


def _warnings(document: Document) -> Sequence[Block]:
    found = document["warnings"]
    return [Warnings(found)] if found else [Prose(["Nothing was found to warn of."])]


def _picture(document: Document) -> Sequence[Block]:
    chart = charts.cost_over_finish(document)
    if not chart.clouds:
        return [Prose(["No run of any policy came to an end, so there is nothing to draw."])]
    caption = (
        "Lower is cheaper, further left is sooner. A dot is a run. A large mark is a policy: its mean cost, at the "
        f"hour by which half of its runs end; the line beside it reaches to the hour by which {MOST} end."
    )
    if chart.outside:
        caption += f" {number(chart.outside)} of the dots lie to the right of the picture."
    return [Figure(chart, caption)]


def _policies(document: Document) -> Sequence[Block]:
    policies = document["policies"]
    if not policies:
        return [Prose(["No policy was tried."])]
    return [
        _table("What each policy comes to", policies, RESULTS, numeric=True),
        Figure(charts.savings(document), "A bar is a mean over the runs; the line on it is the interval it lies in."),
        _table("Where the time of a run goes", policies, TIMES, numeric=True),
        _table("What each policy sets", policies, SETTINGS, numeric=False),
    ]


RESULTS: Final[Sequence[Written]] = [
    ("Mean cost", lambda each: usd(each["meanCostUsd"])),
    ("Saving", lambda each: _percent(each["savingsPercent"])),
    ("Half end by", lambda each: _or((each["finishHours"] or {}).get("median"), _hours)),
    (f"{MOST} end by", lambda each: _or((each["finishHours"] or {}).get("p95"), _hours)),
    ("Late", lambda each: _or(each["latePercent"], _percent, "no deadline")),
    ("Unfinished", lambda each: _percent(each["unfinishedPercent"])),
]
TIMES: Final[Sequence[Written]] = [
    ("Evictions", lambda each: number(each["meanEvictions"], 1)),
    ("Share on spot", lambda each: _percent(each["spotSharePercent"])),
    ("On spot", lambda each: _hours(each["spotHours"])),
    ("On on-demand", lambda each: _hours(each["onDemandHours"])),
    ("Waiting", lambda each: _hours(each["waitingHours"])),
]
SETTINGS: Final[Sequence[Written]] = [
    ("maxFailures", lambda each: _setting(each, "maxFailures")),
    ("pendingTimeout", lambda each: _setting(each, "pendingTimeout")),
    ("return", lambda each: _setting(each, "return")),
    ("deadline", lambda each: _setting(each, "deadline")),
]


def _table(title: str, policies: Sequence[Document], columns: Sequence[Written], *, numeric: bool) -> Table:
    rows = [Row([each["name"], *(write(each) for _, write in columns)], _badges(each)) for each in policies]
    return Table(title, [Column("Policy"), *(Column(name, numeric=numeric) for name, _ in columns)], rows)


def _badges(policy: Document) -> list[str]:
    return [word for key, word in (("recommended", "recommended"), ("chosen", "in the stack")) if policy[key]]


def _timelines(document: Document) -> Sequence[Block]:
    chart = charts.timelines(document)
    if not chart.bands:
        return [Prose(["No example run was kept."])]
    caption = (
        "A run lies on the ground while it waits, one floor up on spot, and on top on on-demand; the number in a block "
        "is its spot tier. A triangle is the end of a stay on spot: an eviction or a move."
    )
    return [Figure(chart, caption)]


def _break_even(document: Document) -> Sequence[Block]:
    known = document["breakEven"]
    if known is None or not known["curve"]:
        return [Prose(["No curve was reckoned for this job."])]
    mtbf = known["mtbfHours"]
    pays = f"as long as the job runs for more than {hours(mtbf)} between two evictions" if mtbf else "at any rate shown"
    return [Figure(charts.break_even(document), f"Spot pays {pays}.")]


def _checkpoints(document: Document) -> Sequence[Block]:
    known, job = document["checkpoint"], document["job"]
    if known is None:
        return [Prose(["No interval was reckoned for this job."])]
    write = f"a write takes {_or(job['checkpointWriteMinutes'], minutes)}"
    return [
        Cards(
            [
                Card("Now every", _or(job["checkpointEveryMinutes"], minutes), write),
                Card("Recommended", _or(known["recommendedMinutes"], minutes)),
                Card("Daly's formula", _or(known["dalyMinutes"], minutes)),
                Card("Young's formula", _or(known["youngMinutes"], minutes)),
                Card("Slowdown on spot", _or(known["slowdown"], lambda value: f"{number(value, 2)} times")),
            ]
        )
    ]


def _always_on(document: Document) -> Sequence[Block]:
    known = document["alwaysOn"]
    if known is None:
        return [Prose(["Nothing was reckoned for what runs beside the job."])]
    return [
        Cards(
            [
                Card("System nodes, a run", _or(known["systemUsd"], usd)),
                Card("Head of the job, a run", _or(known["headUsd"], usd)),
                Card("Together, an hour", _or(known["usdPerHour"], usd)),
            ]
        ),
        *_note(known["note"]),
    ]


def _article(document: Document) -> Sequence[Block]:
    known = document["seed"]
    if known is None:
        return [Prose(["The article's formula says nothing about this job."])]
    flexible = "more run time, and the cost is on-demand's"
    return [
        Cards(
            [
                Card("Alpha", _or(known["alphaPercent"], percent), "of the work on spot"),
                Card("S", _or(known["savingsPercent"], percent), "saved"),
                Card("Runtime flexibility", _or(known["runtimeFlexibilityPercent"], percent), flexible),
            ]
        ),
        *_note(known["note"]),
    ]


def _assumptions(document: Document) -> Sequence[Block]:
    job, market, tiers = document["job"], document["market"], document["tiers"]
    every, write = _or(job["checkpointEveryMinutes"], minutes), _or(job["checkpointWriteMinutes"], minutes)
    facts = [
        ("Work", f"{hours(job['workHours'])} on {_nodes(job)}"),
        ("A restart takes", _or(job["restartMinutes"], minutes)),
        ("Checkpoints", f"every {every}, a write takes {write}"),
        ("Market", "recorded" if market["source"] == "traces" else "drawn at random from a rate of evictions"),
        ("Recordings", ", ".join(market["names"]) or "none"),
        ("Evictions", _or(market["evictionsPerHour"], lambda rate: f"{number(rate, 2)} an hour")),
        ("An outage lasts", _or(market["outageHours"], hours)),
        ("Spot is there", _availability(document)),
        ("Runs of each policy", number(market["runs"])),
        ("Bill", document["bill"]),
    ]
    columns = [Column("Pool"), Column("Capacity"), Column("USD a node hour", numeric=True), Column("Source", long=True)]
    rows = [Row([each["pool"], each["capacity"], _price(each), _source(each)]) for each in tiers]
    return [Facts(facts), *([Table("Prices", columns, rows)] if rows else [])]


def _availability(document: Document) -> str:
    shares = document["market"]["availabilityPercent"] or []
    spot = [each["pool"] for each in document["tiers"] if each["capacity"] == "spot"]
    if len(shares) != len(spot):
        return ", ".join(percent(share) for share in shares) or UNKNOWN
    named = [f"{percent(share)} of the time in {pool}" for pool, share in zip(spot, shares, strict=True)]
    return ", ".join(named) or UNKNOWN


def _price(tier: Document) -> str:
    return _or(tier["usdPerNodeHour"], lambda usd: number(usd, 2 if usd >= 1 else 4))


def _source(tier: Document) -> str:
    source = tier["priceSource"] or UNKNOWN
    return f"assumed: {source}" if tier["assumed"] else source


def _setting(policy: Document, key: str) -> str:
    value = (policy["settings"] or {}).get(key)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return "none" if value is None else str(value)


def _note(note: str | None) -> list[Block]:
    return [Prose([note])] if note else []


def _nodes(job: Document) -> str:
    return "1 node" if job["nodes"] == 1 else f"{job['nodes']} nodes"


def _hours(value: float) -> str:
    """As `hours`, but in hours alone, so that a column can be compared."""
    return f"{number(value, 1)}{NBSP}h"


def _percent(value: float) -> str:
    """As `percent`, with the decimal always, for the same reason."""
    return f"{number(value, 1)}{NBSP}%"


def _or(value: Any, write: Callable[[Any], str], otherwise: str = UNKNOWN) -> str:
    return otherwise if value is None else write(value)


SECTIONS: Final[Sequence[tuple[str, Callable[[Document], Sequence[Block]]]]] = [
    ("Recommendation", _recommendation),
    ("Warnings", _warnings),
    ("Cost and time", _picture),
    ("Policies", _policies),
    ("Example runs", _timelines),
    ("Break-even", _break_even),
    ("Checkpoints", _checkpoints),
    ("Always on", _always_on),
    ("The article's figures", _article),
    ("Assumptions", _assumptions),
]
"""Every section, in the order of the page."""
