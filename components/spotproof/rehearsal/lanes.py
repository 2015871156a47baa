"""What every rank and every node did, from when to when: the lanes of a timeline."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from spotproof.rehearsal.history import (
    DISRUPTED,
    History,
    Job,
    Life,
    Node,
    is_leaving,
    is_true,
    node_of,
    phase,
    rank,
    role,
    works,
)
from spotproof.rehearsal.marks import CLOSES
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.recording import Recording

Phase: TypeAlias = Literal["waiting", "starting", "up", "leaving", "closed"]

SHORTEST_SECONDS: Final = 0.02
SPOT_MARKET: Final = "spot market"


@dataclass(frozen=True)
class Stretch:
    """One phase of a lane, in seconds; `pool` where it has one."""

    phase: Phase
    start: float
    end: float
    pool: str = ""


@dataclass(frozen=True)
class Lane:
    """One rank over all attempts, one node, or the market."""

    group: Literal["pods", "nodes", "market"]
    name: str
    note: str
    stretches: tuple[Stretch, ...]


def lanes(history: History) -> list[Lane]:
    """The market where it was closed, every rank of every job, every node."""
    return [*_market(history.recording), *_ranks(history), *_nodes(history)]


def _market(recording: Recording) -> Iterator[Lane]:
    closed = next((mark.at for mark in recording.marks if mark.did == CLOSES), None)
    if closed is not None:
        yield Lane("market", SPOT_MARKET, "closed", (Stretch("closed", closed, recording.seconds),))


def _ranks(history: History) -> Iterator[Lane]:
    pools = {node.name: node.pool for node in history.nodes.values()}
    for job in history.jobs:
        for name, lives in _slots(job):
            found: list[Stretch] = []
            for life in lives:
                found = _before(found, life.versions[0].at)
                found += _stretches(life, _of_a_pod, history.seconds, lambda pod: pools.get(node_of(pod), ""))
            attempts = f"{len(lives)} pod{'' if len(lives) == 1 else 's'}"
            yield Lane("pods", name, attempts, tuple(found))


def _slots(job: Job) -> list[tuple[str, list[Life]]]:
    """The pods that were one rank, one after another: by their index, else by which place was free."""
    found: dict[str, list[Life]] = {}
    for life in job.pods:
        if index := rank(life.last):
            found.setdefault(f"{role(life.last)} {index.rpartition('-')[2]}", []).append(life)
            continue
        number = 0
        while (taken := found.get(f"{role(life.last)} {number}")) and not _is_free(taken[-1], life.versions[0].at):
            number += 1
        found.setdefault(f"{role(life.last)} {number}", []).append(life)
    return sorted(found.items())


def _is_free(life: Life, at: float) -> bool:
    return life.gone is not None and life.gone <= at + 1


def _before(stretches: list[Stretch], at: float) -> list[Stretch]:
    """What was before a moment: a new pod ends what the old one still did."""
    return [Stretch(each.phase, each.start, min(each.end, at), each.pool) for each in stretches if each.start < at]


def _nodes(history: History) -> Iterator[Lane]:
    for node in sorted(history.nodes.values(), key=_appears):
        claim = node.claim
        found: list[Stretch] = []
        if claim is not None and claim.born is not None:
            found.append(Stretch("starting", claim.born, node.life.versions[0].at, node.pool))
        found += _stretches(node.life, _of_a_node, history.seconds, lambda _, node=node: node.pool)
        yield Lane(
            "nodes", node.short, ", ".join(each for each in (node.pool, node.zone) if each), tuple(_merged(found))
        )


def _appears(node: Node) -> float:
    first = node.claim or node.life
    return first.versions[0].at


def _stretches(
    life: Life, phase_of: Callable[[Json], Phase | None], end: float, pool_of: Callable[[Json], str]
) -> list[Stretch]:
    found: list[Stretch] = []
    for number, each in enumerate(life.versions):
        until = life.versions[number + 1].at if number + 1 < len(life.versions) else end
        now = None if each.change == "deleted" else phase_of(each.object)
        if now is not None:
            found.append(Stretch(now, each.at, max(until, each.at), pool_of(each.object)))
    return list(_merged(found))


def _merged(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """One stretch for what goes on; what is too short to be seen is left out."""
    held: Stretch | None = None
    for each in stretches:
        if held and (held.phase, held.pool, held.end) == (each.phase, each.pool, each.start):
            held = Stretch(held.phase, held.start, each.end, held.pool)
            continue
        yield from _seen(held)
        held = each
    yield from _seen(held)


def _seen(stretch: Stretch | None) -> Sequence[Stretch]:
    return [stretch] if stretch and stretch.end - stretch.start >= SHORTEST_SECONDS else []


def _of_a_pod(pod: Json) -> Phase | None:
    if phase(pod) in {"Failed", "Succeeded"}:
        return None
    if is_leaving(pod) or is_true(pod, DISRUPTED):
        return "leaving" if node_of(pod) else None
    if works(pod):
        return "up"
    return "starting" if node_of(pod) else "waiting"


def _of_a_node(node: Json) -> Phase:
    if is_leaving(node) or node.get("spec", {}).get("unschedulable"):
        return "leaving"
    return "up" if is_true(node, "Ready") else "starting"
