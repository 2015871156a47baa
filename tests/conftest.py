"""What tests of every part use: golden files, and the files fetched from elsewhere."""

import gc
import os
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"

# 200 ms an example otherwise, which a busy machine does not keep
settings.register_profile("untimed", parent=settings(), deadline=None)
settings.load_profile("untimed")

APART: Final = {"engine": "make test-engine", "e2e": "make e2e"}
"""Folders of tests that need what `make tools` builds, and what runs them. They run when they are asked for by path."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if collection_path.parent == ROOT / "tests" and collection_path.name in APART:
        return None if any(path.is_relative_to(collection_path) for path in _asked(config)) else True
    return None


def pytest_collection_finish() -> None:
    """What is there by now stays: a full collection walks the SDKs' classes and 8,000 tests, which takes a second."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for name, command in APART.items():
        if any(path in (ROOT / "tests" / name).parents for path in _asked(config)):
            terminalreporter.write_line(
                f"not run: tests/{name}, which needs Go; `{command}` builds its tools and runs it"
            )


def _asked(config: pytest.Config) -> list[Path]:
    return [Path(config.invocation_params.dir, each.partition("::")[0]).resolve() for each in config.args]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the golden files instead of comparing with them")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, object], None]:
    """Compares a value with a file below tests/golden: text as it is, anything else as YAML, a list as documents."""
    write = bool(request.config.getoption("--golden"))

    def compare(name: str, value: object) -> None:
        path, text = GOLDEN / name, value if isinstance(value, str) else as_yaml(value)
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.relative_to(ROOT)} is not there; `make golden` writes it"
        assert text == path.read_text(encoding="utf-8"), f"{name} differs; if it should, `make golden` writes it"

    return compare


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of CRD schemas, traces and prices fetched from elsewhere, which are no part of the repository."""
    path = Path(os.environ.get("SPOTPROOF_SHARED", ROOT.parent / "shared"))
    if not path.is_dir():
        pytest.skip(f"needs the files fetched from elsewhere, and {path} is not there (set SPOTPROOF_SHARED)")
    return path


def as_yaml(value: object) -> str:
    """YAML to be read in a review: in the order given, text of several lines as lines."""
    yaml = YAML()
    yaml.width = 10_000  # folded text would end its lines in spaces
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.ignore_aliases = _never_aliased
    stream = StringIO()
    documents = value if isinstance(value, list) else [value]
    yaml.dump_all([_readable(document) for document in documents], stream)
    return stream.getvalue()


def _never_aliased(_value: object) -> bool:
    return True


def _readable(value: Any) -> Any:
    if isinstance(value, str):
        return LiteralScalarString(value) if "\n" in value else value
    if isinstance(value, Mapping):
        return {key: _readable(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [_readable(each) for each in value]
    return value
