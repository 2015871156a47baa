import re
from collections.abc import Callable
from typing import Any

import pytest

from spotproof.page.plan import html
from spotproof.page.plan_charts import break_even, cost_over_finish, timelines
from tests.unit.page.documents import Json, bare, plan, policy
from tests.unit.page.reading import Node, read
from tests.unit.page.test_page import HOSTILE, shape

TITLES = [
    "Recommendation",
    "Warnings",
    "Cost and time",
    "Policies",
    "Example runs",
    "Break-even",
    "Checkpoints",
    "Always on",
    "The article's figures",
    "Assumptions",
]
NBSP = "\u00a0"


def section(document: Json, title: str) -> Node:
    (found,) = [each for each in read(html(document)).all("section") if each.one("h2").text == title]
    return found


def row(table: Node, name: str) -> list[str]:
    (found,) = [each for each in table.all("tr") if next(each.all("th")).text.startswith(name)]
    return [cell.text.replace(NBSP, " ") for cell in found.all("td")]


def test_the_report_reads_as_it_did(golden: Callable[[str, object], None]) -> None:
    golden("page/plan.html", html(plan()))


@pytest.mark.parametrize("document", [plan(), bare()], ids=["plan", "bare"])
def test_every_section_is_there_in_order_and_none_is_empty(document: Json) -> None:
    sections = list(read(html(document)).all("section"))

    assert [each.one("h2").text for each in sections] == TITLES
    assert [each.text.split() for each in sections if len(each.text.split()) < 4] == []


def test_the_first_section_says_what_to_take_what_it_saves_when_it_ends_and_what_to_paste() -> None:
    text = section(plan(), "Recommendation").text.replace(NBSP, " ")

    assert "Take deadline pace: it costs 929 USD" in text
    assert "57.5 %" in text
    assert "56.3 % to 58.7 %" in text
    assert "54.4 h" in text
    assert "fallbackPolicies:\n  - name: a100\n    deadline: pace\n" in text


def test_warnings_are_told_or_said_to_be_none() -> None:
    assert "Warning The price of a100-spot-a is assumed" in section(plan(), "Warnings").text
    assert "Nothing was found to warn of." in section(plan(warnings=[]), "Warnings").text


def test_a_policy_is_a_row_with_its_figures_and_marks() -> None:
    results = next(section(plan(), "Policies").all("table"))

    assert row(results, "as written") == ["962 USD", "56.0 %", "54.2 h", "58.3 h", "0.0 %", "0.0 %"]
    assert row(results, "spot alone") == ["822 USD", "62.4 %", "71.0 h", "not known", "0.0 %", "0.0 %"]
    assert [each.text for each in results.all("span")] == ["in the stack", "recommended"]
    assert "deadline pace = maxFailures -1, pace" in results.text


def test_a_policy_that_comes_to_the_same_is_named_with_the_one_that_stands_for_it() -> None:
    assert "maxFailures -1, pace" not in [each["name"] for each in plan()["policies"]]
    assert "deadline pace = maxFailures -1, pace" in section(plan(), "Policies").text


def test_both_bounds_of_a_node_s_rate_are_shown() -> None:
    text = section(plan(), "Policies").text

    assert "The same at 0.60 evictions per hour of running, with 1 node held while the rest waits" in text
    assert "The same at" not in section(plan(bounds=[]), "Policies").text


def test_without_a_deadline_no_run_is_late() -> None:
    document = plan(job=plan()["job"] | {"deadlineHours": None}, policies=[policy("a", 5.0, (50, 51), []) | late(None)])

    assert "without a deadline" in read(html(document)).one("header").text
    assert row(next(section(document, "Policies").all("table")), "a")[4] == "no deadline"
    assert "deadline" not in section(document, "Cost and time").text


def late(percent: float | None) -> Json:
    return {"latePercent": percent}


