"""What GCP's settings take, and what they refuse: under which key, and with which remedy."""

from datetime import date
from ipaddress import IPv4Network
from typing import Any

import pytest

from spotproof.settings import Environment, SettingsError, load_environment
from spotproof.settings.gcp import Gcp, addresses, regions
from spotproof.settings.gcp.model import CRITICAL_SECONDS, SHUTDOWN_SECONDS
from spotproof.vocabulary import GKE_SPOT_TAINT

TODAY = date(2026, 11, 20)
GCP: dict[str, Any] = {
    "cloud": "gcp",
    "region": "us-central1",
    "project": "research-dev",
    "projectNumber": "123456789012",
}


def load(**settings: Any) -> Environment:
    return load_environment({"provider": GCP, **settings}, today=TODAY)


def pool(name: str = "p", capacity: str = "spot", machine: str = "g2-standard-8", **more: Any) -> dict[str, Any]:
    return {"name": name, "capacity": capacity, "instanceTypes": [machine], "maxNodes": 4, **more}


def t4(machine: str = "n1-standard-8", count: int = 1, **more: Any) -> dict[str, Any]:
    return pool(machine=machine, accelerator={"type": "nvidia-t4", "count": count}, **more)


def test_the_one_flag_gives_spot_pools_with_counterparts() -> None:
    env = load(spot=True)

    assert [(one.name, one.instance_types) for one in env.pools] == [
        ("cpu-spot", ("n2-standard-8",)),
        ("cpu", ("n2-standard-8",)),
        ("gpu-spot", ("g2-standard-8",)),
        ("gpu", ("g2-standard-8",)),
    ]
    assert env.pool("gpu").accelerator is not None
    assert env.zones == ("us-central1-a", "us-central1-b", "us-central1-c")


def test_the_release_channel_is_regular_unless_said() -> None:
    channels = [Gcp.model_validate(GCP).release_channel, Gcp.model_validate({**GCP, "releaseChannel": "rapid"})]

    assert channels[0] == "regular"
    assert getattr(channels[1], "release_channel", None) == "rapid"


def test_a_trainer_has_what_the_shutdown_leaves_of_itself() -> None:
    assert SHUTDOWN_SECONDS in {0, 30, 120}, "nothing else is allowed by the API"
    assert Gcp.grace_seconds == SHUTDOWN_SECONDS - CRITICAL_SECONDS
    assert Gcp.spot_taint == GKE_SPOT_TAINT


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    # settings, key, a part of what is said
    ({"access": {"admins": [5]}}, "access.admins[0]", "as in user:researcher@example.com"),
    ({"access": {"admins": ["user:a\x1b@b.com"]}}, "access.admins[0]", "form of an IAM member"),
    ({"tags": {"team": "research\n"}}, "tags.team", "no value that a label"),
    ({"pools": {}}, "pools", "instanceTypes: [n2-standard-8]"),
    ({"pools": [pool(zones="us-central1-a")]}, "pools[0].zones", "Write `zones: [us-central1-a]`"),
    ({"pools": [pool(instanceTypes=["Standard_D8s_v5"])]}, "pools[0].instanceTypes[0]", "as in n2-standard-8"),
    ({"kubernetesVersion": "1.99"}, "kubernetesVersion", "what this release installs does not support it"),
    ({"provider": {**GCP, "region": "us-central9"}}, "provider.region", "us-central1"),
    ({"provider": {**GCP, "project": "Research"}}, "provider.project", "research-cluster"),
    ({"provider": {**GCP, "projectNumber": "research"}}, "provider.projectNumber", "123456789012"),
    ({"provider": {key: GCP[key] for key in ("cloud", "region", "project")}}, "provider.projectNumber", "missing"),
    ({"provider": {**GCP, "releaseChannel": "Regular"}}, "provider.releaseChannel", "regular"),
    ({"provider": {**GCP, "securityGroup": "team@example.com"}}, "provider.securityGroup", "gke-security-groups@"),
    ({"network": {"zones": ["us-central1-a", "us-central1-d"]}}, "network.zones[1]", "us-central1-f"),
    ({"network": {"zones": 5}}, "network.zones", "has 4"),
    ({"network": {"natGateways": "per-zone"}}, "network.natGateways", "AWS VPC"),
    ({"controlPlane": {"support": "standard"}}, "controlPlane.support", "EKS"),
    ({"spotServiceLinkedRole": "create"}, "spotServiceLinkedRole", "Remove it"),
    ({"pools": [pool(instanceTypes=["g2-standard-8", "g2-standard-12"])]}, "pools[0].instanceTypes", "own for each"),
    ({"pools": [pool(machine="g2-standart-8")]}, "pools[0].instanceTypes[0]", "g2-standard-8"),
    ({"pools": [pool(machine="p4d.24xlarge")]}, "pools[0].instanceTypes[0]", "n2-standard-8"),
    ({"pools": [pool(spotMaxPrice=1.5)]}, "pools[0].spotMaxPrice", "no"),
    ({"pools": [pool(consolidateAfter="1h")]}, "pools[0].consolidateAfter", "ten minutes"),
    ({"pools": [pool(autoscaler="cluster-autoscaler")]}, "pools[0].autoscaler", "AKS"),
    ({"pools": [t4(count=3)]}, "pools[0].accelerator.count", "1, 2 or 4"),
    ({"pools": [t4(machine="n1-standard-64")]}, "pools[0].instanceTypes[0]", "48 vCPUs"),
    ({"pools": [t4(machine="n2-standard-8")]}, "pools[0].accelerator", "none"),
    (
        {"pools": [pool(machine="n1-standard-8", accelerator={"type": "nvidia-l4", "count": 1})]},
        "pools[0].accelerator.type",
        "nvidia-t4",
    ),
    ({"pools": [pool(machine="a2-ultragpu-1g", zones=["us-central1-b"])]}, "pools[0].zones[0]", "us-central1-a"),
    (
        {"provider": {**GCP, "region": "europe-west8"}, "pools": [pool()]},
        "pools[0].instanceTypes",
        "europe-west4",
    ),
    ({"provider": {**GCP, "region": "us-east5"}, "pools": [t4()]}, "pools[0].accelerator.type", "us-central1"),
    ({"pools": [pool(machine="a3-highgpu-1g", capacity="on-demand")]}, "pools[0].instanceTypes[0]", "capacity: spot"),
    ({"pools": [pool(name="8gpu")]}, "pools[0].name", "p8gpu"),
    ({"pools": [pool(name="spotproof-system")]}, "pools[0].name", "of its own"),
    ({"access": {"admins": ["researcher@example.com"]}}, "access.admins[0]", "user:researcher@example.com"),
    ({"access": {"admins": ["group:ml@example.com"]}}, "access.admins[0]", "securityGroup"),
    ({"workspaces": [{"namespace": "a", "members": ["user:nobody"]}]}, "workspaces[0].members[0]", "user:"),
    ({"workspaces": [{"namespace": "gke-managed"}]}, "workspaces[0].namespace", "research"),
    ({"network": {"cidr": "10.0.0.0/20"}, "pools": [pool(maxNodes=100)]}, "network.cidr", "2048"),
    ({"tags": {"Team": "research"}}, "tags.Team", "lower-case"),
    ({"tags": {"goog-team": "research"}}, "tags.goog-team", "not goog"),
    ({"tags": {"team": "a b"}}, "tags.team", "lower-case"),
    ({"tags": {f"t{n}": "x" for n in range(33)}}, "tags", "32"),
    ({"logs": {"retainDays": 3653}}, "logs.retainDays", "3650"),
    (
        {"controlPlane": {"publicAccessCidrs": [f"203.0.{n}.0/24" for n in range(51)]}},
        "controlPlane.publicAccessCidrs",
        "50",
    ),
    ({"operators": {"gpuPlugin": {"mode": "off"}}}, "operators.gpuPlugin.mode", "GKE runs"),
    ({"operators": {"gpuPlugin": {"version": "0.17.0"}}}, "operators.gpuPlugin.version", "GKE runs"),
]


