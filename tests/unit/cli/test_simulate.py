import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from spotproof.cli.main import application
from spotproof.cli.simulate_options import NAMES
from tests.unit.cli.test_simulate_policy_file import ONE
from tests.unit.economics.trace_files import whole, windows

JOB = ("--work", "2h", "--deadline", "4h", "--restart", "0")
UP, DOWN = "1" * 60, "0" * 60


def run(*arguments: object) -> Result:
    return CliRunner().invoke(application(), ["simulate", *map(str, arguments)])


def found(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def refused(status: int, *arguments: object) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.stderr


@pytest.fixture
def up(tmp_path: Path) -> Path:
    return whole(tmp_path / "up.json", UP, start="2020-03-01T00:00:00Z")


@pytest.fixture
def down(tmp_path: Path) -> Path:
    return whole(tmp_path / "down.json", DOWN, zone="b")


def test_the_json_has_a_line_a_trace_and_a_total_in_which_they_weigh_the_same(up: Path, down: Path) -> None:
    document = found("--traces", up, down, "--policy", "spotproof", *JOB)

    keys = ["runs", "meanCostUsd", "savingsPercent", "lateRuns", "meanEvictions", "spotHours", "onDemandHours"]
    assert [list(each) for each in document["traces"]] == [["trace", *keys, "unfinishedRuns"]] * 2
    assert list(document["total"]) == [*keys, "unfinishedRuns"]
    assert document["traces"][0] == {
        "trace": "up", "runs": 3, "meanCostUsd": 1.9462, "savingsPercent": 68.199346, "lateRuns": 0,
        "meanEvictions": 0.0, "spotHours": 2.0, "onDemandHours": 0.0, "unfinishedRuns": 0,
    }  # fmt: skip
    assert document["traces"][1]["meanCostUsd"] == 6.12
    assert document["total"]["meanCostUsd"] == pytest.approx((1.9462 + 6.12) / 2)
    assert document["total"]["runs"] == 6


def test_bill_model_policy_and_prices_are_named_in_both_forms(up: Path) -> None:
    arguments = ("--traces", up, "--policy", "greedy", *JOB, "--spot-price", 1, "--bill", "floating")
    document, text = found(*arguments), run(*arguments).stdout

    assert {name: document[name] for name in ("policy", "model", "bill", "prices")} == {
        "policy": "greedy",
        "model": "ticks",
        "bill": "floating",
        "prices": {"onDemandUsd": 3.06, "spotUsd": [1.0], "history": None},
    }
    assert text.splitlines()[0] == "policy greedy, model ticks, bill floating (no price moves)"
    assert "on-demand 3.06, spot 1" in text.splitlines()[1]


@pytest.mark.parametrize("policy", NAMES)
def test_every_policy_has_a_name(up: Path, policy: str) -> None:
    (each,) = found("--traces", up, "--policy", policy, *JOB)["traces"]

    assert each["meanCostUsd"] == (6.12 if policy == "on-demand" else 1.9462)


def test_the_table_has_a_line_a_trace_and_one_for_all(up: Path, down: Path) -> None:
    lines = run("--traces", up, down, "--policy", "on-demand", *JOB).stdout.splitlines()

    assert " ".join(lines[3].split()) == "trace runs mean USD saved % late evictions spot h on-demand h"
    assert lines[4].split() == ["up", "3", "6.1200", "0.00", "0", "0.00", "0.00", "2.00"]
    assert lines[6].startswith("all, each trace weighing the same")


def test_traces_follow_one_option_or_repeat_it_or_are_a_folder(up: Path, down: Path) -> None:
    rest = ("--policy", "greedy", *JOB)
    once = found("--traces", up, down, *rest)

    assert once == found("--traces", up, "--traces", down, *rest) == found(*rest, "--traces", up, down)
    assert sorted(each["trace"] for each in found("--traces", up.parent, *rest)["traces"]) == ["down", "up"]


def test_files_as_tiers_are_one_line_in_their_order(tmp_path: Path) -> None:
    first = windows(tmp_path / "first.json", {0: "1" * 6 + "0" * 30, 1: "1" * 36})
    other = windows(tmp_path / "other.json", {7: "0" * 36, 0: "0" * 6 + "1" * 30})

    document = found("--traces", first, other, "--as-tiers", "--policy", "spotproof", *JOB, "--spot-price", 1, 2)

    assert [each["trace"] for each in document["traces"]] == ["first + other"]
    # an hour at each price
    assert (document["total"]["runs"], document["total"]["meanCostUsd"]) == (1, 3.0)
    assert document["prices"]["spotUsd"] == [1.0, 2.0]


def test_the_table_names_the_tiers_above_their_line(up: Path, down: Path) -> None:
    lines = run("--traces", up, down, "--as-tiers", "--policy", "spotproof", *JOB).stdout.splitlines()

    assert lines[1].endswith("on-demand 3.06, spot 0.9731")
    assert lines[2] == "tiers: up + down"
    assert lines[5].startswith("2 tiers side by side  ")


def test_starts_are_of_a_file_or_every_so_many_ticks(tmp_path: Path, up: Path) -> None:
    (tmp_path / "starts.json").write_text("[0, 1, 2, 3, 4]")
    rest = ("--traces", up, "--policy", "greedy", *JOB, "--starts")

    assert found(*rest, "every:4")["total"]["runs"] == 6
    assert found(*rest, tmp_path / "starts.json")["total"]["runs"] == 5


def test_a_policy_file_decides_at_its_own_prices_unless_others_are_given(tmp_path: Path, up: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(ONE)
    rest = ("--traces", up, "--policy", file, *JOB)

    own, given = found(*rest), found(*rest, "--spot-price", "1", "--on-demand-price", "4")

    assert (own["prices"]["spotUsd"], own["prices"]["onDemandUsd"]) == ([1.5], 3.0)
    assert own["total"]["meanCostUsd"] == 3.0
    assert own["job"]["probeEverySeconds"] == 1800
    assert (given["total"]["meanCostUsd"], given["prices"]["onDemandUsd"]) == (2.0, 4.0)


@pytest.mark.parametrize("policy", ["spotproof", "uniform-progress"])
def test_probes_cost_what_is_said(tmp_path: Path, policy: str) -> None:
    trace = whole(tmp_path / "x.json", "0" * 90)
    rest = ("--traces", trace, "--policy", policy, "--work", "2h", "--deadline", "5h", "--restart", "0")
    dear, cheap, seen = (
        found(*rest, *more)["total"]["meanCostUsd"]
        for more in (
            ("--probe-every", "10m", "--probe-cost", "20m"),
            ("--probe-every", "10m", "--probe-cost", "10m"),
            (),
        )
    )

    assert seen < cheap
    assert dear - seen == pytest.approx(2 * (cheap - seen))


def test_continuous_time_is_as_its_seed(tmp_path: Path) -> None:
    trace = whole(tmp_path / "x.json", ("1" * 5 + "0" * 3) * 9)
    rest = ("--traces", trace, "--policy", "spotproof", "--work", "2h", "--deadline", "4h", "--model", "continuous")
    first, again, other = (found(*rest, "--seed", seed) for seed in (1, 1, 2))

    assert first == again
    assert first["total"]["meanCostUsd"] != other["total"]["meanCostUsd"]
    assert (first["model"], first["total"]["lateRuns"]) == ("continuous", 0)


@pytest.mark.parametrize(("bill", "usd"), [("fixed-at-launch", 1.0), ("floating", 2.0)])
def test_recorded_prices_are_billed_as_said(tmp_path: Path, up: Path, bill: str, usd: float) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text(
        "availability_zone,instance_type,timestamp,spot_usd_per_hour\n"
        "a,p3.2xlarge,2020-03-01T00:00:00Z,0.5\na,p3.2xlarge,2020-03-01T01:00:00Z,1.5\n"
    )
    rest = ("--traces", up, "--policy", "spotproof", *JOB, "--starts", "every:100", "--price-history", prices)

    document, result = found(*rest, "--bill", bill), run(*rest, "--bill", bill)

    assert document["total"]["meanCostUsd"] == usd
    assert document["prices"]["history"] == str(prices)
    assert result.stdout.startswith(f"policy spotproof, model ticks, bill {bill} ({prices})\n")
    assert "another time" not in result.stderr


def test_prices_of_another_time_are_said_to_be(tmp_path: Path, up: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text(
        "availability_zone,instance_type,timestamp,spot_usd_per_hour\na,p3.2xlarge,2019-01-01T00:00:00Z,1\n"
    )

    said = run("--traces", up, "--policy", "spotproof", *JOB, "--price-history", prices).stderr

    assert "note: up: is of another time than its prices, which begin with it here" in said


def test_a_deadline_that_cannot_be_met_is_said_and_every_run_is_late(up: Path) -> None:
    rest = ("--traces", up, "--policy", "spotproof", "--work", "2h", "--deadline", "1h")

    assert "no policy can be in time" in run(*rest).stderr
    total = found(*rest)["total"]
    assert total["lateRuns"] == total["runs"] > 0


def test_records_that_are_too_short_are_said_and_their_runs_are_late(tmp_path: Path) -> None:
    trace = windows(tmp_path / "x.json", {0: "1" * 6, 1: "1" * 30})
    rest = ("--traces", trace, "--policy", "spotproof", *JOB)

    assert "1 of 2 runs have a record shorter than the deadline" in run(*rest).stderr
    assert "1 runs had not ended when their record did; they count as late." in run(*rest).stdout
    assert (found(*rest)["total"]["lateRuns"], found(*rest)["total"]["unfinishedRuns"]) == (1, 1)


def test_probes_more_often_than_ticks_are_said_to_be_made_in_every_tick(up: Path) -> None:
    said = run("--traces", up, "--policy", "spotproof", *JOB, "--probe-every", "1m").stderr

    assert "probes every 60 s are more often than ticks of 600 s: they are made in every tick" in said


def test_the_report_goes_into_a_file(tmp_path: Path, up: Path) -> None:
    rest = ("--traces", up, "--policy", "greedy", *JOB, "--format", "json")

    result = run(*rest, "--output", tmp_path / "out.json")

    assert (result.exit_code, result.stdout) == (0, "")
    assert (tmp_path / "out.json").read_text() == run(*rest).stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"format": "spot-steps/1", "points": []}', "holds no market per tick"),
        ('{"data": [1, 0]}', "is a raw probe file"),
        ("not json", "is not JSON"),
        ("[1, 2]", "not a trace"),
        ('{"format": "spot-trace/1", "zone": "a", "instance": "x", "gap_seconds": 600}', "capacity is missing"),
    ],
)
def test_a_file_that_is_no_trace_ends_with_status_1_and_its_name(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.json").write_text(text)

    said = refused(1, "--traces", tmp_path / "x.json", tmp_path / "none.json", "--policy", "greedy", *JOB)

    assert f"spotproof simulate: {tmp_path / 'x.json'}: " in said
    assert says in said
    assert f"{tmp_path / 'none.json'}: cannot be read" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--starts", "none.json"), "none.json: cannot be read"),
        (("--price-history", "none.csv"), "none.csv: cannot be read"),
        (("--deadline", "60h"), "60 ticks are too few"),
    ],
)
def test_other_files_that_cannot_be_used_end_with_status_1(up: Path, arguments: tuple[str, ...], says: str) -> None:
    assert says in refused(1, "--traces", up, "--policy", "spotproof", *JOB, *arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--work", "48"), "--work is '48': a duration is a number with its unit"),
        (("--work", "0h"), "a duration of nothing"),
        (("--deadline", "9000h"), "more than a year"),
        (("--probe-every", "0"), "--probe-every is '0'"),
        (("--policy", "spotprof"), "did you mean spotproof?"),
        (("--policy", "none/x.yaml"), "neither a policy nor a file"),
        (("--spot-price", "-1"), "--spot-price is -1; write USD per node hour"),
        (("--spot-price", "nan"), "--spot-price is nan; write USD per node hour"),
        (("--on-demand-price", "0"), "--on-demand-price is 0; write USD per node hour"),
        (("--spot-price", "1", "2"), "--spot-price is given 2 times for one spot tier"),
        (("--seed", "-1"), "--seed is -1"),
        (("--policy", "greedy", "--model", "continuous"), "--model continuous: greedy is a policy of whole ticks"),
        (("--policy", "greedy", "--probe-every", "30m"), "--probe-every: greedy is a policy of whole ticks"),
        (("--policy", "omniscient", "--price-history", "x"), "--price-history: omniscient is a policy of whole ticks"),
        (("--policy", "uniform-progress", "--probe-every", "30m", "--as-tiers"), "and uniform-progress on one tier"),
        (("--output", "none/out.json"), "there is no folder none"),
        (("--format", "xml"), "xml"),
        (("--model", "fast"), "fast"),
    ],
)
def test_wrong_use_ends_with_status_2_and_what_to_write(up: Path, arguments: tuple[str, ...], says: str) -> None:
    assert says in refused(2, "--traces", up, "--policy", "spotproof", *JOB, *arguments)


