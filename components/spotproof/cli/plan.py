"""`spotproof plan`: what a policy and its neighbours cost a job, and which to take, before anything is bought."""

import enum
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import typer

from spotproof.cli.output import problem_with, write

if TYPE_CHECKING:
    from spotproof.cli.plan_options import Options
    from spotproof.cli.plan_stack import Stack
    from spotproof.economics.market import Bill
    from spotproof.economics.plan import Plan, Request, Task
    from spotproof.economics.sources import Bought, Source

WRONG: Final = 1
USED_WRONGLY: Final = 2
WEEK: Final = 7 * 24 * 3600
MEASURED_OUTAGE: Final = 5400
"""1.4 to 1.8 h, single GPU nodes on AWS in 2022 and 2023."""
PART: Final = 4
"""Of the runs, for the other bound of a gang's rate."""


class FormatChoice(enum.StrEnum):
    """For people, for machines, or for people without a terminal."""

    table = "table"
    json = "json"
    html = "html"


class BillChoice(enum.StrEnum):
    """What a node costs while its market's price moves."""

    fixed_at_launch = "fixed-at-launch"
    floating = "floating"


def command(  # noqa: PLR0913  # one parameter an option
    *,
    stack: Annotated[str, typer.Option(help="The stack whose pools, prices and policies are used.")],
    work: Annotated[str, typer.Option(help="Useful running time of the job, as 48h.")],
    policy: Annotated[str | None, typer.Option(help="The fallback policy; left out, the stack's only one.")] = None,
    deadline: Annotated[str | None, typer.Option(help="When the job has to be done, from its creation.")] = None,
    restart: Annotated[str | None, typer.Option(help="From a node to training; left out, as in the policy.")] = None,
    checkpoint_every: Annotated[
        str | None, typer.Option(help="Training time between two checkpoints; left out, as in the policy.")
    ] = None,
    checkpoint_write: Annotated[str, typer.Option(help="How long training stands still for one; 0 for none.")] = "1m",
    nodes: Annotated[int, typer.Option(help="Nodes of the gang; all of them train, or none.")] = 1,
    traces: Annotated[
        list[Path] | None, typer.Option(metavar="PATH...", help="Recorded markets, one file or several.")
    ] = None,
    eviction_rate: Annotated[
        str | None, typer.Option(help="Evictions per running hour of the whole job, as 0.3/h; or 0.3/h/node.")
    ] = None,
    outage: Annotated[str | None, typer.Option(help="How long spot is gone after an eviction, on average.")] = None,
    runs: Annotated[int, typer.Option(help="Runs to simulate, each on a market of its own.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of everything random: the same seed gives the same plan.")] = 0,
    probe_cost: Annotated[str, typer.Option(help="What one probe is billed for, in time of one node.")] = "10m",
    bill: Annotated[BillChoice, typer.Option(help="What spot costs while its price moves.")] = (
        BillChoice.fixed_at_launch
    ),
    report: Annotated[FormatChoice, typer.Option("--format", help="The report's form.")] = FormatChoice.table,
    output: Annotated[Path | None, typer.Option(help="Write the report here instead of to stdout.")] = None,
    program: Annotated[Path | None, typer.Option(help="The folder with Pulumi.yaml.")] = None,
) -> None:
    """Compare a fallback policy with its neighbours for one job: cost, finish, evictions, chance to be late.

    Exit status 1: something in the stack file, the prices or a trace cannot work. 2: used wrongly.
    """
    _installed(report)
    from spotproof.cli.plan_options import Given, Usage, read  # noqa: PLC0415

    try:
        options = read(
            Given(
                work, deadline, restart, checkpoint_every, checkpoint_write, nodes, tuple(traces or ()),
                eviction_rate, outage, runs, seed, probe_cost,
            )
        )  # fmt: skip
    except Usage as error:
        raise _stop(error.problems, USED_WRONGLY) from error
    if output is not None and (problem := problem_with(output)):
        raise _stop([problem], USED_WRONGLY)
    document = _document(stack, policy, program, options, bill)
    _deliver(document, report, output)


