"""Our preview beside the real engine's, on the same stack in the same run; no cloud and no network on either side."""

import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any, Final

from benchmarks.measure import machine, times
from benchmarks.pages import between, table
from spotproof.preview.preview import preview_stack
from spotproof.preview.project import load_project
from spotproof.preview.run import capture
from tests.engine.driver import Engine, Stack
from tests.engine.standin.provider import StandIn
from tests.engine.standin.serving import served
from tests.stacks.runs import CHECKS, ROOT, settings_of

STACK: Final = "aws-prod"
PAGE: Final = ROOT / "docs" / "performance.md"
COMMAND: Final = str(Path(sys.executable).parent / "spotproof")
TOOLS: Final = Path(os.environ.get("SPOTPROOF_TOOLS", ROOT / ".tools"))
NOT_RUN: Final = f"not measured against the real engine: there is no {TOOLS}/bin/pulumi (`make tools`)"
WARM_AT_LEAST: Final = 4.0
WHOLE_AT_LEAST: Final = 1.3
"""What is wanted of the quotients, warm and whole; less is printed, and fails nothing."""
_TOP: Final = 8


def main() -> None:
    """Measure, write the figures into docs/performance.md, and print them."""
    if not (TOOLS / "bin" / "pulumi").is_file():
        print(NOT_RUN)
        return
    standin = StandIn()
    with tempfile.TemporaryDirectory() as folder, served(standin) as providers:
        text = _measured(Engine(TOOLS, Path(folder), standin, providers))
    between(PAGE, text, "engine")
    print(text)


def _measured(engine: Engine) -> str:
    project = load_project(ROOT)
    target = project.target(STACK)
    stack = engine.stack(STACK, settings_of(STACK))

    def once() -> object:
        return capture(project.program, target)

    ours, complete = times(once), times(lambda: preview_stack(project.program, target, checks=CHECKS), runs=5)
    inline = times(lambda: _well(stack), runs=5)
    ours_whole = times(_ours_whole, runs=5)
    unknown_only = times(lambda: _ours_whole("--mode", "unknown"), runs=5)
    theirs = times(lambda: _pulumi(engine, stack), runs=5)
    packed = times(lambda: _pulumi(engine, stack, "--policy-pack", "policies"), runs=3)
    rows = [
        ("one run of the program, warm, in process", ours, inline, f"{WARM_AT_LEAST:.0f}"),
        ("the same; ours complete: both modes, lint, schemas, policies, cost", complete, inline, ""),
        ("whole command; ours complete, the engine's a bare preview", ours_whole, theirs, f"{WHOLE_AT_LEAST:.1f}"),
        ("whole command; ours in one mode", unknown_only, theirs, ""),
        ("whole command; ours complete, the engine's with the policy pack", ours_whole, packed, ""),
    ]
    figures = table(
        ("what", "ours", "the engine", "quotient", "wanted"),
        [(what, str(mine), str(its), f"{its.median / mine.median:.1f}", wanted) for what, mine, its, wanted in rows],
    )
    head = f"{STACK} on {machine()}; median (fastest to slowest)."
    split = table(
        ("processor time of one run", "on the clock", "in this process", "in processes it starts"),
        [
            _split("ours, warm: the program and our monitor are this process", once),
            _split(
                "the engine, warm: the program and the stand-in are this process, `pulumi` another",
                lambda: _well(stack),
            ),
            _split("`spotproof preview`", _ours_whole),
            _split("`pulumi preview`: the stand-in is this process", lambda: _pulumi(engine, stack)),
        ],
    )
    return f"{head}\n\n{figures}\n\n{split}\n\n{_profile(once)}"


def _well(stack: Stack) -> None:
    run = stack.preview()
    assert not run.error, run.error


def _pulumi(engine: Engine, stack: Stack, *more: str) -> None:
    status, printed = engine.run(["preview", "--stack", stack.name, *more], stack.folder)
    assert status == 0, printed


def _ours_whole(*more: str) -> None:
    subprocess.run([COMMAND, "preview", STACK, *more], check=True, capture_output=True, cwd=ROOT)


def _spent(run: Callable[[], object]) -> tuple[float, float, float]:
    """Seconds on the clock of a call, and of processor time in this process and in those it started."""
    started, own, others = time.perf_counter(), time.process_time(), getrusage(RUSAGE_CHILDREN)
    run()
    after = getrusage(RUSAGE_CHILDREN)
    children = after.ru_utime + after.ru_stime - others.ru_utime - others.ru_stime
    return time.perf_counter() - started, time.process_time() - own, children


def _split(name: str, run: Callable[[], object]) -> tuple[str, float, float, float]:
    return (name, *_spent(run))


def _profile(run: Callable[[], object]) -> str:
    """Where our own run goes, by package."""
    profiler = cProfile.Profile()
    started = time.perf_counter()
    profiler.runcall(run)
    total = time.perf_counter() - started
    found = _by_part(vars(pstats.Stats(profiler))["stats"])
    lines = [(part, seconds, f"{100 * seconds / total:.0f} %") for part, seconds in found]
    head = f"Where one run of ours goes ({total:.2f} s under the profiler):"
    return f"{head}\n\n{table(('part', 'own seconds', 'share'), lines)}"


def _by_part(stats: dict[tuple[str, int, str], Any]) -> list[tuple[str, float]]:
    """Own seconds by package, the largest first."""
    found: dict[str, float] = {}
    for (file, _, _), spent in stats.items():
        part = _part(file)
        found[part] = found.get(part, 0.0) + spent[2]
    return sorted(found.items(), key=lambda item: -item[1])[:_TOP]


def _part(file: str) -> str:
    parts = Path(file).parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1]
    for ours in ("spotproof", "infra", "tests"):
        if ours in parts:
            return "/".join(parts[parts.index(ours) :][:2]).removesuffix(".py")
    return f"Python's {Path(file).stem}" if file.endswith(".py") else "built-in functions"


if __name__ == "__main__":
    main()
