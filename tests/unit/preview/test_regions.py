"""A resource is paid for where it says, where its provider is, or where everything of its package is."""

from collections.abc import Mapping

import pytest

from spotproof.preview.model import UNKNOWN, Capture, Resource
from spotproof.preview.regions import default_regions, region_of

POOL = "kubernetes:karpenter.sh/v1:NodePool"


def resource(kind: str, name: str, inputs: Mapping[str, object] | None = None, provider: str = "") -> Resource:
    urn = f"urn:pulumi:s::p::{kind}::{name}"
    return Resource(urn, kind, name, custom=True, parent="", provider=provider, inputs=inputs or {})


def region(resource: Resource, *others: Resource, config: Mapping[str, object] | None = None) -> str:
    capture = Capture("p", "s", "unknown", (resource, *others))
    return region_of(capture, default_regions(config or {}))(resource)


@pytest.mark.parametrize(
    ("kind", "inputs", "expected"),
    [
        ("gcp:container/cluster:Cluster", {"location": "us-central1"}, "us-central1"),
        ("gcp:container/cluster:Cluster", {"location": "us-central1-a"}, "us-central1"),
        ("gcp:storage/bucket:Bucket", {"location": "US-CENTRAL1"}, "us-central1"),
        ("gcp:compute/disk:Disk", {"zone": "europe-west4-b"}, "europe-west4"),
        ("gcp:storage/bucket:Bucket", {"location": "EU"}, ""),
        ("azure-native:containerservice:ManagedCluster", {"location": "East US 2"}, "eastus2"),
        ("azure-native:network:DnsZone", {"location": "global"}, ""),
        ("aws:s3/bucket:Bucket", {"region": "eu-west-1"}, "eu-west-1"),
        ("aws:s3/bucket:Bucket", {"region": UNKNOWN}, ""),
        ("kubernetes:core/v1:ConfigMap", {"region": "x"}, ""),
    ],
)
def test_a_resource_says_its_region_itself(kind: str, inputs: dict[str, object], expected: str) -> None:
    assert region(resource(kind, "r", inputs)) == expected


@pytest.mark.parametrize(("package", "key"), [("aws", "region"), ("gcp", "region"), ("azure-native", "location")])
def test_its_provider_says_it_and_the_configuration_of_its_own_package(package: str, key: str) -> None:
    provider = resource(f"pulumi:providers:{package}", "p", {key: "here"})
    silent = resource(f"{package}:m/k:K", "r", provider=f"{provider.urn}::id")

    assert region(silent, provider) == "here"
    assert region(resource(f"{package}:m/k:K", "r"), config={f"{package}:{key}": "there"}) == "there"
    assert region(resource(f"{package}:m/k:K", "r"), config={"other:region": "there"}) == ""


def test_a_karpenter_pool_is_in_the_only_region_of_the_cloud_that_pays() -> None:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass"}
    pool = resource(POOL, "pool", {"spec": {"template": {"spec": {"nodeClassRef": reference}}}})
    here = resource("pulumi:providers:aws", "here", {"region": "us-west-2"})
    there = resource("pulumi:providers:aws", "there", {"region": "eu-west-1"})
    bucket = resource("gcp:storage/bucket:Bucket", "b", {"location": "us-central1"})

    assert region(pool, here, bucket) == "us-west-2"
    assert region(pool, here, there) == ""
    assert region(pool, here, there, config={"aws:region": "eu-west-1"}) == "eu-west-1"
