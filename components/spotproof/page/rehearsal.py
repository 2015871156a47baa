"""The report of `spotproof rehearse` as a page: what became of the job first, what the picture rests on last."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from spotproof.page.charts.lanes import Lane, Lanes, Place, Stretch
from spotproof.page.page import page
from spotproof.page.sections import (
    Block,
    Card,
    Cards,
    Column,
    Facts,
    Figure,
    Points,
    Prose,
    Row,
    Section,
    Table,
    Warnings,
)
from spotproof.page.text import NBSP, number, seconds

Document: TypeAlias = Mapping[str, Any]

MOST_LANES: Final = 32
"""Of one kind: a gang of hundreds would make a picture that nobody scrolls through."""


def html(document: Document) -> str:
    """One self-contained page.

    Args:
        document: What `spotproof rehearse --output x.json` writes. What does not exist is null, lists may be empty.
    """
    job = document["job"]
    roles = ", ".join(f"{_count(each['pods'], 'pod')} of {each['name']}" for each in job["roles"])
    policy = f"under policy {document['policy']}" if document["policy"] else "without a fallback policy"
    return page(
        f"Rehearsal of stack {document['stack']}",
        f"{job['kind']} {job['name']} in {job['namespace']}, {policy}: {roles}. Played on a local control plane, "
        f"Kubernetes {document['kubernetes']}, in {seconds(document['seconds'])}.",
        [Section(title, make(document)) for title, make in SECTIONS],
    )


def _outcome(document: Document) -> Sequence[Block]:
    blocks: list[Block] = []
    if document["unfinished"]:
        blocks.append(Warnings([f"The rehearsal did not go to its end: {document['unfinished']}."]))
    if document["holes"]:
        blocks.append(Warnings([f"The recording has a hole: {each}." for each in document["holes"]]))
    if document["figures"]:
        blocks.append(Cards(_cards(document)))
    if document["verdict"]:
        blocks.append(Points(document["verdict"]))
    return blocks or [Prose(["Nothing was seen of the job."])]


def _cards(document: Document) -> list[Card]:
    figures = document["figures"]
    back = [each["to"] - each["from"] for each in figures["interruptions"] if each["to"] is not None]
    cards = [
        Card("Nodes taken away", number(figures["reclaims"]), "the last in a dry market" if figures["dry"] else ""),
        Card("Pods lost with them", number(figures["podsEvicted"]), f"{number(figures['podsEnded'])} more had to go"),
        Card("Interruptions", number(len(figures["interruptions"])), _back(back)),
    ]
    if figures["maxRestarts"] is not None:
        counted = f"{number(figures['restartsCounted'])} of maxRestarts {number(figures['maxRestarts'])}"
        cards.append(Card("Restarts of the gang", number(figures["restarts"]), counted))
    since = figures["waitingSince"]
    if since is not None:
        cards.append(Card("Waiting at the end", seconds(document["seconds"] - since), "for a node"))
    return cards


def _back(took: Sequence[float]) -> str:
    if not took:
        return "never back"
    low, high = seconds(min(took)), seconds(max(took))
    return f"back after {low}" if low == high else f"back after {low} to {high}"


def _timeline(document: Document) -> Sequence[Block]:
    chart = lanes(document)
    if not chart.lanes:
        return [Prose(["Nothing was seen that could be drawn."])]
    caption = (
        "A line is a place in the gang, over all the pods that had it, or a node. The number in a block is its pool; "
        "those above are the moments of the table below."
    )
    left = len(document["lanes"]) - len(chart.lanes)
    return [Figure(chart, f"{caption} Not drawn: {_count(left, 'line')} more." if left else caption)]


def lanes(document: Document) -> Lanes:
    """The picture of a rehearsal."""
    pools = [each["name"] for each in document["pools"]]
    drawn = [
        lane
        for group in ("market", "pods", "nodes")
        for lane in [each for each in document["lanes"] if each["group"] == group][:MOST_LANES]
    ]
    made = [Lane(each["name"], each["note"], _stretches(each["phases"], pools)) for each in drawn]
    told = "; ".join(f"{seconds(each['at'])}: {each['text']}" for each in document["moments"])
    return Lanes(
        title="What every pod and node did",
        description=f"{told}." if told else "Nothing happened.",
        places=[Place(each["name"], each["capacity"]) for each in document["pools"]],
        lanes=made,
        marks=[each["at"] for each in document["moments"]],
        seconds=document["seconds"],
    )


def _stretches(phases: Sequence[Document], pools: Sequence[str]) -> list[Stretch]:
    return [
        Stretch(each["phase"], each["from"], each["to"], pools.index(each["pool"]) if each["pool"] in pools else None)
        for each in phases
    ]


def _moments(document: Document) -> Sequence[Block]:
    if not document["moments"]:
        return [Prose(["Nothing happened."])]
    columns = [Column("Moment"), Column("What happened", long=True)]
    rows = [Row([f"{place}:{NBSP}{_when(each)}", _told(each)]) for place, each in enumerate(document["moments"], 1)]
    return [Table("From the submission to the end", columns, rows)]


def _when(moment: Document) -> str:
    end = "" if moment["until"] is None else f"{NBSP}to{NBSP}{number(moment['until'], 1)}"
    return f"{number(moment['at'], 1)}{end}{NBSP}s"


def _told(moment: Document) -> str:
    text = f"{_capital(moment['text'])}."
    return f"{text} In the cluster's own words: {moment['quote']}" if moment["quote"] else text


def _rule(document: Document) -> Sequence[Block]:
    rule = document["rule"]
    if rule is None:
        carried = "The controller carried the rule out; what it did is told above, and in every moment below."
        none = "The job names no fallback policy, so no rule would move it."
        return [Prose([carried if document["policy"] else none])]
    blocks: list[Block] = [
        Prose([f"Policy {document['policy']}: {rule['tolerance']}.", *([rule["outlook"]] if rule["outlook"] else [])])
    ]
    if rule["steps"]:
        columns = [Column("After"), Column("To"), Column("Why", long=True)]
        rows = [Row([each["after"], each["to"], f"{_capital(each['reason'])}."]) for each in rule["steps"]]
        blocks.append(Table("Moves, counted from when the wait began", columns, rows))
    return blocks


def _basis(document: Document) -> Sequence[Block]:
    facts = [
        ("Kubernetes", document["kubernetes"] or "not known"),
        ("Control plane ready after", seconds(document["readySeconds"])),
        ("Recorded", seconds(document["seconds"])),
    ]
    return [Facts(facts), Points(document["limits"])]


def _count(many: int, noun: str) -> str:
    return f"{number(many)} {noun}{'' if many == 1 else 's'}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


SECTIONS: Final[Sequence[tuple[str, Callable[[Document], Sequence[Block]]]]] = [
    ("What became of the job", _outcome),
    ("Timeline", _timeline),
    ("Moment by moment", _moments),
    ("What the fallback rule would do", _rule),
    ("What is real here", _basis),
]
"""Every section, in the order of the page."""
