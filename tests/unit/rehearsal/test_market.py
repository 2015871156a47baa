"""The market file: what Karpenter reads at every NodeClaim."""

import json
from pathlib import Path

from spotproof.rehearsal.market import Market


def closed(market: Market) -> list[dict[str, str]]:
    return json.loads(market.path.read_text())["closed"]


def test_a_new_market_has_capacity_of_everything(tmp_path: Path) -> None:
    assert closed(Market(tmp_path / "market.json")) == []


def test_what_is_closed_stays_closed_until_all_is_opened(tmp_path: Path) -> None:
    market = Market(tmp_path / "market.json")
    market.close(capacity_type="spot", zone="us-west-2a")
    market.close(instance_type="p4d.24xlarge")
    assert closed(market) == [
        {"capacityType": "spot", "zone": "us-west-2a", "instanceType": ""},
        {"capacityType": "", "zone": "", "instanceType": "p4d.24xlarge"},
    ]
    market.open_all()
    assert closed(market) == []


def test_one_closing_is_taken_back_and_the_others_stay(tmp_path: Path) -> None:
    market = Market(tmp_path / "market.json")
    market.close(capacity_type="spot")
    market.close(capacity_type="on-demand")
    market.open(capacity_type="spot")
    assert [each["capacityType"] for each in closed(market)] == ["on-demand"]


def test_nothing_but_the_market_is_left_beside_it(tmp_path: Path) -> None:
    Market(tmp_path / "market.json").close()
    assert [each.name for each in tmp_path.iterdir()] == ["market.json"]
