"""Tests on a real control plane: one a group of modules, with the parts that they name, and a namespace a test."""

import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.tools import TOOLS_VARIABLE, Tools, ToolsMissing, find_tools
from tests.e2e.stage import Stage, prepare

LOG_LINES: Final = 25
LONGEST_FIRST: Final = (
    ("test_spoilt_jobset", "test_losses"),
    ("test_hands", "test_edges"),
    ("test_in_between", "test_refusals"),
    ("test_deadlock", "test_brakes", "test_policies", "test_upgrade"),
    ("test_claims",),
    ("test_ways_back", "test_counts"),
    ("test_rehearse",),
    ("test_markets",),
    ("test_spoilt_rayjob",),
    ("test_jobset_reclaim", "test_move_by_hand", "test_dry_market"),
    ("test_rayjob_reclaim", "test_rayjob_move"),
    ("test_controller_process",),
    ("test_existing_stack",),
    ("test_placed",),
    ("test_seeds",),
)
"""Modules that share a control plane, for a start costs 15 s of a core, and each test of theirs has a workspace of its
own and leaves nothing beside it. Any other module has its own. A worker has a whole group, and one that begins last
leaves the others idle."""
GOES_ON: Final[Mapping[str, tuple[str, ...]]] = {module: group for group in LONGEST_FIRST for module in group}
_numbers = count(1)
_logs = pytest.StashKey[Path]()


def group_of(module: str) -> tuple[str, ...]:
    """The modules that share a control plane with this one, in their order, itself among them."""
    return GOES_ON.get(module, (module,))


class ByGroup(LoadScopeScheduling):
    """A group is one worker's (`--dist loadscope`)."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(Path(nodeid.partition("::")[0]).stem)[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByGroup:
    return ByGroup(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest groups first, and the modules of a group one after the other."""

    def place(item: pytest.Item) -> tuple[int, int]:
        group = group_of(item.path.stem)
        rank = LONGEST_FIRST.index(group) if item.path.stem in GOES_ON else len(LONGEST_FIRST)
        return rank, group.index(item.path.stem)

    items.sort(key=place)


@pytest.fixture(scope="session")
def tools() -> Tools:
    """What `make tools` built. A folder that is named and lacks something is a fault, none at all is a skip."""
    try:
        return find_tools(os.environ)
    except ToolsMissing as missing:
        if TOOLS_VARIABLE in os.environ:
            pytest.fail(str(missing))
        pytest.skip("needs what `make tools` builds")


class Planes:
    """The control plane of the group whose tests run now; it ends with the last module of the group."""

    def __init__(self) -> None:
        self._group = ""
        self._stack = ExitStack()

    def of(self, group: str, made: Callable[[], ControlPlane]) -> ControlPlane:
        """The group's, made where another group's is there, or none."""
        if group != self._group:
            self.close()
            self._plane = self._stack.enter_context(made())
            self._group = group
        return self._plane

    def close(self) -> None:
        """End what is there."""
        self._group = ""
        self._stack.close()


@pytest.fixture(scope="session")
def planes() -> Iterator[Planes]:
    """One at a time."""
    with closing(Planes()) as planes:
        yield planes


@pytest.fixture(scope="module")
def plane(
    tools: Tools, planes: Planes, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """The control plane of the module's group.

    The module may set PARTS (Kubernetes alone where it does not) and INSTANCE_TYPES (as Karpenter's kwok provider reads
    them), as the others of its group do.
    """
    parts: Parts = getattr(request.module, "PARTS", Parts.CORE)
    types: list[dict[str, Any]] = getattr(request.module, "INSTANCE_TYPES", [])
    logs = tmp_path_factory.mktemp("logs")
    request.node.stash[_logs] = logs
    module = request.path.stem
    group = group_of(module)
    running = planes.of(group[0], lambda: ControlPlane(tools, parts, instance_types=types, keep_logs=logs))
    assert running.parts == parts, f"{module} is in a group whose control plane has {running.parts}"
    yield running
    if module == group[-1]:
        planes.close()


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
    # some thirty processes of Go on two cores: their garbage is collected when the heap is five times what lives, not
    # twice, and by one thread; of what they compute it saves 14 %
    os.environ.setdefault("GOGC", "400")
    os.environ.setdefault("GOMAXPROCS", "1")
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
