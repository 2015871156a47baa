"""`make reliability`: the suites on the real engine and the real control plane, many times in a row.

A test that passes nine times in ten is worse than none: it teaches people to run it again.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from xml.etree import ElementTree as ET

from benchmarks.measure import machine
from benchmarks.pages import between, table

ROOT: Final = Path(__file__).resolve().parent.parent
E2E: Final = ("-n", "5", "--dist", "loadscope", "--no-loadscope-reorder")
SUITES: Final[Mapping[str, Sequence[str]]] = {
    "engine": ("tests/engine",),
    "e2e": ("tests/e2e", "--ignore=tests/e2e/controller", *E2E),
    "controller": ("tests/e2e/controller", *E2E),
}
"""Tests, and with what they run beside pytest's own options: as in the Makefile, where `make e2e` is the last two."""
RUNS: Final = 10
OUTPUT: Final = ROOT / ".reliability"
"""What the runs that failed had to say."""


@dataclass(frozen=True)
class Run:
    """What one run of a suite came to, and the names of the tests that did not pass."""

    passed: int
    skipped: int
    seconds: float
    failed: tuple[str, ...]

    @classmethod
    def of(cls, suite: str, report: Path) -> Self:
        """Run it once, in a process of its own."""
        command = [sys.executable, "-m", "pytest", f"--junitxml={report}", *SUITES[suite]]
        done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        if not report.exists():
            raise RuntimeError(f"{suite} did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        (one,) = ET.parse(report).getroot().iter("testsuite")  # noqa: S314 - pytest's own file of a moment ago
        cases = list(one.iter("testcase"))
        failed = tuple(case.get("name", "") for case in cases if case.find("failure") is not None or _broke(case))
        if failed:
            OUTPUT.mkdir(exist_ok=True)
            (OUTPUT / f"{suite}-{report.stem}.log").write_text(done.stdout, encoding="utf-8")
        skipped = sum(case.find("skipped") is not None for case in cases)
        return cls(len(cases) - len(failed) - skipped, skipped, float(one.get("time", 0)), failed)


def _broke(case: ET.Element) -> bool:
    return case.find("error") is not None


def main(runs: int = RUNS, suites: Iterable[str] = SUITES) -> None:
    """Run every suite so often, and write the counts into docs/reliability.md."""
    for suite in suites:
        with tempfile.TemporaryDirectory() as folder:
            done = [_said(Run.of(suite, Path(folder, f"{number}.xml")), number) for number in range(1, runs + 1)]
        rows = [(i, one.passed, len(one.failed), one.skipped, f"{one.seconds:.0f} s") for i, one in enumerate(done, 1)]
        good = sum(not one.failed for one in done)
        failed = sorted({name for one in done for name in one.failed})
        summary = f"{good} of {runs} runs in a row passed, on {machine()}."
        names = f"\n\nFailed: {', '.join(f'`{name}`' for name in failed)}." if failed else ""
        figures = table(("run", "passed", "failed", "skipped", "time"), rows)
        between(ROOT / "docs" / "reliability.md", f"{summary}\n\n{figures}{names}", suite)


def _said(run: Run, number: int) -> Run:
    names = "".join(f"\n  {name}" for name in run.failed)
    sys.stdout.write(f"run {number}: {run.passed} passed, {len(run.failed)} failed, {run.seconds:.0f} s{names}\n")
    sys.stdout.flush()
    return run


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS, tuple(sys.argv[2:]) or SUITES)
