from pathlib import Path

import pytest

from spotproof.economics.price_history import instant, read_prices
from spotproof.economics.starts import Run
from spotproof.economics.traces import Trace, TraceError, Window

HEAD = "availability_zone,instance_type,timestamp,spot_usd_per_hour\n"
ROWS = """a,p3.2xlarge,2020-01-01T02:00:00Z,0.9
a,p3.2xlarge,2020-01-01T00:00:00Z,0.8
a,p3.2xlarge,2020-01-01T01:00:00.000Z,1.0
b,p3.2xlarge,2020-01-01T00:00:00Z,0.5
"""


def trace(*starts: str | None, zone: str = "a", instance: str = "p3.2xlarge") -> Trace:
    found = tuple(Window(n, start, "1" * 12) for n, start in enumerate(starts))
    return Trace("x", zone, instance, 600, found, whole=False)


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.csv"
    file.write_text(HEAD + ROWS)
    return file


def test_prices_begin_with_the_one_that_was_valid_when_the_run_starts(prices: Path) -> None:
    history = read_prices(prices)
    there = trace("2020-01-01T01:30:00Z")

    tape = history.tape(there, Run(0, 0, ()))

    assert not history.shifted(there)
    assert (tape.instants, tape.usd) == ((-1800, 1800), (1.0, 0.9))
    assert [tape.at(at) for at in (0, 1799, 1800)] == [1.0, 1.0, 0.9]


def test_a_run_that_starts_later_sees_later_prices(prices: Path) -> None:
    tape = read_prices(prices).tape(trace("2020-01-01T00:00:00"), Run(0, 9, ()))

    assert (tape.instants, tape.usd) == ((-1800, 1800), (1.0, 0.9))


def test_a_trace_of_another_time_begins_with_the_first_price_and_says_so(prices: Path) -> None:
    history, later = read_prices(prices), trace("2023-05-01T00:30:00Z", "2023-05-01T00:00:00Z")

    assert history.shifted(later)
    assert history.tape(later, Run(1, 0, ())).instants == (0, 3600, 7200)
    assert history.tape(later, Run(0, 0, ())).instants == (-1800, 1800, 5400)


def test_a_trace_without_a_time_begins_with_the_first_price(prices: Path) -> None:
    history = read_prices(prices)

    assert history.shifted(trace(None))
    assert history.tape(trace(None), Run(0, 0, ())).instants == (0, 3600, 7200)


def test_before_the_first_price_the_first_price_is_valid(prices: Path) -> None:
    tape = read_prices(prices).tape(trace("2019-12-31T23:00:00Z"), Run(0, 0, ()))

    assert tape.at(0) == 0.8


@pytest.mark.parametrize(
    ("zone", "instance", "says"),
    [
        ("c", "p3.2xlarge", "has no price of p3.2xlarge in c, where x is from; of p3.2xlarge it has a or b"),
        ("a", "p4d.24xlarge", "has no price of p4d.24xlarge in a, where x is from; it has none of p4d.24xlarge at all"),
    ],
)
def test_a_market_without_a_price_is_named_with_those_that_have_one(
    prices: Path, zone: str, instance: str, says: str
) -> None:
    with pytest.raises(TraceError, match=says):
        read_prices(prices).tape(trace(None, zone=zone, instance=instance), Run(0, 0, ()))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("zone,price\na,1\n", "has no column availability_zone"),
        (HEAD, "holds no price"),
        (f"{HEAD}a,p3,yesterday,0.9\n", 'line 2 has the timestamp "yesterday"'),
        (f"{HEAD}a,p3,2020-01-01T00:00:00Z,cheap\n", 'line 2 has the price "cheap"'),
        (f"{HEAD}a,p3,2020-01-01T00:00:00Z,-1\n", 'line 2 has the price "-1"'),
        (f"{HEAD}a,p3,2020-01-01T00:00:00Z,nan\n", 'line 2 has the price "nan"'),
        (f"{HEAD}a,p3\n", 'line 2 has the timestamp ""'),
    ],
)
def test_a_file_that_holds_no_prices_is_refused_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(text)

    with pytest.raises(TraceError, match=says):
        read_prices(file)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(TraceError, match="cannot be read"):
        read_prices(tmp_path / "none.csv")
    with pytest.raises(TraceError, match="no CSV file in UTF-8"):
        read_prices(tmp_path / "binary.csv")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1970-01-01T00:00:10", 10), ("1970-01-01T01:00:00+01:00", 0), (None, None), ("soon", None)],
)
def test_a_time_without_a_zone_is_utc(text: str | None, seconds: int | None) -> None:
    assert instant(text) == seconds
