import json
import subprocess
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner, Result

from spotproof.cli import main
from spotproof.cli import plan as command
from spotproof.cli.plan_stack import idle_usd
from spotproof.settings.fallback import FallbackPolicy

ROOT = Path(__file__).resolve().parents[3]
STACK = """
config:
  spotproof:environment:
    provider: {cloud: existing, context: kind-kind}
    prices: prices.yaml
    pools:
      - {name: gpu-spot, capacity: spot, instanceTypes: [gpu], maxNodes: 4}
      - {name: gpu, capacity: on-demand, instanceTypes: [gpu], maxNodes: 4}
      - {name: cpu, capacity: on-demand, maxNodes: 1}
    checkpoints: {uri: "pvc://checkpoints"}
    fallbackPolicies:
      - name: standard
        tiers: [{pool: gpu-spot, maxFailures: 3, pendingTimeout: 30m}, {pool: gpu}]
      - name: steady
        tiers: [{pool: gpu}]
      - name: twice
        tiers: [{pool: gpu-spot}, {pool: gpu}, {pool: cpu}]
"""
PRICES = """
cloud: existing
asOf: 2026-11-01
prices: [{instanceType: gpu, usdPerHour: 3.0, spotUsdPerHour: 1.0}]
"""


class Beside:
    """The process in which a stack's program runs, without a process and without the program."""

    def __init__(self, *_: object) -> None:
        self.asked: object = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""

    def submit(self, *_: object, **__: object) -> "Beside":
        return self

    def result(self) -> tuple[float | None, str]:
        return 0.5, "Always on: what the test says."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(command, "ProcessPoolExecutor", Beside)
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
    (tmp_path / "__main__.py").write_text("")
    (tmp_path / "Pulumi.dev.yaml").write_text(STACK)
    (tmp_path / "prices.yaml").write_text(PRICES)
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    usual = ["--program", str(folder), "--stack", "dev", "--policy", "standard", "--work", "5h", "--runs", "20"]
    return CliRunner().invoke(main.application(), ["plan", *usual, *arguments])


