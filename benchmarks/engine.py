"""Our preview beside the real engine's, on the same stack in the same run; no cloud and no network on either side."""

import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import Times, machine, times
from benchmarks.pages import between, table
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
    with tempfile.TemporaryDirectory() as folder, served(StandIn()) as providers:
        text = _measured(Engine(TOOLS, Path(folder), StandIn(), providers))
    between(PAGE, text, "engine")
    print(text)


def _measured(engine: Engine) -> str:
    from spotproof.preview.preview import preview_stack  # noqa: PLC0415  # policies and prices, which one run needs not

    project = load_project(ROOT)
    target = project.target(STACK)
    stack = engine.stack(STACK, settings_of(STACK))
    once = lambda: capture(project.program, target)  # noqa: E731
    ours, complete = times(once), times(lambda: preview_stack(project.program, target, checks=CHECKS), runs=5)
    inline = times(lambda: _well(stack), runs=5)
    ours_whole = times(lambda: _command([COMMAND, "preview", STACK], ROOT, {}), runs=5)
    unknown_only = times(lambda: _command([COMMAND, "preview", STACK, "--mode", "unknown"], ROOT, {}), runs=5)
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
    own, its = _profile(once), _profile(lambda: _well(stack))
    return f"{head}\n\n{figures}\n\n{_where(own, 'ours, warm')}\n\n{_where(its, 'the engine, warm: the part in Python')}"


def _well(stack: Stack) -> None:
    run = stack.preview()
    assert not run.error, run.error


def _pulumi(engine: Engine, stack: Stack, *more: str) -> None:
    status, printed = engine.run(["preview", "--stack", stack.name, *more], stack.folder)
    assert status == 0, printed


def _command(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env={**os.environ, **environment})


class _Profile:
    """Seconds of one call on the clock, and by what they were spent on in the calling thread."""

    def __init__(self, run: Callable[[], object]) -> None:
        profiler = cProfile.Profile()
        started, used = time.perf_counter(), time.process_time()
        profiler.runcall(run)
        self.seconds = time.perf_counter() - started
        self.used = time.process_time() - used
        self.parts = _by_part(vars(pstats.Stats(profiler))["stats"])


def _profile(run: Callable[[], object]) -> _Profile:
    return _Profile(run)


def _by_part(stats: dict[tuple[str, int, str], Any]) -> list[tuple[str, float]]:
    """Own seconds by package, the largest first."""
    found: dict[str, float] = {}
    for (file, _, function), spent in stats.items():
        part = _part(file, function)
        found[part] = found.get(part, 0.0) + spent[2]
    return sorted(found.items(), key=lambda item: -item[1])[:_TOP]


def _part(file: str, function: str) -> str:
    parts = Path(file).parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1]
    for ours in ("spotproof", "infra", "tests"):
        if ours in parts:
            return "/".join(parts[parts.index(ours) :][:2]).removesuffix(".py")
    return f"Python's {Path(file).stem}" if file.endswith(".py") else "built-in functions"


def _where(profile: _Profile, name: str) -> str:
    lines = [(part, seconds, f"{100 * seconds / profile.seconds:.0f} %") for part, seconds in profile.parts]
    head = f"Where the time goes, {name} ({profile.seconds:.2f} s under the profiler, {profile.used:.2f} s of it used by this process):"
    return f"{head}\n\n" + table(("part", "own seconds", "share"), lines)


if __name__ == "__main__":
    main()