def test_a_price_that_is_assumed_says_so_and_where_it_is_from() -> None:
    prices = list(section(plan(), "Assumptions").all("table"))[-1]

    assert row(prices, "a100-spot-a") == ["spot", "7.69", "yes", "0.35 of on-demand"]
    assert row(prices, "a100-spot-b") == ["spot", "8.10", "no", "prices file"]


def test_availability_is_told_by_pool() -> None:
    text = section(plan(), "Assumptions").text.replace(NBSP, " ")

    assert "69 % of the time in a100-spot-a, 64.5 % of the time in a100-spot-b" in text


def test_what_never_pays_is_said_to_never_pay() -> None:
    never = plan(breakEven={"mtbfHours": None, "curve": [[0.0, -5.0], [2.0, -50.0]]})

    assert "Staying on spot never pays here." in section(never, "Break-even").text
    assert f"more than 28{NBSP}min between two evictions" in section(plan(), "Break-even").text


def test_dots_beyond_the_picture_are_counted() -> None:
    assert cost_over_finish(plan()).outside == 1
    assert "Dots to the right of the picture: 1." in section(plan(), "Cost and time").text


def test_a_policy_no_run_of_which_ends_is_in_the_table_but_not_in_the_picture() -> None:
    endless = policy("endless", 10.0, (None, None), [])
    document = plan(policies=[*plan()["policies"], endless])

    assert "endless" not in [cloud.name for cloud in cost_over_finish(document).clouds]
    assert row(next(section(document, "Policies").all("table")), "endless")[2:4] == ["not known", "not known"]
    assert "nothing to draw" in section(plan(policies=[endless]), "Cost and time").text


def test_the_break_even_picture_marks_this_market_and_the_end_of_the_saving() -> None:
    (market, market_words), (even, even_words) = break_even(plan()).marks

    assert market == pytest.approx((0.3, 57.5))
    assert even == pytest.approx((1 / 0.46, 0.0))
    assert (market_words, even_words) == (f"this market: 57.5{NBSP}%", "break-even at 2.17")


def test_a_timeline_s_words_tell_what_the_picture_shows() -> None:
    told = timelines(plan()).description.replace(NBSP, " ")

    assert told.startswith("as written: 47.5 h spot, 1.5 h waiting, 5 h on-demand;")


def test_a_pool_that_only_a_run_names_is_drawn_too() -> None:
    document = plan(tiers=[])

    assert [state.name for state in timelines(document).states] == ["a100-spot-a", "a100-spot-b", "a100", "waiting"]


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_notes_make_no_element_wherever_they_stand(text: str) -> None:
    assert shape(read(html(renamed(plan(), text)))) == shape(read(html(renamed(plan(), "w" * len(text)))))


def renamed(value: Any, text: str) -> Any:
    """Every text that somebody wrote replaced by another."""
    if isinstance(value, dict):
        kept = {"capacity", "source"}
        return {key: each if key in kept else renamed(each, text) for key, each in value.items()}
    if isinstance(value, list):
        return [renamed(each, text) for each in value]
    return text if isinstance(value, str) else value


def test_sixteen_policies_of_200_dots_and_100_moves_stay_under_300_kb() -> None:
    moves = [
        {"pool": f"a100-spot-{'ab'[at % 2]}", "capacity": "spot", "fromHours": at * 0.55, "toHours": at * 0.55 + 0.5}
        for at in range(100)
    ]
    dots = [(50 + at % 37 / 4, 700.0 + at * 7.3 % 900) for at in range(200)]
    policies = [policy(f"policy number {at}", 50.0 - at, (54.2, 58.3), dots) for at in range(16)]
    page = html(plan(policies=[each | {"timeline": moves} for each in policies]))

    assert len(page.encode()) < 300_000


def test_numbers_of_the_page_are_never_written_as_python_would() -> None:
    text = read(html(plan())).text

    assert not re.search(r"\b(None|nan|inf|True|False)\b|\d\.\d{5,}|-0\b", text)
