"""`python -m benchmarks.cluster`: what the controller changes for a job on a real control plane, in seconds and calls.

JobSet, KubeRay, the scheduler and the API server are the real ones, as local processes; nodes are kwok's and there at
once, so that no time to buy or boot one is in a figure. Each loss is played with the controller and without it.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, Final

from benchmarks.many_jobs import JOBS, many_jobs
from benchmarks.measure import machine
from benchmarks.pages import between, table
from spotproof.kube.waiting import NotSeen
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.tools import find_tools
from tests.conftest import ROOT
from tests.e2e.controller.gangs import EIGHT, RAYJOB, SECONDS, Gang
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.process import Controller
from tests.e2e.controller.scenery import furnished, running, submitted
from tests.e2e.controller.stage import WAYS, Controlled, claimed, nodes_of
from tests.e2e.jobs import SPOT_POOL, pools
from tests.soak.moves import MOVES
from tests.soak.play import PARTS, Theatre

RUNS: Final = 3
PAGE: Final = ROOT / "docs" / "performance.md"
_numbers = count(1)

Way = Callable[[Controlled, str], None]
Row = tuple[str, str, str, str]


def main() -> None:
    """Measure, print, and with --write put it into docs/performance.md."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=RUNS, help="of each loss and move; 0 for none")
    options.add_argument("--jobs", type=int, default=JOBS, help="that run at once, for the last figure; 0 for none")
    options.add_argument("--write", action="store_true", help="into docs/performance.md")
    chosen = options.parse_args()
    print(f"{machine()}, load of the machine before: {os.getloadavg()[0]:.1f}", flush=True)
    for name, text in _blocks(chosen.runs, chosen.jobs).items():
        print(text, flush=True)
        if chosen.write:
            between(PAGE, text, name)


def _blocks(runs: int, jobs: int) -> dict[str, str]:
    """What is written, by the name of its place on the page."""
    found = dict[str, str]()
    with ControlPlane(find_tools(os.environ), PARTS) as plane, Theatre(plane) as theatre:
        losses, moves = (_losses(theatre, runs), _moves(theatre, runs)) if runs else ([], [])
        if jobs:
            columns = ("jobs at once", "nodes that vanish one by one", "seconds to whole again", "not counted exactly")
            found["many"] = f"Measured on {machine()}.\n\n{table(columns, [many_jobs(theatre, jobs)])}"
    if not runs:
        return found
    types = pools().instance_types
    with ControlPlane(find_tools(os.environ), Parts.ALL, instance_types=types) as plane, Theatre(plane) as theatre:
        losses += _claims(theatre, runs)
    parts = [
        f"Measured on {machine()}; the median of {runs} runs, in brackets the fastest and the slowest.",
        table(("a node of the gang", "of a", "seconds to whole again", "without the controller"), losses),
        table(("move", "seconds to whole again", "calls of the controller", "of them writes"), moves),
    ]
    return {"cluster": "\n\n".join(parts), **found}


def _losses(theatre: Theatre, runs: int) -> list[Row]:
    """Every way in which a node goes that is there at once, of both kinds of job."""
    cases = [(way, gang) for gang in (EIGHT, RAYJOB) for way in WAYS]
    return _compared(theatre, runs, {(way.__name__, gang): partial(_loss, gang=gang, way=way) for way, gang in cases})


def _claims(theatre: Theatre, runs: int) -> list[Row]:
    """The same of a node that Karpenter made, whose NodeClaim is deleted, as its interruption handler does it."""
    plays = {("NodeClaim deleted", gang): partial(_bought_loss, gang=gang) for gang in (EIGHT, RAYJOB)}
    return _compared(theatre, runs, plays)


def _compared(theatre: Theatre, runs: int, plays: Mapping[tuple[str, Gang], Callable[..., float | None]]) -> list[Row]:
    """Each played with the controller, and then without.

    The controller asks the API server itself: the proxy that keeps its calls would take its time from the same cores.
    """
    theatre.alone.kill()
    with Controller(theatre.plane):
        with_it = [[play(theatre.plane, managed=True) for _ in range(runs)] for play in plays.values()]
    rows: list[Row] = []
    for ((way, gang), play), managed in zip(plays.items(), with_it, strict=True):
        alone = [play(theatre.plane, managed=False) for _ in range(runs)]
        rows.append((way, gang.kind, _said(managed), _said(alone)))
        print(rows[-1], flush=True)
    theatre.alone.start()
    return rows


def _bought_loss(plane: ControlPlane, gang: Gang, *, managed: bool) -> float | None:
    with Controlled(plane, f"claim-{next(_numbers)}") as here:
        pods = _whole(here, gang, managed=managed)
        return _until_whole(here, gang, nodes_of(pods)[0], claimed)


def _whole(here: Controlled, gang: Gang, *, managed: bool) -> list[Any]:
    tiers = spot(max_failures=5), on_demand()
    if managed:
        return running(here, gang, *tiers)
    submitted(here, gang, *tiers)
    return gang.runs(here, SPOT_POOL)


def _loss(plane: ControlPlane, gang: Gang, way: Way, *, managed: bool) -> float | None:
    """Seconds from the first sign of the loss to a whole gang without the pods that were lost; None where none came."""
    with Controlled(plane, f"loss-{next(_numbers)}", bought=False) as here:
        furnished(here, gang, spot=3)
        pods = _whole(here, gang, managed=managed)
        return _until_whole(here, gang, nodes_of(pods)[0], way)


def _until_whole(here: Controlled, gang: Gang, node: str, way: Way) -> float | None:
    lost, began = here.on(node), time.monotonic()
    way(here, node)
    try:
        gang.runs(here, SPOT_POOL, without=lost)
    except NotSeen:
        return None
    return time.monotonic() - began


def _moves(theatre: Theatre, runs: int) -> list[Row]:
    """Every kind of move: from what makes the controller act to the gang whole on its tier."""
    rows: list[Row] = []
    for name in (each for each, move in MOVES.items() if not move.fails):  # a job that has failed is not whole again
        played = [_move(theatre, name) for _ in range(runs)]
        seconds = _said(each for each, _ in played)
        calls = statistics.median(len(each) for _, each in played)
        writes = statistics.median(
            sum(not call.startswith(("get", "list", "watch")) for call in each) for _, each in played
        )
        rows.append((name, seconds, f"{calls:.0f}", f"{writes:.0f}"))
        print(rows[-1], flush=True)
    return rows


def _move(theatre: Theatre, name: str) -> tuple[float, Sequence[str]]:
    move = MOVES[name]
    with Controlled(theatre.plane, f"move-{next(_numbers)}", bought=False) as here:
        move.begin(here, move.gang)
        before, began = len(theatre.proxy.calls), time.monotonic()
        move.happen(here, move.gang)
        move.end(here)
        return time.monotonic() - began, [call.said for call in theatre.proxy.calls[before:]]


def _said(seconds: Iterable[float | None]) -> str:
    found = list(seconds)
    there = sorted(each for each in found if each is not None)
    if not there:
        return f"not within {SECONDS:.0f}"
    never = f"; {len(found) - len(there)} of {len(found)} not within {SECONDS:.0f}" if len(there) < len(found) else ""
    return f"{statistics.median(there):.1f} ({there[0]:.1f} to {there[-1]:.1f}){never}"


if __name__ == "__main__":
    main()
