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
    Points,
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
BESIDE: Final = 2
"""So many sentences beside what is to be pasted; more would push it off the first screen of a phone."""


def html(document: Document) -> str:
    """One self-contained page.

    Args:
        document: What `spotproof plan --format json` prints. What does not exist is null, and lists may be empty.
    """
    job = document["job"]
    due = "without a deadline" if job["deadlineHours"] is None else f"due within {hours(job['deadlineHours'])}"
    return page(
        f"Plan of policy {document['policy']} on {document['stack']}",
        f"{hours(job['workHours'])} of work on {_nodes(job['nodes'])}, {due}.",
        [Section(title, make(document)) for title, make in SECTIONS],
    )


def _recommendation(document: Document) -> Sequence[Block]:
    advice = document["recommendation"]
    best = next((each for each in document["policies"] if each["recommended"]), None)
    first, *others = advice["sentences"] or [f"Take {advice['name']}."]
    beside, below = others[:BESIDE], others[BESIDE:]
    return [
        *([Cards(_headline(best, document))] if best else []),
        Halves([Prose(beside, lead=first)], [Code("To paste into the stack file", advice["yaml"])]),
        *([Points(below)] if below else []),
    ]


def _headline(best: Document, document: Document) -> list[Card]:
    whole, (low, high), finish = document["onDemandAloneUsd"], best["savingsInterval"], best["finishHours"]
    cards = [
        Card("Saving", percent(best["savingsPercent"]), f"{percent(low)} to {percent(high)}"),
        Card("Mean cost of a run", usd(best["meanCostUsd"]), f"on-demand alone: {usd(whole)}"),
        Card("Half of the runs end by", _or(finish["median"], hours), f"{MOST} by {_or(finish['p95'], hours)}"),
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
        caption += f" Dots to the right of the picture: {number(chart.outside)}."
    return [Figure(chart, caption)]


def _policies(document: Document) -> Sequence[Block]:
    policies = document["policies"]
    if not policies:
        return [Prose(["No policy was tried."])]
    return [
        _table("What each policy comes to", policies, RESULTS, numeric=True),
        Figure(charts.savings(document), f"A bar is the mean; the line on it is its {MOST} interval."),
        *_bounds(document),
        _table("Where the time of a run goes", policies, TIMES, numeric=True),
        _table("What each policy sets", policies, SETTINGS, numeric=False),
    ]


RESULTS: Final[Sequence[Written]] = [
    ("Mean cost", lambda each: usd(each["meanCostUsd"])),
    ("Saving", lambda each: _percent(each["savingsPercent"])),
    ("Half end by", lambda each: _or(each["finishHours"]["median"], _hours)),
    (f"{MOST} end by", lambda each: _or(each["finishHours"]["p95"], _hours)),
    ("Late", lambda each: _or(each["latePercent"], _percent, "no deadline")),
    ("Unfinished", lambda each: _percent(each["unfinishedPercent"])),
]
TIMES: Final[Sequence[Written]] = [
    ("Evictions", lambda each: number(each["meanEvictions"], 1)),
    ("Share on spot", lambda each: _percent(each["spotSharePercent"])),
    ("Spot", lambda each: _hours(each["spotHours"])),
    ("On-demand", lambda each: _hours(each["onDemandHours"])),
    ("Waiting", lambda each: _hours(each["waitingHours"])),
]
SETTINGS: Final[Sequence[Written]] = [
    ("maxFailures", lambda each: _setting(each, "maxFailures")),
    ("pendingTimeout", lambda each: _setting(each, "pendingTimeout")),
    ("return", lambda each: _setting(each, "return")),
    ("deadline", lambda each: _setting(each, "deadline")),
]


def _bounds(document: Document) -> list[Block]:
    """The same policies at other rates of evictions, where only a node's rate is known."""
    columns = [Column("Policy"), Column("Mean cost", numeric=True), Column("Saving", numeric=True)]
    return [
        Table(
            f"The same at {number(bound['evictionsPerHour'], 2)} evictions per hour of running, "
            f"with {_nodes(bound['nodesHeldWaiting'])} held while the rest waits",
            columns,
            [Row([each["name"], *(write(each) for _, write in RESULTS[:2])]) for each in bound["policies"]],
        )
        for bound in document["bounds"]
    ]


def _table(title: str, policies: Sequence[Document], columns: Sequence[Written], *, numeric: bool) -> Table:
    rows = [Row([_names(each), *(write(each) for _, write in columns)], _badges(each)) for each in policies]
    return Table(title, [Column("Policy"), *(Column(name, numeric=numeric) for name, _ in columns)], rows)


def _names(policy: Document) -> str:
    """Its name, and those of policies that come to the same decisions here."""
    return " = ".join([policy["name"], *policy["same"]])


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
    pays = f"while the job runs for more than {_or(mtbf, hours)} between two evictions"
    words = "Staying on spot never pays here." if mtbf is None else f"Staying on spot pays {pays}."
    return [Figure(charts.break_even(document), f"{words} In closed form, for a job that stays on spot.")]


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
                Card("Slowdown on spot", _or(known["slowdown"], _times), f"now {_or(known['slowdownNow'], _times)}"),
            ]
        )
    ]