def _installed(report: FormatChoice) -> None:
    """Refuse to begin without the libraries of the extra `plan`."""
    needed = ["numpy", *(["jinja2"] if report is FormatChoice.html else [])]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        lacks = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        raise _stop([f"{lacks}; run `pip install 'spotproof[plan]'` in this environment"], USED_WRONGLY)
    if report is FormatChoice.html and find_spec("spotproof.page.plan") is None:
        raise _stop(["this release has no HTML page; write --format json or table"], USED_WRONGLY)


def _document(name: str, policy: str | None, program: Path | None, options: "Options", bill: BillChoice) -> Any:
    from spotproof.cli.plan_stack import ContentsError, always_on, idle_usd, read_stack  # noqa: PLC0415
    from spotproof.cli.preview import find_project  # noqa: PLC0415
    from spotproof.economics.market import Bill  # noqa: PLC0415
    from spotproof.economics.traces import TraceError  # noqa: PLC0415
    from spotproof.preview.project import ProjectError  # noqa: PLC0415
    from spotproof.settings import SettingsError  # noqa: PLC0415

    try:
        project = find_project(program)
        stack = read_stack(project, name, policy)
        requests = _requests(stack, options, Bill(bill.value))
    except ProjectError as error:
        raise _stop([str(error)], USED_WRONGLY) from error
    except (ContentsError, SettingsError, TraceError) as error:
        raise _stop(str(error).splitlines(), WRONG) from error
    own = stack.env.prices
    file = project.stack_files[name].parent / own if own else None
    # The stack's program runs in a process of its own, beside the simulation: it loads the SDK of a cloud.
    try:
        with ProcessPoolExecutor(1, get_context("spawn")) as beside:
            idle = beside.submit(idle_usd, project.root, name, file, makes_nodes=stack.env.provider.makes_nodes)
            plans = _plans(requests)
            cost = always_on(stack, idle.result())
    except BrokenProcessPool as error:
        raise _stop(
            ["a process was ended from outside, for want of memory perhaps; try fewer --runs"], WRONG
        ) from error
    return _written(stack, options, plans, cost)


def _plans(requests: "list[Request]") -> "list[Plan]":
    from spotproof.economics.plan import make_plan  # noqa: PLC0415

    return [make_plan(request) for request in requests]


