"""What is said of evictions and outages, counted on the recorded markets."""

import json
from pathlib import Path

from spotproof.economics.break_even import break_even_rate
from spotproof.economics.evictions import MEASURED_PER_HOUR
from tests.pages.choose_max_failures import CALMEST, CYCLE, MEASURED, ROUGHEST, SHARE

YEARS = ("2022", "2023")


def recorded(file: Path) -> tuple[int, float, int, float]:
    """Evictions, hours up, recoveries, hours down of one market; windows are not joined."""
    trace = json.loads(file.read_text())
    gap_hours = trace["gap_seconds"] / 3600
    parts = [part["capacity"] for part in trace.get("windows", [trace])]
    return (
        sum(part.count("10") for part in parts),
        sum(part.count("1") for part in parts) * gap_hours,
        sum(part.count("01") for part in parts),
        sum(part.count("0") for part in parts) * gap_hours,
    )


def markets(shared: Path, year: str) -> list[tuple[int, float, int, float]]:
    folder = shared / "traces" / f"probe-1node-{year}"
    return [recorded(file) for file in sorted(folder.glob("*.json")) if file.name != "starts.json"]


def test_the_rates_and_outages_on_the_page_are_those_of_the_recorded_markets(shared: Path) -> None:
    for year, (_, rate, outage) in zip(YEARS, MEASURED, strict=True):
        evictions, up, recoveries, down = map(sum, zip(*markets(shared, year), strict=True))

        assert round(evictions / up, 2) == rate
        assert round(down / recoveries, 1) == outage


def test_the_calmest_and_the_roughest_market_are_those_on_the_page(shared: Path) -> None:
    rates = [evictions / up for year in YEARS for evictions, up, _, _ in markets(shared, year) if up]

    assert round(min(rates), 2) == CALMEST
    assert round(max(rates), 1) == ROUGHEST


def test_the_default_rate_lies_between_the_measured_ones() -> None:
    low, high = sorted(rate for _, rate, _ in MEASURED)

    assert low < MEASURED_PER_HOUR < high


def test_eleven_evictions_in_six_hours_are_about_the_rate_that_uses_up_two_thirds_off() -> None:
    # at most six hours of them are running time, and about four once a wait of ten minutes follows each
    assert 11 / 6 < break_even_rate(SHARE, CYCLE) < 11 / 4


def test_most_outages_are_over_within_the_recommended_pending_timeout(shared: Path) -> None:
    spells = [
        len(spell) * json.loads(file.read_text())["gap_seconds"]
        for year in YEARS
        for file in sorted((shared / "traces" / f"probe-1node-{year}").glob("*.json"))
        if file.name != "starts.json"
        for part in json.loads(file.read_text()).get("windows", [json.loads(file.read_text())])
        for spell in part["capacity"].split("1")
        if spell
    ]

    assert sum(spell <= 3600 for spell in spells) / len(spells) > 0.65