def _times(factor: float) -> str:
    return f"{number(factor, 2)} times"


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
                Card("Runtime flexibility", _or(known["runtimeFlexibilityPercent"], percent, "any"), flexible),
            ]
        ),
        *_note(known["note"]),
    ]


def _assumptions(document: Document) -> Sequence[Block]:
    job, market, tiers = document["job"], document["market"], document["tiers"]
    every, write = _or(job["checkpointEveryMinutes"], minutes), _or(job["checkpointWriteMinutes"], minutes)
    facts = [
        ("Work", f"{hours(job['workHours'])} on {_nodes(job['nodes'])}"),
        ("A restart takes", _or(job["restartMinutes"], minutes)),
        ("Checkpoints", f"every {every}, a write takes {write}"),
        ("A probe takes", f"{_or(job['probeMinutes'], minutes)} of one node"),
        ("Held while others wait", _nodes(job["nodesHeldWaiting"])),
        ("Market", "recorded" if market["source"] == "traces" else "drawn at random from a rate of evictions"),
        ("Recordings", ", ".join(market["names"]) or "none"),
        ("Evictions", _or(market["evictionsPerHour"], lambda rate: f"{number(rate, 2)} per hour of running")),
        ("An outage lasts", f"{_or(market['outageHours'], hours)} in the mean"),
        ("Spot is there", _availability(document)),
        ("Runs of each policy", f"{number(market['runs'])}, from seed {market['seed']}"),
        ("Price", document["bill"].replace("-", " ")),
    ]
    columns = [
        Column("Pool"),
        Column("Capacity"),
        Column("USD a node hour", numeric=True),
        Column("Assumed"),
        Column("Source", long=True),
    ]
    rows = [
        Row([each["pool"], each["capacity"], _price(each), "yes" if each["assumed"] else "no", each["priceSource"]])
        for each in tiers
    ]
    return [Facts(facts), *_note(market["note"]), *([Table("Prices", columns, rows)] if rows else [])]


def _availability(document: Document) -> str:
    shares = document["market"]["availabilityPercent"] or []
    spot = [each["pool"] for each in document["tiers"] if each["capacity"] == "spot"]
    if len(shares) != len(spot):
        return ", ".join(percent(share) for share in shares) or UNKNOWN
    named = [f"{percent(share)} of the time in {pool}" for pool, share in zip(spot, shares, strict=True)]
    return ", ".join(named) or UNKNOWN


def _price(tier: Document) -> str:
    return _or(tier["usdPerNodeHour"], lambda usd: number(usd, 2 if usd >= 1 else 4))


def _setting(policy: Document, key: str) -> str:
    value = (policy["settings"] or {}).get(key)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return "none" if value is None else str(value)


def _note(note: str | None) -> list[Block]:
    return [Prose([note])] if note else []


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count or 'no'} nodes"


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
