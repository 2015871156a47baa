"""Tests on a real control plane: one a module, with the parts that the module names, and a namespace a test."""

import os
import re
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.tools import TOOLS_VARIABLE, Tools, ToolsMissing, find_tools
from tests.e2e.stage import Stage, prepare

LOG_LINES: Final = 25
LONGEST_FIRST: Final = (
    "test_hands",
    "test_spoilt_jobset",
    "test_spoilt_rayjob",
    "test_ways_back",
    "test_rehearse",
    "test_counts",
    "test_losses",
    "test_markets",
    "test_edges",
    "test_jobset_reclaim",
    "test_rayjob_reclaim",
    "test_existing_stack",
)
_numbers = count(1)
_logs = pytest.StashKey[Path]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest modules first: a worker has a whole module, and one that begins last leaves the other idle."""
    items.sort(key=lambda item: LONGEST_FIRST.index(item.path.stem) if item.path.stem in LONGEST_FIRST else 99)


@pytest.fixture(scope="session")
def tools() -> Tools:
    """What `make tools` built. A folder that is named and lacks something is a fault, none at all is a skip."""
    try:
        return find_tools(os.environ)
    except ToolsMissing as missing:
        if TOOLS_VARIABLE in os.environ:
            pytest.fail(str(missing))
        pytest.skip("needs what `make tools` builds")


@pytest.fixture(scope="module")
def plane(
    tools: Tools, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """The module's control plane.

    The module may set PARTS (Kubernetes alone where it does not) and INSTANCE_TYPES (as Karpenter's kwok provider reads
    them).
    """
    parts: Parts = getattr(request.module, "PARTS", Parts.CORE)
    types: list[dict[str, Any]] = getattr(request.module, "INSTANCE_TYPES", [])
    logs = tmp_path_factory.mktemp("logs")
    request.node.stash[_logs] = logs
    with ControlPlane(tools, parts, instance_types=types, keep_logs=logs) as running:
        yield running


@pytest.fixture
def namespace(plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own, with its service account there; removed afterwards, nobody waits for it."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower())[:40].strip("-")
    name = f"{words}-{next(_numbers)}"
    plane.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    plane.kube.wait(lambda: plane.kube.find("v1", "ServiceAccount", "default", name), "its service account", 30)
    yield name
    plane.kube.delete("v1", "Namespace", name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test carries the end of every log, and the folder where they are kept whole."""
    report = yield
    running = getattr(item, "funcargs", {}).get("plane")
    module = item.getparent(pytest.Module)
    kept_by = module.stash.get(_logs, None) if module is not None else None
    # where the last teardown of a module fails, the control plane is gone, and its logs with it
    if report.failed and isinstance(running, ControlPlane) and kept_by is not None and running.logs.is_dir():
        kept = running.save_logs(kept_by / item.name)
        for name in running.pids():
            report.sections.append((f"{name}, the end of its log in {kept}", running.tail(name, LOG_LINES)))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Said once, and loudly: skipped tests are easily overlooked."""
    try:
        find_tools(os.environ)
    except ToolsMissing as missing:
        terminalreporter.write_line(f"NOT RUN: tests/e2e. {missing}", red=True, bold=True)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "soak: a sample of `make soak`, some minutes of a worker")
    config.addinivalue_line("markers", "slow: waits for a minute, since what it waits for cannot be made to hurry")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the stories that are seen to tests/recordings")


@pytest.fixture(scope="module")
def prepared(plane: ControlPlane) -> ControlPlane:
    """The module's control plane with the pools and admission policies of a stack."""
    prepare(plane)
    return plane


@pytest.fixture
def stage(prepared: ControlPlane, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A workspace of the test's own, recorded."""
    record = bool(request.config.getoption("--record"))
    with Stage(prepared, f"test-{next(_numbers)}", record=record) as stage:
        yield stage