def _requests(stack: "Stack", options: "Options", bill: "Bill") -> "list[Request]":
    """What is asked; for a gang whose nodes' rate is known a second time, for the case that they all go at once."""
    from spotproof.economics.plan import Request  # noqa: PLC0415
    from spotproof.economics.sources import Bought  # noqa: PLC0415

    task = _task(stack, options)
    bought = Bought(
        spot_usd=tuple(tier.usd or 0.0 for tier in stack.policy.spot),
        on_demand_usd=stack.on_demand.usd or 0.0,
        bill=bill,
    )
    request = Request(
        policy=stack.policy,
        task=task,
        on_demand=stack.on_demand,
        source=_source(options, task, bought),
        runs=options.runs,
        limits=stack.limits,
        assumed=stack.assumed,
    )
    if not options.per_node or options.nodes == 1:
        return [request]
    one = replace(options, evictions_per_hour=options.evictions_per_hour, per_node=False)
    together = replace(task, held=0)
    return [
        request,
        replace(request, task=together, source=_source(one, together, bought), runs=max(options.runs // PART, 1)),
    ]


def _task(stack: "Stack", options: "Options") -> "Task":
    from spotproof.economics.plan import Task  # noqa: PLC0415

    policy, nodes = stack.policy, options.nodes
    probed = nodes if stack.resolved.probe.nodes == "all" else 1
    return Task(
        work=options.work,
        deadline=options.deadline,
        restart=policy.restart if options.restart is None else options.restart,
        checkpoint_every=options.checkpoint_every or policy.checkpoint_every,
        checkpoint_write=options.checkpoint_write,
        nodes=nodes,
        # where each node goes by itself the others stay, and are paid for until the gang is whole again
        held=nodes - 1 if options.per_node else 0,
        probe=options.probe_cost * probed,
    )


def _source(options: "Options", task: "Task", bought: "Bought") -> "Source":
    from spotproof.economics.evictions import MEASURED_PER_HOUR, gang_rate  # noqa: PLC0415
    from spotproof.economics.random_market import Rate  # noqa: PLC0415
    from spotproof.economics.sources import MadeUp, recorded  # noqa: PLC0415

    needed = task.restart + task.running
    if options.traces:
        horizon = max(needed, options.deadline or 2 * needed)
        traces = _traces(options.traces)
        return recorded(traces, bought, horizon=horizon, needed=max(needed, options.deadline or 0), seed=options.seed)
    rate = MEASURED_PER_HOUR if options.evictions_per_hour is None else options.evictions_per_hour
    if options.per_node:
        rate = gang_rate(rate, options.nodes).one_by_one
    gone = MEASURED_OUTAGE if options.outage is None else options.outage
    end = max(6 * needed, 2 * (options.deadline or 0)) + WEEK
    return MadeUp(bought=bought, seed=options.seed, rate=Rate(rate, gone), end=end)


def _traces(paths: tuple[Path, ...]) -> Any:
    """All of them, or every sentence of what is wrong with some.

    Raises:
        TraceError: one of them cannot be used.
    """
    from spotproof.economics.traces import Trace, TraceError, read_trace  # noqa: PLC0415

    found: list[Trace] = []
    wrong: list[str] = []
    for path in paths:
        try:
            found.append(read_trace(path))
        except TraceError as error:
            wrong.append(str(error))
    if wrong:
        raise TraceError("\n".join(wrong))
    return found


def _written(stack: "Stack", options: "Options", plans: "list[Plan]", cost: Any) -> Any:
    from spotproof.economics.facts import Facts  # noqa: PLC0415
    from spotproof.economics.plan_document import About, document  # noqa: PLC0415
    from spotproof.economics.recommend import recommend  # noqa: PLC0415
    from spotproof.economics.settings_text import settings_text  # noqa: PLC0415
    from spotproof.economics.warnings import warnings  # noqa: PLC0415

    plan, *bounds = plans
    facts = Facts(plan.request)
    recommendation = recommend(plan, facts)
    about = About(
        stack=stack.name,
        policy=stack.resolved.name,
        source="traces" if options.traces else "rate",
        names=tuple(path.stem for path in options.traces),
        tiers=stack.tiers(),
        always_on=cost,
        yaml=settings_text(stack.resolved, recommendation.line, plan.request.task, facts.interval),
        rate_note=_market_note(options, stack),
        bounds=bounds,
    )
    return document(plan, facts, about, recommendation, warnings(plan, facts))


def _market_note(options: "Options", stack: "Stack") -> str:
    """What the market is taken from, and what of it is a guess."""
    tiers = len(stack.policy.spot)
    if options.traces:
        many = "each is a spot tier, in the policy's order" if tiers > 1 else "each weighs the same"
        return f"Recorded markets; {many}. Changes are put at a random moment of the tick in which they were seen."
    note = "Random markets with spells and outages as uneven as measured ones"
    note += f", the {tiers} spot tiers independent of each other." if tiers > 1 else "."
    if options.evictions_per_hour is None:
        note += " No rate or trace was given: the rate is that of single GPU nodes on AWS in 2022 and 2023."
    if options.nodes > 1 and options.per_node:
        note += (
            f" The rate was given for a node; here each of the {options.nodes} goes by itself, which stops the gang "
            "while the others are held and billed. The other bound, where all go at once, is under bounds."
        )
    elif options.nodes > 1:
        note += (
            f" The rate is that of the whole gang of {options.nodes}: write it as 0.3/h/node if it is a node's, and "
            "both bounds are shown."
        )
    return note


def _deliver(document: Any, report: FormatChoice, output: Path | None) -> None:
    form = _form(document, report)
    try:
        if output is None:
            form(sys.stdout)
        else:
            write(output, form)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _stop([f"{error.filename or output}: {error.strerror}"], USED_WRONGLY) from error


def _form(document: Any, report: FormatChoice) -> Callable[[IO[str]], object]:
    if report is FormatChoice.json:
        return lambda file: file.write(f"{json.dumps(document, indent=1)}\n")
    if report is FormatChoice.html:
        from importlib import import_module  # noqa: PLC0415

        page = import_module("spotproof.page.plan").html(document)
        return lambda file: file.write(page)
    from spotproof.cli import plan_table  # noqa: PLC0415

    return lambda file: plan_table.write(document, file)


def _stop(problems: list[str], status: int) -> typer.Exit:
    for problem in problems:
        print(f"spotproof plan: {problem}", file=sys.stderr)  # noqa: T201
    return typer.Exit(status)