@pytest.mark.parametrize("option", ["--traces", "--policy", "--work", "--deadline"])
def test_what_every_run_needs_has_to_be_given(up: Path, option: str) -> None:
    given = {"--traces": str(up), "--policy": "greedy", "--work": "2h", "--deadline": "4h"}
    del given[option]

    assert f"Missing option '{option}'" in refused(2, *(word for pair in given.items() for word in pair))


def test_everything_that_is_wrong_is_said_at_once(up: Path) -> None:
    said = refused(2, "--traces", up, "--policy", "x", "--work", "1", "--deadline", "2", "--seed", "-1")

    assert [line.split()[2] for line in said.splitlines()] == ["--work", "--deadline", "--policy", "--seed"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"usdPerNodeHour: 1.5, ": ""}, "tier s has no price; say what a node costs with --spot-price"),
        ({"capacity: on-demand": "capacity: spot"}, "has 2 spot tiers (s, o), and every file is a market of one tier"),
    ],
)
def test_a_policy_file_that_does_not_fit_the_market_is_refused(
    tmp_path: Path, up: Path, changes: dict[str, str], says: str
) -> None:
    text = ONE
    for before, after in changes.items():
        text = text.replace(before, after)
    (tmp_path / "policy.yaml").write_text(text)

    assert says in refused(2, "--traces", up, "--policy", tmp_path / "policy.yaml", *JOB)


def test_a_policy_file_that_is_none_ends_with_status_1(up: Path) -> None:
    assert "holds no object of kind FallbackPolicy" in refused(1, "--traces", up, "--policy", up, *JOB)


def test_the_published_means_come_out_of_the_command(shared: Path) -> None:
    old, new = shared / "traces" / "probe-1node-2022", shared / "traces" / "probe-1node-2023"
    one = ("--traces", old / "2022-10-26_us-west-2a_k80_1.json", "--work", "48h", "--deadline", "60h")
    five = ("--traces", *sorted(new.glob("*.json")), "--as-tiers", "--work", "40h", "--deadline", "50h")

    usd = [
        found(*one, "--policy", "spotproof")["total"]["meanCostUsd"],
        found(*one, "--policy", "uniform-progress")["total"]["meanCostUsd"],
        found(*five, "--policy", "spotproof", "--order", "listed")["total"]["meanCostUsd"],
        found(*five, "--policy", "spotproof")["total"]["meanCostUsd"],
        found(*five, "--policy", "omniscient")["total"]["meanCostUsd"],
    ]

    assert [round(each, 4) for each in usd] == [55.6017, 59.5357, 40.2012, 40.0211, 39.3340]