@pytest.mark.parametrize(("settings", "key", "said"), REFUSED, ids=[f"{key}: {said}" for _, key, said in REFUSED])
def test_what_cannot_work_is_refused_under_its_key_with_a_remedy(settings: dict[str, Any], key: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(**settings)

    assert [str(one) for one in caught.value.problems if one.key == key and said in str(one)], str(caught.value)


TAKEN: list[dict[str, Any]] = [
    {"pools": [pool(consolidateAfter="10m")], "network": {"natGateways": "single"}},
    {"controlPlane": {"support": "extended"}, "operators": {"gpuPlugin": {"mode": "install"}}},
    {"provider": {**GCP, "securityGroup": "gke-security-groups@example.com"}, "access": {"admins": ["group:a@b.com"]}},
    {"access": {"admins": ["serviceAccount:ci@research-dev.iam.gserviceaccount.com"]}},
    {"pools": [t4(machine="n1-standard-96", count=4)]},
    {"pools": [pool(machine="a3-highgpu-1g")]},
    {"pools": [pool(machine="n2-custom-6-20480", capacity="on-demand")]},
    {"pools": [pool(machine="c4a-standard-8")]},
    {"network": {"zones": ["us-central1-a", "us-central1-f"]}, "pools": [t4(zones=["us-central1-f"])]},
]


@pytest.mark.parametrize("settings", TAKEN)
def test_what_works_is_taken(settings: dict[str, Any]) -> None:
    load(**settings)


def test_all_problems_of_a_file_come_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        load(pools=[pool(name="8gpu", spotMaxPrice=1.0)], tags={"Team": "x"}, access={"admins": ["nobody"]})

    assert {one.key for one in caught.value.problems} == {
        "pools[0].name",
        "pools[0].spotMaxPrice",
        "tags.Team",
        "access.admins[0]",
    }


def test_every_zone_that_has_an_accelerator_is_a_zone_of_its_region() -> None:
    wrong = [
        (kind, region, letter)
        for kind, places in regions.ACCELERATOR_ZONES.items()
        for region, letters in places.items()
        for letter in letters
        if letter not in regions.ZONES.get(region, "")
    ]

    assert wrong == []


def test_an_accelerator_without_a_line_is_not_said_to_be_missing() -> None:
    assert regions.narrowed(["me-central1-a"], "nvidia-rtx-pro-6000-96gb") == ("me-central1-a",)
    assert regions.narrowed(["me-central1-a"], "nvidia-t4") == ()
    assert regions.narrowed(["me-central1-a"], None) == ("me-central1-a",)


@pytest.mark.parametrize("prefix", range(16, 21))
def test_the_parts_of_a_network_do_not_overlap_and_lie_in_it(prefix: int) -> None:
    whole = IPv4Network(f"10.64.0.0/{prefix}")
    ranges = addresses.plan(str(whole))
    parts = [IPv4Network(one) for one in (ranges.nodes, ranges.pods, ranges.services)]

    assert all(one.subnet_of(whole) for one in parts)
    assert not any(one.overlaps(other) for one in parts for other in parts if one is not other)
    assert addresses.available(str(whole)) == whole.num_addresses / 2
