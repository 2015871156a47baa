"""Prices carry their source, guesses are marked, and what is unknown stays unknown."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spotproof.prices import equal, load_prices
from spotproof.settings import SettingsError

if TYPE_CHECKING:
    from spotproof.vocabulary import Capacity


def test_a_price_of_the_table_names_its_source_and_date() -> None:
    price = load_prices().node("aws", "us-east-1", "p4d.24xlarge", "on-demand")

    assert price is not None
    assert (price.usd_per_hour, price.assumed) == (21.957642, False)
    assert "2026-07-20" in price.source


def test_a_missing_spot_price_is_035_of_on_demand_and_marked() -> None:
    price = load_prices().node("aws", "us-east-1", "p4d.24xlarge", "spot")

    assert price is not None
    assert price.usd_per_hour == pytest.approx(21.957642 * 0.35)
    assert price.assumed
    assert "0.35 of on-demand" in price.source


def test_a_price_of_another_region_says_so() -> None:
    price = load_prices().node("aws", "eu-west-1", "p4d.24xlarge", "on-demand")

    assert price is not None
    assert price.assumed
    assert "price of us-east-1" in price.source


def test_an_unknown_type_has_no_price() -> None:
    assert load_prices().node("aws", "us-east-1", "x9.96xlarge", "on-demand") is None


def test_the_cheapest_of_several_types_is_what_a_tier_is_compared_by() -> None:
    price = load_prices().cheapest("aws", "us-east-1", ["g6.2xlarge", "g6.xlarge", "x9.large"], "on-demand")

    assert price is not None
    assert price.usd_per_hour == 0.8048


def test_what_is_attached_to_a_machine_is_added_to_its_price() -> None:
    prices = load_prices()
    bare, with_two = (prices.node("gcp", "us-central1", "n1-standard-8", "spot", a) for a in (None, ("nvidia-t4", 2)))

    assert bare is not None
    assert with_two is not None
    assert with_two.usd_per_hour == pytest.approx(bare.usd_per_hour + 2 * 0.175)
    assert prices.cheapest("gcp", "us-central1", ["n1-standard-8"], "spot", ("nvidia-t4", 2)) == with_two


def test_a_machine_with_something_attached_that_has_no_price_has_none() -> None:
    assert load_prices().node("gcp", "us-central1", "n1-standard-8", "spot", ("nvidia-p4", 1)) is None
    assert load_prices().node("gcp", "us-central1", "x9-standard-8", "spot", ("nvidia-t4", 1)) is None


def test_a_prices_file_prices_what_is_attached(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    text = "cloud: gcp\nasOf: 2026-11-01\nsource: our agreement\nprices: "
    file.write_text(text + "[{accelerator: nvidia-t4, usdPerHour: 0.3, spotUsdPerHour: 0.2}]")
    price = load_prices(file).node("gcp", "europe-west4", "n1-standard-8", "spot", ("nvidia-t4", 1))

    assert price is not None
    assert price.usd_per_hour == pytest.approx(0.08 + 0.2)
    assert "our agreement 2026-11-01" in price.source
    assert price.borrowed, "the machine's is another region's"


@pytest.mark.parametrize(
    ("one", "other", "same"), [(1.0, 1.0, True), (0.9, 1.0, True), (0.89, 1.0, False), (0.0, 0.0, True)]
)
def test_prices_within_a_tenth_are_equal(one: float, other: float, same: bool) -> None:  # noqa: FBT001
    assert equal(one, other) is same
    assert equal(other, one) is same


FILE = """
asOf: 2026-11-01
source: our agreement
prices:
  - {instanceType: p4d.24xlarge, usdPerHour: 18.5, spotUsdPerHour: 6.2}
  - {region: us-west-2, service: vpc/nat-gateway, usdPerHour: 0.04}
