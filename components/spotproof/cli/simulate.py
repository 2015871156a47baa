"""`spotproof simulate`: what a policy costs on recorded spot markets, run by run."""

import enum
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from spotproof.cli.output import problem_with, write

if TYPE_CHECKING:
    from spotproof.cli.simulate_options import Given, Times
    from spotproof.cli.simulate_report import Report
    from spotproof.economics.replay import Record
    from spotproof.economics.traces import Trace

WRONG: Final = 1
USED_WRONGLY: Final = 2


class ModelChoice(enum.StrEnum):
    """One answer a tick that is billed whole, as published figures have it, or time as it passes."""

    ticks = "ticks"
    continuous = "continuous"


class OrderChoice(enum.StrEnum):
    """Which of several spot tiers is taken, or asked, first."""

    listed = "listed"
    least_recently_failed = "least-recently-failed"


class BillChoice(enum.StrEnum):
    """What a spot node costs while its market's price moves."""

    fixed_at_launch = "fixed-at-launch"
    floating = "floating"


class FormatChoice(enum.StrEnum):
    """For people or for machines."""

    table = "table"
    json = "json"


def command(  # noqa: PLR0913  # one parameter an option
    *,
    traces: Annotated[list[Path], typer.Option(metavar="PATH...", help="Recorded markets: files, or folders of them.")],
    policy: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="spotproof, on-demand, spot-only, greedy, sticky, reversible, time-sliced, uniform-progress, up-plus, "
            "omniscient; or a FallbackPolicy object in YAML (FILE:NAME where the file has several).",
        ),
    ],
    work: Annotated[str, typer.Option(help="Useful running time of the job, as 48h.")],
    deadline: Annotated[str, typer.Option(help="When it has to be done, from its creation, as 60h.")],
    restart: Annotated[str, typer.Option(help="What every start costs until the job trains; 0 for nothing.")] = "12m",
    starts: Annotated[
        str, typer.Option(metavar="every:N|FILE", help="Ticks in which runs start in whole traces.")
    ] = "every:10",
    probe_every: Annotated[
        str | None, typer.Option(help="Time between two probes of other tiers; left out, all of the market is seen.")
    ] = None,
    probe_cost: Annotated[str, typer.Option(help="What a probe is billed for, in time of one node.")] = "10m",
    as_tiers: Annotated[
        bool, typer.Option("--as-tiers", help="The traces are the spot tiers of one job, in this order.")
    ] = False,
    order: Annotated[
        OrderChoice | None, typer.Option(help="Which of several tiers goes first; least-recently-failed if left out.")
    ] = None,
    on_demand_price: Annotated[float | None, typer.Option(help="USD per node hour; 3.06 if left out.")] = None,
    spot_price: Annotated[
        list[float] | None, typer.Option(help="USD per node hour, one for all tiers or one a tier; 0.9731 if left out.")
    ] = None,
    bill: Annotated[BillChoice, typer.Option(help="What spot costs while its price moves.")] = (
        BillChoice.fixed_at_launch
    ),
    price_history: Annotated[Path | None, typer.Option(help="Recorded prices of the traces' zones (CSV).")] = None,
    model: Annotated[ModelChoice, typer.Option(help="Whole ticks, or time as it passes.")] = ModelChoice.ticks,
    seed: Annotated[int, typer.Option(help="Of the moments within ticks, for --model continuous.")] = 0,
    report: Annotated[FormatChoice, typer.Option("--format", help="The report's form.")] = FormatChoice.table,
    output: Annotated[Path | None, typer.Option(help="Write the report here instead of to stdout.")] = None,
) -> None:
    """Replay a policy on recorded spot markets; every trace weighs the same in the total.

    Exit status 1: a file cannot be used. 2: used wrongly.
    """
    from spotproof.cli.simulate_options import Given, Usage  # noqa: PLC0415
    from spotproof.cli.simulate_policy_file import PolicyFileError  # noqa: PLC0415
    from spotproof.economics.market import Bill  # noqa: PLC0415
    from spotproof.economics.traces import TraceError  # noqa: PLC0415
    from spotproof.fallback.policy import Order  # noqa: PLC0415

    given = Given(
        policy, work, deadline, restart, probe_every, probe_cost, as_tiers, Order(order.value) if order else None,
        on_demand_price, tuple(spot_price or ()), Bill(bill.value), price_history,
        model is ModelChoice.continuous, seed,
    )  # fmt: skip
    if output is not None and (problem := problem_with(output)):
        raise _stop([problem], USED_WRONGLY)
    try:
        found = _simulated(given, traces, starts)
    except Usage as error:
        raise _stop(error.problems, USED_WRONGLY) from error
    except (PolicyFileError, TraceError) as error:
        raise _stop(str(error).splitlines(), WRONG) from error
    _deliver(found.as_json() if report is FormatChoice.json else found.as_table(), output)