def document(folder: Path, *arguments: str) -> dict[str, Any]:
    result = run(folder, "--format", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def trace(folder: Path, name: str = "zone", capacity: str = ("1" * 30 + "0" * 6) * 20) -> str:
    file = folder / f"{name}.json"
    known = {"format": "spot-trace/1", "zone": "z", "instance": "gpu", "gap_seconds": 600, "capacity": capacity}
    file.write_text(json.dumps(known))
    return str(file)


CONTRACT = {
    "": "stack policy bill job market tiers policies alwaysOn checkpoint seed breakEven recommendation warnings",
    "job": "workHours deadlineHours restartMinutes checkpointEveryMinutes checkpointWriteMinutes nodes",
    "market": "source names evictionsPerHour outageHours availabilityPercent runs",
    "alwaysOn": "systemUsd headUsd usdPerHour note",
    "checkpoint": "dalyMinutes youngMinutes recommendedMinutes slowdown",
    "seed": "alphaPercent savingsPercent runtimeFlexibilityPercent note",
    "breakEven": "mtbfHours curve",
    "recommendation": "name sentences yaml",
}
OF_A_POLICY = (
    "name chosen recommended settings meanCostUsd savingsPercent savingsInterval finishHours meanEvictions "
    "spotSharePercent latePercent unfinishedPercent spotHours onDemandHours waitingHours points timeline"
)


def test_the_document_has_what_the_page_reads(folder: Path) -> None:
    found = document(folder, "--deadline", "9h")
    for key, names in CONTRACT.items():
        assert set(names.split()) <= set(found[key] if key else found), key
    for policy in found["policies"]:
        assert set(OF_A_POLICY.split()) <= set(policy)
        assert policy["timeline"][0]["fromHours"] == 0
        assert {span["capacity"] for span in policy["timeline"]} <= {"spot", "on-demand", "waiting"}
    assert [policy["name"] for policy in found["policies"] if policy["chosen"]] == ["as written"]
    assert [policy["name"] for policy in found["policies"] if policy["recommended"]] == [
        found["recommendation"]["name"]
    ]
    assert found["tiers"][0] == {
        "pool": "gpu-spot", "capacity": "spot", "usdPerNodeHour": 1.0, "priceSource": "prices file 2026-11-01",
        "assumed": False,
    }  # fmt: skip


def test_the_same_seed_gives_the_same_plan_and_another_another(folder: Path) -> None:
    first = document(folder)
    assert document(folder) == first
    assert document(folder, "--seed", "1") != first


def test_the_settings_to_paste_are_settings(folder: Path) -> None:
    found = document(folder, "--deadline", "9h")
    (policy,) = YAML(typ="safe", pure=True).load(found["recommendation"]["yaml"])["fallbackPolicies"]
    assert FallbackPolicy.model_validate(policy).name == "standard"


def test_what_is_not_said_is_the_policys_and_the_measured_rate(folder: Path) -> None:
    found = document(folder)
    assert (found["job"]["restartMinutes"], found["job"]["checkpointEveryMinutes"]) == (12, 30)
    assert (found["market"]["evictionsPerHour"], found["market"]["outageHours"]) == (0.4, 1.5)
    assert "No rate or trace was given" in found["market"]["note"]


def test_the_bill_is_named_and_matters(folder: Path) -> None:
    fixed, floating = document(folder, "--work", "40h"), document(folder, "--work", "40h", "--bill", "floating")
    assert (fixed["bill"], floating["bill"]) == ("fixed-at-launch", "floating")
    costs = [[policy["meanCostUsd"] for policy in found["policies"]] for found in (fixed, floating)]
    assert costs[0] != costs[1]


def test_head_and_system_cost_their_time_and_what_is_not_known_is_said(folder: Path) -> None:
    found = document(folder)
    recommended = next(policy for policy in found["policies"] if policy["recommended"])
    assert found["alwaysOn"]["systemUsd"] == pytest.approx(0.5 * recommended["finishHours"]["median"], abs=0.01)
    assert found["alwaysOn"]["headUsd"] is None
    assert "a Ray head's node is not in here" in found["alwaysOn"]["note"]


def test_several_traces_are_named_after_one_option_or_after_one_each(folder: Path) -> None:
    one, other = trace(folder), trace(folder, "other", ("1" * 9 + "0" * 9) * 40)
    together = document(folder, "--traces", one, other, "--deadline", "9h")
    assert together["market"]["names"] == ["zone", "other"]
    assert document(folder, "--traces", one, "--traces", other, "--deadline", "9h") == together
    assert together["market"]["source"] == "traces"


def test_a_rate_of_a_node_gives_both_bounds_and_holds_the_others(folder: Path) -> None:
    found = document(folder, "--nodes", "3", "--eviction-rate", "0.2/h/node")
    assert (found["market"]["evictionsPerHour"], found["job"]["nodesHeldWaiting"]) == (0.6, 2)
    (bound,) = found["bounds"]
    assert (bound["evictionsPerHour"], bound["nodesHeldWaiting"]) == (0.2, 0)
    assert {policy["name"] for policy in found["policies"]} & {policy["name"] for policy in bound["policies"]}


def test_a_rate_of_a_gang_is_said_to_be_the_gangs(folder: Path) -> None:
    found = document(folder, "--nodes", "3", "--eviction-rate", "0.2/h")
    assert found["bounds"] == []
    assert "The rate is that of the whole gang of 3" in found["market"]["note"]


def test_the_table_fits_and_says_everything(folder: Path) -> None:
    result = run(folder, "--deadline", "9h", "--nodes", "6")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 120
    for text in ("fallback policy standard, bill fixed-at-launch", "on-demand alone", "recommended: ", "break-even",
                 "article alpha", "warnings", "more than maxNodes of gpu-spot and gpu"):  # fmt: skip
        assert text in " ".join(result.stdout.split())


def test_a_report_goes_to_a_file_whole(folder: Path) -> None:
    result = run(folder, "--format", "json", "--output", str(folder / "plan.json"))
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads((folder / "plan.json").read_text())["stack"] == "dev"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("spotproof.page.plan")
    stand_in.__spec__ = ModuleSpec("spotproof.page.plan", None)

    def html(found: dict[str, Any]) -> str:
        return f"<html>{found['stack']}</html>"

    stand_in.html = html  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "spotproof.page.plan", stand_in)


@pytest.mark.usefixtures("page")
def test_the_html_is_the_pages(folder: Path) -> None:
    assert run(folder, "--format", "html").stdout == "<html>dev</html>"


@pytest.mark.parametrize("lacks", ["numpy", "jinja2"])
@pytest.mark.usefixtures("page")
def test_a_missing_extra_is_told_with_its_command(folder: Path, monkeypatch: pytest.MonkeyPatch, lacks: str) -> None:
    def found(name: str) -> ModuleSpec | None:
        return None if name == lacks else find_spec(name)

    monkeypatch.setattr(command, "find_spec", found)
    result = run(folder, "--format", "html")
    assert result.exit_code == 2
    assert f"{lacks} is not installed; run `pip install 'spotproof[plan]'`" in result.stderr