"""


def test_a_prices_file_overrides_the_table_in_every_region(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(FILE)
    prices = load_prices(file)

    spot = prices.node("aws", "eu-west-1", "p4d.24xlarge", "spot")
    assert spot is not None
    assert (spot.usd_per_hour, spot.source, spot.assumed) == (6.2, "our agreement 2026-11-01", False)
    nat = [prices.service("aws", region, "vpc/nat-gateway") for region in ("us-west-2", "us-east-1")]
    assert [price.usd_per_hour for price in nat if price] == [0.04, 0.045]


def test_a_line_without_a_region_comes_before_the_tables_own_price_of_a_region(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(FILE + "  - {region: us-east-2, instanceType: p4d.24xlarge, usdPerHour: 17}\n")
    prices = load_prices(file)

    found = {region: prices.node("aws", region, "p4d.24xlarge", "on-demand") for region in ("us-east-1", "us-east-2")}
    assert {region: price and price.usd_per_hour for region, price in found.items()} == {
        "us-east-1": 18.5,
        "us-east-2": 17,
    }


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("prices: []", "asOf"),
        ("asOf: 2026-11-01\nprices: [{usdPerHour: 1}]", "prices[0]"),
        ("asOf: 2026-11-01\nprices: [{instanceType: a, usdPerHour: -1}]", "prices[0].usdPerHour"),
        ("asOf: 2026-11-01\nprices: [{instanceTyp: a, usdPerHour: 1}]", "prices[0].instanceTyp"),
        ("asOf: 2026-11-01\nprices: [{service: a/b, usdPerHour: 1, spotUsdPerHour: 1}]", "prices[0].spotUsdPerHour"),
        ("asOf: 2026-11-01\nprices: [{service: a, usdPerHour: 1}, {service: a, usdPerHour: 2}]", "prices[1]"),
        ("asOf: 2026-11-01\nprices: [{accelerator: a, service: b, usdPerHour: 1}]", "prices[0]"),
        ("asOf: 2026-11-01\nprices: {", "prices.yaml"),
    ],
)
def test_a_broken_prices_file_is_refused_under_its_key(tmp_path: Path, text: str, key: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)

    with pytest.raises(SettingsError) as caught:
        load_prices(file)

    assert key in {problem.key for problem in caught.value.problems}


def test_a_cluster_of_somebody_elses_has_the_prices_of_its_own_file_and_no_region(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("cloud: existing\nasOf: 2026-11-01\nprices: [{instanceType: box, usdPerHour: 2}]")
    price = load_prices(file).cheapest("existing", "", ["box"], "spot")
    assert price is not None
    assert (price.usd_per_hour, price.guessed) == (0.7, True)

    file.write_text("cloud: existing\nasOf: 2026-11-01\nprices: [{region: a, instanceType: box, usdPerHour: 2}]")
    with pytest.raises(SettingsError, match=r"prices\[0\]\.region: is a, and a cluster of `cloud: existing`"):
        load_prices(file)


def test_a_missing_prices_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yaml"):
        load_prices(tmp_path / "nowhere.yaml")


def test_the_table_agrees_with_the_published_catalogue(shared: Path) -> None:
    with (shared / "catalog" / "gpu_instances.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["cloud"] == "aws" and row["on_demand_usd_h"]]
    prices = load_prices()

    found = {row["instance_type"]: prices.node("aws", row["region"], row["instance_type"], "on-demand") for row in rows}
    assert {name: price and price.usd_per_hour for name, price in found.items()} == {
        row["instance_type"]: float(row["on_demand_usd_h"]) for row in rows
    }


def test_the_table_agrees_with_the_published_catalogue_of_gcp_spot_prices_too(shared: Path) -> None:
    with (shared / "catalog" / "gpu_instances.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["cloud"] == "gcp" and ":" not in row["instance_type"]]
    prices = load_prices()

    columns: tuple[tuple[Capacity, str], ...] = (("on-demand", "on_demand_usd_h"), ("spot", "spot_usd_h"))
    for capacity, column in columns:
        found = {
            row["instance_type"]: prices.node("gcp", "us-central1", row["instance_type"], capacity) for row in rows
        }
        # A2 and G2 are of a newer list than the catalogue, which has A3 of the same one
        same = {name: price for name, price in found.items() if not name.startswith(("a2-", "g2-"))}
        assert {name: price and price.usd_per_hour for name, price in same.items()} == {
            row["instance_type"]: float(row[column]) for row in rows if row["instance_type"] in same
        }


def test_gcps_spot_prices_of_gpus_are_those_of_googles_own_list() -> None:
    prices = load_prices()
    machine, accelerators = 2.958, 8 * 1.4341

    price = prices.node("gcp", "us-central1", "a2-highgpu-8g", "spot")
    assert price is not None
    assert price.usd_per_hour == pytest.approx(machine + accelerators)
    assert "skypilot-catalog" in price.source


def test_the_prices_of_azures_gpu_sizes_are_those_of_the_published_catalogue(shared: Path) -> None:
    with (shared / "catalog" / "gpu_instances.csv").open(encoding="utf-8") as file:
        published = {
            row["instance_type"]: float(row["on_demand_usd_h"])
            for row in csv.DictReader(file)
            if row["cloud"] == "azure" and row["on_demand_usd_h"]
        }

    ours = {name: load_prices().node("azure", "eastus", name, "on-demand") for name in published}
    assert {name: price.usd_per_hour for name, price in ours.items() if price} == {
        name: published[name] for name, price in ours.items() if price
    }
    assert {name for name, price in ours.items() if not price} == {
        name for name in published if name.startswith("Standard_NV") and "A10" not in name
    }


def test_azures_spot_prices_are_guesses_and_other_regions_borrow_from_eastus() -> None:
    price = load_prices().node("azure", "westeurope", "Standard_ND96isr_H100_v5", "spot")

    assert price is not None
    assert (price.guessed, price.borrowed) == (True, True)
    assert "price of eastus" in price.source
