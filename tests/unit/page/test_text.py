import pytest

from spotproof.page.text import hours, minutes, number, percent, usd

NBSP = "\u00a0"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (usd(1234.5), "1,234 USD"),
        (usd(99.994), "99.99 USD"),
        (usd(0), "0.00 USD"),
        (hours(54.15), "54.1 h"),
        (hours(60.0), "60 h"),
        (hours(0.45), "27 min"),
        (hours(0), "0 h"),
        (minutes(0.5), "0.5 min"),
        (minutes(18.9), "19 min"),
        (percent(56.04), "56 %"),
        (percent(-0.04), "0 %"),
        (number(-0.0), "0"),
        (number(2000), "2,000"),
    ],
)
def test_numbers_are_written_as_people_read_them(written: str, expected: str) -> None:
    assert written.replace(NBSP, " ") == expected


def test_a_number_is_never_parted_from_its_unit() -> None:
    assert all(" " not in text for text in (usd(5), hours(5), minutes(5), percent(5)))
