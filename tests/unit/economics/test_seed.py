"""The article's model: its worked example and its table, with what is wrong in them."""

import pytest

from spotproof.economics.break_even import break_even_extra_runtime
from spotproof.economics.counted import usd_with_evictions
from spotproof.economics.seed import DISCOUNT, TABLE, SeedJob, answers
from tests.unit.economics.conditions import HOUR, conditions


def test_the_worked_example_gives_276_co_and_448_per_cent_by_its_final_formula() -> None:
    formula = answers()[1]

    assert formula.cost == pytest.approx(2.76)
    assert formula.saving == pytest.approx(0.448)


def test_the_missing_alpha_of_the_worked_example_follows_from_its_result() -> None:
    assert (1 - 2.76 / SeedJob().total_hours) / DISCOUNT == pytest.approx(SeedJob().alpha)


def test_one_job_has_four_answers() -> None:
    assert [round(100 * one.saving, 1) for one in answers()] == [34.0, 44.8, 48.4, 52.0]
    assert [round(one.cost, 2) for one in answers()] == [3.30, 2.76, 2.58, 2.40]


def test_the_articles_own_split_adds_up_to_its_total() -> None:
    job = SeedJob()

    assert job.spot_hours + job.on_demand_hours == pytest.approx(job.total_hours) == pytest.approx(6)


def test_the_corrected_model_charges_the_worked_example_as_the_third_answer_does() -> None:
    # 4 tolerated, the fifth moves; nothing is lost but the restart, as in the article
    job = conditions(hours=5, spot_share=0.1, every=1e-6, write=0, restart=0.2 * HOUR, max_failures=4)

    assert usd_with_evictions(job, 5, 0.6) == pytest.approx(answers()[2].cost)


def test_without_interruptions_all_four_agree() -> None:
    job = SeedJob(interruptions=0)

    assert [one.cost for one in answers(job)] == pytest.approx([0.1 * 3 + 2] * 4)


def test_the_table_is_right_in_one_row_of_four() -> None:
    right = [round(break_even_extra_runtime(DISCOUNT, row.alpha), 2) for row in TABLE]

    assert right == [0.37, 0.56, 0.82, 1.17]
    assert [row.printed for row, value in zip(TABLE, right, strict=True) if row.printed == value] == [0.56]
    assert [bool(row.error) for row in TABLE] == [True, False, True, True]


def test_the_row_of_60_per_cent_prints_the_ratio_for_the_increase() -> None:
    row = TABLE[3]

    assert row.printed == int(100 * (1 + break_even_extra_runtime(DISCOUNT, row.alpha))) / 100
    assert "117 %" in row.error


def test_the_other_two_wrong_rows_are_cut_off() -> None:
    assert [int(100 * break_even_extra_runtime(DISCOUNT, row.alpha)) / 100 for row in TABLE[:3]] == [
        row.printed for row in TABLE[:3]
    ]
