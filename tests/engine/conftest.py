"""The engine of `make tools`, and the life of each stack on it; without it nothing here runs, and one line says so."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.engine.driver import Engine
from tests.engine.life import Life, on_one_worker
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


@pytest.fixture(scope="session", params=on_one_worker(STACKS))
def life(request: pytest.FixtureRequest, engine: Engine) -> Life:
    """One stack file on the engine."""
    return Life(engine, str(request.param))
