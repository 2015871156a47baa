"""`make bench`: measures the preview and writes the figures into README.md and docs/performance.md."""

import cProfile
import pstats
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Times, command_times, machine, times
from benchmarks.pages import between
from benchmarks.synthetic import GROUPS, IN_A_GROUP, program
from spotproof.preview.cost import estimate
from spotproof.preview.lint import lint_inputs
from spotproof.preview.policy_run import run_policies
from spotproof.preview.preview import Checks, preview_stack
from spotproof.preview.project import Project, load_project
from spotproof.preview.run import capture
from spotproof.preview.schemas import check_objects
from spotproof.prices import load_prices

ROOT = Path(__file__).resolve().parent.parent
COMMAND = str(Path(sys.executable).parent / "spotproof")
TOP = 14


def main() -> None:
    """Measure, and write what was measured."""
    project = load_project(ROOT)
    target = project.target("aws-prod")
    stacks = project.stack_files
    whole = command_times([COMMAND, "preview", "--all"])
    startup = command_times([sys.executable, "-c", IMPORTS])
    warm = times(lambda: capture(project.program, target))
    captured = capture(project.program, target)
    parts = _parts(captured)
    judged = times(lambda: preview_stack(project.program, target, checks=_checks()), runs=5)
    every = times(lambda: _all_stacks(project), runs=5)
    synthetic = times(lambda: capture(program), runs=5)
    count = len(captured.resources)
    rows = [
        (f"`spotproof preview --all`: {len(stacks)} stacks, both modes, process start included", whole),
        ("start of Python and import of the modules an AWS stack uses", startup),
        (f"all {len(stacks)} stacks, warm, in one process: both modes, lint, schemas, policies, cost", every),
        (f"aws-prod ({count} resources), warm, in process: one run of the program", warm),
        ("aws-prod, warm, in process: both modes, lint, schemas, policies, cost", judged),
        *((f"of it: {name}, one mode", measured) for name, measured in parts.items()),
        (f"a synthetic program of {GROUPS * IN_A_GROUP:,} resources, warm, in process: one run", synthetic),
    ]
    table = _table(rows)
    between(ROOT / "README.md", table)
    between(ROOT / "docs" / "performance.md", f"{table}\n\n{_profile(lambda: capture(program))}")
    print(table)


IMPORTS = """
import pulumi_aws as aws, pulumi_kubernetes as k8s, pulumi_policy, spotproof.clouds.aws.environment
aws.eks.Cluster, aws.ec2.Vpc, aws.iam.Role, aws.s3.Bucket, aws.sqs.Queue, aws.cloudwatch.EventRule, aws.kms.Key
k8s.helm.v3.Release, k8s.core.v1.Namespace, k8s.rbac.v1.RoleBinding, k8s.apiextensions.CustomResource
"""


def _all_stacks(project: Project) -> None:
    for stack in project.stack_files:
        preview_stack(project.program, project.target(stack), checks=_checks())


def _checks() -> Checks:
    return Checks(
        judge=lambda one: run_policies(one.resources, project=one.project, stack=one.stack),
        price=lambda one: estimate(one, load_prices()),
    )


def _parts(captured: Any) -> dict[str, Times]:
    return {
        "lint of every input": times(lambda: lint_inputs(captured)),
        "schemas of Kubernetes objects": times(lambda: check_objects(captured)),
        "policies": times(lambda: run_policies(captured.resources, project="spotproof", stack="aws-prod")),
        "cost": times(lambda: estimate(captured, load_prices())),
    }


def _table(rows: list[tuple[str, Times]]) -> str:
    lines = [f"Measured on {machine()}; median (fastest to slowest).", "", "| what | time |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {what} | {measured} |" for what, measured in rows)])


def _profile(run: Callable[[], object]) -> str:
    """Where the time of a run goes: cumulative seconds under the profiler, which itself slows it down."""
    profiler = cProfile.Profile()
    started = time.perf_counter()
    profiler.runcall(run)
    total = time.perf_counter() - started
    found: dict[tuple[str, int, str], Any] = vars(pstats.Stats(profiler))["stats"]
    own = sorted(((spent[2], spent[0], where) for where, spent in found.items()), reverse=True)[:TOP]
    lines = [
        f"| {seconds:.2f} | {100 * seconds / total:.0f} % | {calls:,} | `{_where(*at)}` |" for seconds, calls, at in own
    ]
    head = "| own seconds | share | calls | function |\n| --- | --- | --- | --- |"
    return f"Profile of the synthetic program ({total:.2f} s under the profiler):\n\n{head}\n" + "\n".join(lines)


def _where(file: str, line: int, function: str) -> str:
    path = Path(file)
    short = "/".join(path.parts[-3:]) if path.suffix == ".py" else file
    return f"{short}:{line} {function}" if path.suffix == ".py" else function


if __name__ == "__main__":
    main()