def _simulated(given: "Given", paths: list[Path], starts: str) -> "Report":
    from spotproof.cli.simulate_options import OMNISCIENT, Usage, read_times  # noqa: PLC0415
    from spotproof.cli.simulate_policy import read_setup  # noqa: PLC0415
    from spotproof.cli.simulate_report import Report  # noqa: PLC0415
    from spotproof.economics.collect import collect  # noqa: PLC0415
    from spotproof.economics.price_history import read_prices  # noqa: PLC0415
    from spotproof.economics.replay import records, replay, total  # noqa: PLC0415
    from spotproof.economics.starts import read_starts  # noqa: PLC0415

    times = read_times(given)
    if given.policy == OMNISCIENT and find_spec("numpy") is None:
        raise Usage(["numpy is not installed; run `pip install 'spotproof[plan]'` in this environment"])
    found, notes = collect(paths)
    setup = read_setup(given, times, len(found) if given.as_tiers else 1)
    prices = read_prices(given.price_history) if given.price_history else None
    _say(notes)
    all_records = records(found, read_starts(starts), times.deadline, as_tiers=given.as_tiers, prices=prices)
    _say(_about_times(times, found, setup.probe_every, continuous=given.continuous))
    _say(_about_records(times, all_records))
    if prices:
        shifted = [trace.name for trace in found if prices.shifted(trace)]
        _say(f"{name}: is of another time than its prices, which begin with it here" for name in shifted)
    summaries = replay(setup.contender, setup.job, all_records)
    names = [record.name for record in all_records]
    return Report(given, times, setup.job, setup.probe_every, names, summaries, total(summaries))


def _about_times(times: "Times", traces: "Iterable[Trace]", probe_every: int, *, continuous: bool) -> Iterator[str]:
    """What a reader has to know before the figures."""
    gaps = sorted({trace.gap_seconds for trace in traces}) if not continuous else [1]
    coarsest = gaps[-1]
    if times.work + times.restart > times.deadline:
        yield "the deadline is shorter than the work and one restart: no policy can be in time, and every run is late"
    elif any(-(-(times.work + times.restart) // gap) > times.deadline // gap for gap in gaps):
        yield f"in ticks of up to {coarsest} s the work and one restart do not fit the deadline: runs will be late"
    if 0 < probe_every < coarsest:
        yield f"probes every {probe_every} s are more often than ticks of {coarsest} s: they are made in every tick"


def _about_records(times: "Times", all_records: "Iterable[Record]") -> Iterator[str]:
    for record in all_records:
        ticks = times.deadline // record.gap
        short = sum(min(map(len, run.capacities)) < ticks for run in record.runs)
        if short:
            yield (
                f"{record.name}: {short} of {len(record.runs)} runs have a record shorter than the deadline; "
                "one that the record ends before its work counts as late"
            )


def _deliver(text: str, output: Path | None) -> None:
    try:
        if output is None:
            print(text)  # noqa: T201
        else:
            write(output, lambda file: file.write(f"{text}\n"))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _stop([f"{error.filename or output}: {error.strerror}"], USED_WRONGLY) from error


def _say(notes: Iterable[str]) -> None:
    for note in notes:
        print(f"note: {note}", file=sys.stderr)  # noqa: T201


def _stop(problems: list[str], status: int) -> typer.Exit:
    for problem in problems:
        print(f"spotproof simulate: {problem}", file=sys.stderr)  # noqa: T201
    return typer.Exit(status)
