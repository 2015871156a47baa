"""The pack as Pulumi meets it: how it starts, what it says about itself, what its pages hold."""

import ast
import json
import os
import selectors
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc
from ruamel.yaml import YAML

from spotproof_policies.model import Policy
from spotproof_policies.registry import POLICIES
from tests.policies.cases import FOLDER
from tests.policies.readme import policies_readme

PACK = FOLDER.parent
ROOT = PACK.parent
# The engine itself waits longer; a pack that needs more than this on two shared cores is broken.
BOOT_SECONDS = 60.0


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The pack, started with the command line of Pulumi's Python language host."""
    command = [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:1", str(PACK)]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=PACK, env=environment)  # ourselves
    try:
        yield int(_first_line(process, time.monotonic() + BOOT_SECONDS))
    finally:
        process.kill()
        process.communicate()


def _first_line(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    assert process.stdout
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            assert selector.select(deadline - time.monotonic()), "the pack did not print its port in time"
            read = os.read(process.stdout.fileno(), 64)
            assert read, "the pack ended before it printed its port"
            line += read
    return line


def test_the_pack_starts_as_the_engine_starts_it_and_introduces_every_policy(port: int) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        analyzer = analyzer_pb2_grpc.AnalyzerStub(channel)
        info = analyzer.GetAnalyzerInfo(empty_pb2.Empty(), timeout=BOOT_SECONDS)
        answer = analyzer.Analyze(
            analyzer_pb2.AnalyzeRequest(
                type="pulumi:providers:kubernetes",
                urn="urn:pulumi:test::p::pulumi:providers:kubernetes::default",
                name="default",
            ),
            timeout=BOOT_SECONDS,
        )

    assert info.name == "spotproof"
    assert info.supportsConfig
    assert [policy.name for policy in info.policies] == [policy.name for policy in POLICIES]
    for ours, theirs in zip(POLICIES, info.policies, strict=True):
        assert analyzer_pb2.EnforcementLevel.Name(theirs.enforcementLevel).lower() == ours.level
        assert (theirs.remediation_steps, theirs.url) == (ours.remedy, ours.url)
        assert set(theirs.configSchema.properties) == set(ours.config_schema)
    assert {one.policyName for one in answer.diagnostics} == {"kubernetes-providers-have-an-identifier"}


def test_the_pack_has_the_version_of_the_package() -> None:
    manifest = YAML(typ="safe").load((PACK / "PulumiPolicy.yaml").read_text(encoding="utf-8"))
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert manifest["version"] == package["project"]["version"]
    assert manifest["runtime"] == {"name": "python", "options": {"virtualenv": "../.venv"}}


def test_one_file_constructs_the_pack_since_the_constructor_never_returns() -> None:
    sources = [
        path for folder in ("components", "policies", "infra", "tests") for path in (ROOT / folder).rglob("*.py")
    ]

    constructing = [path.relative_to(ROOT) for path in sources if _calls(path, "PolicyPack")]

    assert constructing == [Path("policies/__main__.py")]


def _calls(path: Path, name: str) -> bool:
    return any(
        isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Name) and node.func.id == name)
            or (isinstance(node.func, ast.Attribute) and node.func.attr == name)
        )
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def test_policies_import_the_vocabulary_the_closed_forms_and_each_other_and_only_the_adapter_knows_pulumi() -> None:
    standard = {"collections.abc", "dataclasses", "functools", "itertools", "json", "re", "typing"}
    closed_forms = {f"spotproof.economics.{name}" for name in ("break_even", "checkpoints", "evictions")}
    strangers = {
        (file.name, name)
        for file in FOLDER.rglob("*.py")
        for name in _imported(file)
        if name not in {*standard, *closed_forms, "spotproof.vocabulary"} and not name.startswith("spotproof_policies")
    }

    assert {file for file, _ in strangers} == {"adapter.py"}


def _imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    direct = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return direct | {node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)}


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_the_page_of_a_policy_says_what_why_and_what_instead(policy: Policy) -> None:
    page = (FOLDER / policy.folder / "README.md").read_text(encoding="utf-8")

    assert page.startswith(f"# {policy.name}\n")
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    expected = ["## What", "## Why", "## Instead", *(["## Configuration"] if policy.config_schema else [])]
    assert headings == expected
    for key, schema in policy.config_schema.items():
        default = schema["default"] if isinstance(schema["default"], list) else json.dumps(schema["default"])
        assert f"`{key}` (default {default or 'none'})" in page


def test_the_index_names_every_policy_and_links_its_page() -> None:
    index = policies_readme()

    for policy in POLICIES:
        assert f"[{policy.name}](spotproof_policies/{policy.folder}/README.md)" in index
        assert policy.description in index
    assert (PACK / "README.md").read_text(encoding="utf-8") == index, "make docs"