WRONG_USE = [
    (["--work", "5"], "--work is '5': a duration is a number with its unit"),
    (["--deadline", "9999h"], "--deadline is '9999h': more than a year"),
    (["--checkpoint-every", "0m"], "--checkpoint-every is '0m'"),
    (["--eviction-rate", "5%"], "--eviction-rate is '5%': a rate is evictions per running hour"),
    (["--eviction-rate", "400/h"], "no market evicts a job more than 60 times an hour"),
    (["--eviction-rate", "0.3/h", "--traces", "x"], "--traces and --eviction-rate both say"),
    (["--traces", "x", "--outage", "1h"], "--outage goes with --eviction-rate"),
    (["--runs", "0"], "--runs is 0: write a whole number from 1 to 100000"),
    (["--nodes", "0"], "--nodes is 0"),
    (["--seed", "-1"], "--seed is -1"),
    (["--policy", "standrad"], "Did you mean standard?"),
    (["--stack", "dve"], "Did you mean dev?"),
    (["--output", "/nowhere/plan.json"], "there is no folder /nowhere"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG_USE)
def test_wrong_use_is_status_two_and_one_sentence(folder: Path, arguments: list[str], says: str) -> None:
    result = run(folder, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_everything_that_is_wrong_with_the_options_is_told_at_once(folder: Path) -> None:
    result = run(folder, "--work", "x", "--deadline", "y", "--runs", "0", "--eviction-rate", "z")
    assert [line.split()[2] for line in result.stderr.splitlines()] == [
        "--work", "--deadline", "--eviction-rate", "--runs",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--policy", "twice"], "fallback policy twice has the on-demand tiers gpu, cpu"),
        (["--policy", "steady"], "fallback policy steady has no spot tier, so there is nothing to compare"),
        (["--traces", "missing.json"], "missing.json: cannot be read"),
        (["--traces", "short.json", "--deadline", "9h"], "short: is 2h long, and this job needs a record of 11h10m"),
    ],
)
def test_wrong_contents_are_status_one_and_one_sentence(folder: Path, arguments: list[str], says: str) -> None:
    trace(folder, "short", "1" * 12)
    places = [str(folder / each) if each.endswith(".json") else each for each in arguments]
    result = run(folder, *places)
    assert (result.exit_code, result.stdout) == (1, "")
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_every_trace_that_cannot_be_read_is_named(folder: Path) -> None:
    result = run(folder, "--traces", str(folder / "a.json"), str(folder / "b.json"))
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 2


def test_a_pool_without_a_price_is_named_with_what_to_write(folder: Path) -> None:
    (folder / "prices.yaml").write_text(PRICES.replace("instanceType: gpu", "instanceType: other"))
    result = run(folder)
    assert result.exit_code == 1
    assert "no price is known for pool gpu-spot and gpu" in result.stderr
    assert "write usdPerHour and spotUsdPerHour of its instanceTypes into a prices file" in result.stderr


def test_several_policies_and_none_named_is_a_question(folder: Path) -> None:
    result = CliRunner().invoke(
        main.application(), ["plan", "--program", str(folder), "--stack", "dev", "--work", "5h"]
    )
    assert result.exit_code == 2
    assert "which policy? Write --policy standard, steady or twice" in result.stderr


def test_what_is_always_on_is_what_a_preview_says() -> None:
    found, note = idle_usd(ROOT, "aws-dev", None, makes_nodes=True)
    result = CliRunner().invoke(
        main.application(),
        ["preview", "aws-dev", "--program", str(ROOT), "--mode", "unknown", "--format", "json"],
    )
    assert found == pytest.approx(json.loads(result.stdout)["cost"]["idle"]["total"], abs=1e-6)
    assert "EKS control plane" in note


def test_a_program_that_fails_leaves_the_plan_with_a_note(folder: Path) -> None:
    (folder / "__main__.py").write_text("raise ValueError('no')")
    found, note = idle_usd(folder, "dev", None, makes_nodes=True)
    assert found is None
    assert "the stack cannot be previewed" in note
    assert idle_usd(folder, "dev", None, makes_nodes=False)[0] is None


def test_preview_and_the_command_line_load_no_numpy() -> None:
    code = (
        "import sys; from spotproof.cli.main import application; application(); import spotproof.preview.preview; "
        "print({'numpy', 'jinja2'} & {name.partition('.')[0] for name in sys.modules})"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
