"""The engine of `make tools`, and the life of each stack on it; without it nothing here runs, and one line says so."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.engine.driver import Engine
from tests.engine.life import Life
from tests.engine.standin.provider import StandIn
from tests.engine.standin.serving import served
from tests.stacks.runs import ROOT, STACKS

TOOLS = Path(os.environ.get("SPOTPROOF_TOOLS", ROOT / ".tools"))
NOT_RUN = (
    f"NOT RUN: tests/engine, what only the real Pulumi engine can prove. There is no {TOOLS}/bin/pulumi; "
    "`make tools` builds it (it needs Go), or SPOTPROOF_TOOLS names a folder that has it"
)
_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not _is_built():
        for item in items:
            if item.path.is_relative_to(_HERE):
                item.add_marker(pytest.mark.skip(reason=NOT_RUN))


class ByStack(LoadScopeScheduling):
    """One worker has the whole life of a stack, whose tests share every command of the engine.

    Marks for `--dist loadgroup` did not reach the scheduler (pytest-xdist 3.8.0 with pytest 9: no test got its group).
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((stack for stack in STACKS if f"[{stack}" in nodeid), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return ByStack(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _is_built():
        terminalreporter.write_line(NOT_RUN, yellow=True, bold=True)


def _is_built() -> bool:
    return (TOOLS / "bin" / "pulumi").is_file()


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Generator[Engine]:
    """The engine with stand-in clouds of its own; one a worker."""
    standin = StandIn()
    with served(standin) as providers:
        yield Engine(TOOLS, tmp_path_factory.mktemp("engine"), standin, providers)


@pytest.fixture(scope="session")
def lives(engine: Engine) -> dict[str, Life]:
    """Every life begun by this worker; pytest makes a parameter's fixture again when tests of another came between."""
    return {name: Life(engine, name) for name in STACKS}


@pytest.fixture(scope="session", params=STACKS)
def life(request: pytest.FixtureRequest, lives: dict[str, Life]) -> Life:
    """One stack file on the engine."""
    return lives[str(request.param)]
