"""The pictures of a plan, from the document of `spotproof plan --format json`."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from spotproof.page.charts.bars import Bar, Bars
from spotproof.page.charts.line import Axis, Line
from spotproof.page.charts.scatter import Cloud, Scatter
from spotproof.page.charts.timeline import Band, Span, State, Timeline
from spotproof.page.text import hours, number, percent, usd

Document = Mapping[str, Any]
WAITING: Final = "waiting"


def cost_over_finish(document: Document) -> Scatter:
    """Every run of every policy, and what each policy comes to."""
    policies = document["policies"]
    clouds = [
        Cloud(
            name=each["name"],
            points=[(hour, cost) for hour, cost in each["points"]],
            centre=(each["finishHours"]["median"], each["meanCostUsd"]),
            until=each["finishHours"]["p95"],
            strong=each["recommended"],
            says=f"{each['name']}: {usd(each['meanCostUsd'])}, {_ends(each)}",
        )
        for each in policies
        if each["finishHours"]["median"] is not None
    ]
    words = "; ".join(cloud.says for cloud in clouds)
    reference = document["onDemandAloneUsd"]
    return Scatter(
        title="Cost over finish time",
        description=f"Mean cost of a run and the hour at which it ends, by policy. {words}.",
        value="Cost of a run",
        unit="USD",
        clouds=clouds,
        at=deadline(document),
        level=None if reference is None else (reference, f"on-demand: {usd(reference)}"),
    )


def savings(document: Document) -> Bars:
    """What each policy saves, with the interval of the estimate."""
    bars = [
        Bar(
            each["name"],
            each["savingsPercent"],
            tuple(each["savingsInterval"]) if each["savingsInterval"] else None,
            percent(each["savingsPercent"]),
            strong=each["recommended"],
        )
        for each in document["policies"]
    ]
    words = "; ".join(f"{bar.name} {bar.words}" for bar in bars)
    return Bars("Saving against on-demand", f"Saving by policy: {words}.", "Saving against on-demand", "%", bars)


def timelines(document: Document) -> Timeline:
    """One example run of every policy, on the same market."""
    policies = [each for each in document["policies"] if each["timeline"]]
    states = _states(document["tiers"], [span for each in policies for span in each["timeline"]])
    place = {(state.kind if state.kind == WAITING else state.name): at for at, state in enumerate(states)}
    bands: list[Band] = []
    for each in policies:
        spans = [
            Span(place[WAITING if _kind(span) == WAITING else span["pool"]], span["fromHours"], span["toHours"])
            for span in each["timeline"]
        ]
        note = f"until {hours(spans[-1].end)}"
        bands.append(Band(each["name"], note, spans, strong=each["recommended"]))
    return Timeline(
        title="One example run of every policy, on the same market",
        description="; ".join(_told(each) for each in policies) + ".",
        states=states,
        bands=bands,
        at=deadline(document),
    )


def break_even(document: Document) -> Line:
    """The saving as evictions come more often, and where it is nothing."""
    known, market = document["breakEven"], document["market"]
    curve = [(rate, saving) for rate, saving in known["curve"]]
    marks: list[tuple[tuple[float, float], str]] = []
    if (rate := market["evictionsPerHour"]) and (saving := _at(curve, rate)) is not None:
        marks.append(((rate, saving), f"this market: {percent(saving)}"))
    if known["mtbfHours"] and curve[0][0] <= 1 / known["mtbfHours"] <= curve[-1][0]:
        marks.append(((1 / known["mtbfHours"], 0.0), f"break-even at {number(1 / known['mtbfHours'], 2)}"))
    (first, high), (last, low) = curve[0], curve[-1]
    return Line(
        title="Saving over evictions",
        description=f"From {percent(high)} at {number(first, 2)} evictions an hour to {percent(low)} at "
        f"{number(last, 2)}. {'. '.join(words for _, words in marks)}.",
        across=Axis("Evictions per hour of running"),
        up=Axis("Saving against on-demand", "%"),
        points=curve,
        marks=marks,
        below="spot costs more than on-demand",
    )


def deadline(document: Document) -> tuple[float, str] | None:
    """The hour of the deadline, and its words."""
    hour = document["job"]["deadlineHours"]
    return None if hour is None else (hour, f"deadline {hours(hour)}")


def _ends(policy: Document) -> str:
    median, most = policy["finishHours"]["median"], policy["finishHours"]["p95"]
    rest = f"fewer than {percent(95)} end" if most is None else f"{percent(95)} by {hours(most)}"
    return f"half of the runs end by {hours(median)}, {rest}"


def _states(tiers: Sequence[Document], spans: Sequence[Document]) -> list[State]:
    """The tiers in their order, then what only a run names, then waiting."""
    pools = {each["pool"]: each["capacity"] for each in tiers}
    pools |= {span["pool"]: _kind(span) for span in spans if _kind(span) != WAITING and span["pool"] not in pools}
    return [*(State(pool, capacity) for pool, capacity in pools.items()), State(WAITING, WAITING)]


def _kind(span: Document) -> str:
    return span.get("capacity") or WAITING


def _told(policy: Document) -> str:
    held: dict[str, float] = {}
    for span in policy["timeline"]:
        held[_kind(span)] = held.get(_kind(span), 0.0) + span["toHours"] - span["fromHours"]
    return f"{policy['name']}: " + ", ".join(f"{hours(time)} {kind}" for kind, time in held.items())


def _at(curve: Sequence[tuple[float, float]], rate: float) -> float | None:
    for (a, low), (b, high) in pairwise(curve):
        if a <= rate <= b:
            return low + (high - low) * ((rate - a) / (b - a) if b > a else 0)
    return None
