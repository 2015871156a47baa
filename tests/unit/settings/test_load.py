"""Every cross-check: what it refuses, under which key, and what it says to write instead."""

import copy
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.settings import Environment, SettingsError, load_environment, load_stack, warnings
from spotproof.settings.operators import EXAMPLE_IMAGE
from tests.unit.settings.damage import VALID

TODAY = date(2026, 11, 20)
SMALLEST: dict[str, object] = {"provider": VALID["provider"]}


def environment(**changes: object) -> dict[str, Any]:
    return copy.deepcopy(VALID) | changes


def pool(name: str, **changes: object) -> dict[str, object]:
    return {"name": name, "capacity": "on-demand", "instanceTypes": ["m7i.large"], "maxNodes": 1} | changes


def policy(*tiers: dict[str, object], **changes: object) -> dict[str, object]:
    return {"name": "standard", "tiers": list(tiers)} | changes


AWS: dict[str, object] = {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}
IMAGE = EXAMPLE_IMAGE
GPU = {"instanceTypes": ["p4d.24xlarge"]}

# ruff: noqa: E501 - a table reads by its columns
REFUSED: list[tuple[dict[str, object], str, str]] = [
    # what is changed, the key of the problem, a part of what it says
    ({"pools": [pool("a"), pool("a")]}, "pools[1].name", "as pools[0].name is"),
    ({"pools": [pool("Big_Pool")]}, "pools[0].name", "form"),
    ({"pools": [pool("a", maxNode=3)]}, "pools[0].maxNode", "Write maxNodes"),
    ({"pools": [pool("a", maxNodes="many")]}, "pools[0].maxNodes", "whole number"),
    ({"pools": [pool("a", capacity="Spot")]}, "pools[0].capacity", "spot"),
    ({"pools": [pool("a", instanceTypes=["p4d.24xlrage"])]}, "pools[0].instanceTypes[0]", "Write p4d.24xlarge"),
    ({"pools": [pool("a", instanceTypes=["m7i.large", "m7g.large"])]}, "pools[0].instanceTypes", "arm64"),
    ({"pools": [pool("a", instanceTypes=["g6.xlarge", "g6.12xlarge"])]}, "pools[0].instanceTypes[1]", "4 x nvidia-l4"),
    ({"pools": [pool("a", **GPU, accelerator={"type": "nvidia-a100", "count": 8})]}, "pools[0].accelerator.type", "a100-40gb"),
    ({"pools": [pool("a", accelerator={"type": "nvidia-t4", "count": 1})]}, "pools[0].accelerator", "m7i.large has none"),
    ({"pools": [pool("a", **GPU, accelerator={"type": "", "count": 8}), pool("b", **GPU)],
      "fallbackPolicies": [policy({"pool": "a"}, {"pool": "b"})]}, "pools[0].accelerator.type", "not known"),
    ({"pools": [pool("a", capacity="spot", spotMaxPrice=1.5)]}, "pools[0].spotMaxPrice", "Karpenter"),
    ({"pools": [pool("a", zones=["us-west-2d"])]}, "pools[0].zones[0]", "us-west-2a"),
    ({"pools": [pool("a", diskGib=20)]}, "pools[0].diskGib", "50 or more"),
    ({"network": {"cidr": "172.20.0.0/16"}}, "network.cidr", "services"),
    ({"network": {"cidr": "10.0.0.0/8"}}, "network.cidr", "/16 to /20"),
    ({"network": {"cidr": "8.8.0.0/16"}}, "network.cidr", "public"),
    ({"network": {"cidr": "10.40.0.1/16"}}, "network.cidr", "10.40.0.0/16"),
    ({"network": {"zones": ["us-west-2a", "us-east-1a"]}}, "network.zones[1]", "us-west-2"),
    ({"network": {"zones": 1}}, "network.zones", "2 or more"),
    ({"network": {"cidr": "10.1.0.0/16", "existing": {"vpcId": "vpc-12345678", "subnetIds": ["subnet-12345678", "subnet-12345679"]}}},
     "network", "existing beside"),
    ({"network": {"existing": {"vpcId": "vpc-12345678", "subnetIds": ["subnet-12345678", "subnet-12345679"]}}},
     "network.zones", "beside a VPC that exists"),
    ({"workspaces": [{"namespace": "research", "serviceAccount": "default"}]}, "workspaces[0].serviceAccount", "by itself"),
    ({"workspaces": [{"namespace": "jobset-system"}]}, "workspaces[0].namespace", "belongs to the cluster"),
    ({"operators": {"jobset": {"mode": "off", "version": "0.12.0"}}}, "operators.jobset.version", "mode: off"),
    ({"operators": {"jobset": {"mode": "existing", "version": "0.6.0"}}}, "operators.jobset.version", "BlockingRecreate"),
    ({"operators": {"jobset": {"mode": "install", "version": "0.7.0-rc.1"}}}, "operators.jobset.version", "Write 0.7.0 or newer"),
    ({"operators": {"kuberay": {"mode": "existing", "version": "1.1.1"}}}, "operators.kuberay.version", "backoffLimit"),
    ({"operators": {"gpuPlugin": {"mode": "existing", "version": "0.19.2"}}}, "operators.gpuPlugin.version", "InfiniBand"),
    ({"controlPlane": {"publicAccessCidrs": ["0.0.0.0/0"]}}, "controlPlane.publicAccessCidrs[0]", "whole internet"),
    ({"controlPlane": {"publicAccessCidrs": ["192.168.1.0/24"]}}, "controlPlane.publicAccessCidrs[0]", "private range"),
    ({"logs": {"retainDays": 31}}, "logs.retainDays", "Write 30"),
    ({"access": {"admins": ["arn:aws:iam::210987654321:role/Platform"]}}, "access.admins[0]", "210987654321"),
    ({"access": {"admins": ["Platform"]}}, "access.admins[0]", "not the ARN"),
    ({"workspaces": [{"namespace": "a", "members": ["user:ada"]}]}, "workspaces[0].members[0]", "arn:aws:iam::123456789012:role/Platform"),
    ({"workspaces": [{"namespace": "kube-system"}]}, "workspaces[0].namespace", "cluster itself"),
    ({"workspaces": [{"namespace": "a"}, {"namespace": "a"}]}, "workspaces[1].namespace", "workspaces[0]"),
    ({"fallbackPolicies": [policy({"pool": "a100-sopt"}, {"pool": "a100"})]}, "fallbackPolicies[0].tiers[0].pool", "a100-spot"),
    ({"fallbackPolicies": [policy({"pool": "a100-spot"}, {"pool": "cpu"})]}, "fallbackPolicies[0].tiers[1].pool", "same accelerator"),
    ({"fallbackPolicies": [policy({"pool": "a100-spot", "maxFailures": 3})]},
     "fallbackPolicies[0].tiers[0].maxFailures", "(a100)"),
    ({"fallbackPolicies": [policy({"pool": "a100"}, {"pool": "a100"})]}, "fallbackPolicies[0]", "two tiers"),
    ({"fallbackPolicies": [policy({"pool": "a100"}, **{"return": {}})]}, "fallbackPolicies[0].return", "one tier"),
    ({"fallbackPolicies": [policy({"pool": "a100", "pendingTimeout": "1 hour"})]},
     "fallbackPolicies[0].tiers[0].pendingTimeout", "1h30m"),
    ({"fallbackPolicies": [policy({"pool": "a100"}, deadline="gaurd")]}, "fallbackPolicies[0].deadline", "guard"),
    ({"spot": True}, "spot", "beside pools"),
    ({"kubernetesVersion": 1.36}, "kubernetesVersion", "in quotes"),
    ({"kubernetesVersion": "1.34"}, "kubernetesVersion", "older"),
    ({"kubernetesVersion": "1.38"}, "kubernetesVersion", "newer"),
    ({"operators": {"gpuPlugin": {"mode": "off"}}}, "operators.gpuPlugin.mode", "nvidia.com/gpu"),
    ({"provider": AWS | {"amiAlias": "bottlerocket@1.60.0"}}, "operators.gpuPlugin.mode", "brings the plugin itself"),
    ({"provider": AWS | {"amiAlias": "al2023@latest"}}, "provider.amiAlias", "al2023@v2"),
    ({"provider": AWS | {"region": "us-west2"}}, "provider.region", "us-west-2"),
    ({"provider": AWS | {"region": "us-iso-east-1"}}, "provider.region", "no EKS is known"),
    ({"provider": AWS | {"accountId": 123456789012}}, "provider.accountId", "in quotes"),
    ({"pools": [pool("a", autoscaler="cluster-autoscaler")]}, "pools[0].autoscaler", "AKS's two ways"),
    ({"pools": [pool("a", nodeLabels={"a": "b"})]}, "pools[0].nodeLabels", "somebody else made"),
    ({"checkpoints": {"uri": "s3://elsewhere"}}, "checkpoints.uri", "here a bucket is made"),
    ({"provider": {"cloud": "awz"}}, "provider.cloud", "cloud: aws"),
    ({"operators": {"fallback": {"mode": "install"}}}, "operators.fallback.image", "is missing, with `mode: install`"),
    ({"operators": {"fallback": {"image": IMAGE}}}, "operators.fallback.image", "nothing would run it"),
    (
        {"operators": {"fallback": {"mode": "install", "image": "ghcr.io/example/controller:1.2"}}},
        "operators.fallback.image",
        "an image without a digest; whoever may push",
    ),
    (
        {"operators": {"fallback": {"mode": "install", "image": "controller@sha256:" + "a" * 64}}},
        "operators.fallback.image",
        "no node could pull it",
    ),
    (
        {"operators": {"fallback": {"mode": "install", "image": IMAGE.replace("@", ":1.2@")}}},
        "operators.fallback.image",
        f"leave the tag out: `{IMAGE}`",
    ),
    (
        {
            "operators": {
                "jobset": {"mode": "off"},
                "kuberay": {"mode": "off"},
                "fallback": {"mode": "install", "image": IMAGE},
            }
        },
        "operators.fallback.mode",
        "no job that it can move",
    ),
    ({"tags": {"aws:owner": "me"}}, "tags.aws:owner", "AWS"),
    ({"tags": {"karpenter.sh/nodepool": "me"}}, 'tags."karpenter.sh/nodepool"', "Karpenter"),
    ({"tags": {"${owner}": "me"}}, 'tags."${owner}"', "no tag of AWS"),
    ({"tags": {"owner": "me\n"}}, "tags.owner", "no tag of AWS"),
    ({"tags": {"": "me"}}, "tags", "may not be empty"),
    ({"tags": {"x" * 129: "me"}}, "tags", "a key of 129 characters, and at most 128"),
    ({"access": {"admins": ["user:a@b"]}}, "access.admins[0]", "as in arn:aws:iam::123456789012:role/Platform"),
    ({"access": {"admins": ["platform"]}}, "access.admins[0]", "not the ARN of an IAM role or user"),
    ({"access": {"admins": ["arn:aws:iam::123456789012:root"]}}, "access.admins[0]", "not the ARN of an IAM role"),
    ({"network": {"zones": ["us-west-2a", 7]}}, "network.zones[1]", "text is needed"),
    ({"network": {"zones": []}}, "network.zones", "at least 2 of them are needed"),
    ({"workspaces": [{"namespace": "a", "members": [""]}]}, "workspaces[0].members[0]", "it may not be empty"),
    ({"pools": [pool("A100")]}, "pools[0].name", "lower-case letters, digits and hyphens, at most 40"),
    ({"pools": [pool("a", instanceTypes=["n2-standard-8"])]}, "pools[0].instanceTypes[0]", "Write family.size"),
    ({"provider": {"region": "us-central1", "project": "research"}}, "provider.cloud", "is missing"),
    (
        {"provider": {"location": "eastus", "subscriptionId": "x", "tenantId": "y"}},
        "provider.cloud",
        "Write `cloud: azure`",
    ),
    ({"provider": {"Cloud": "aws"}}, "provider.Cloud", "Write cloud"),
    ({"provider": {"cloud": ["gcp"]}}, "provider.cloud", "no such cloud"),
    ({"prices": "/etc/prices.yaml"}, "prices", "beside the stack file"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "key", "says"), REFUSED, ids=[f"{key}: {says}" for _, key, says in REFUSED])
def test_a_setting_that_cannot_work_is_refused_under_its_key(changes: dict[str, object], key: str, says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_environment(environment(**changes), today=TODAY)

    found = {problem.key: str(problem) for problem in caught.value.problems}
    assert says in found.get(key, f"{key} is not among {sorted(found)}")


@pytest.mark.parametrize("provider", [{"cloud": "gpc"}, {"cloud": 3}, {"region": "us-central1"}])
def test_where_no_cloud_is_known_the_shape_is_judged_and_no_cloud_is_spoken_of(provider: dict[str, object]) -> None:
    with pytest.raises(SettingsError) as caught:
        load_environment(
            {
                "provider": provider,
                "access": {"admins": ["group:platform@example.com"]},
                "network": {"zones": ["eastus-1", "eastus-2"]},
                "pools": [pool("a", instanceTypes=["n2-standard-8"], maxNode=3)],
                "workspaces": [{"namespace": "a", "members": ["group:research@example.com"]}],
                "tags": {"${owner}": "me"},
            },
            today=TODAY,
        )

    assert [problem.key for problem in caught.value.problems] == ["provider.cloud", "pools[0].maxNode"]


@pytest.mark.parametrize("pools", [{"a": 1}, []])
def test_tiers_are_not_judged_by_pools_that_nobody_could_read(pools: object) -> None:
    with pytest.raises(SettingsError) as caught:
        load_environment(environment(pools=pools), today=TODAY)

    assert [problem.key for problem in caught.value.problems] == ["pools"]


def test_a_report_holds_nothing_that_a_terminal_would_obey() -> None:
    escape = "\x1b[31m\n"
    names = [f"a{escape}", f"a{escape}"]
    changes = {"access": {"admins": names}, "network": {"zones": names}, "prices": f"/{escape}", "tags": {escape: "x"}}

    with pytest.raises(SettingsError) as caught:
        load_environment(environment(**changes), today=TODAY)

    assert all(line.isprintable() for line in str(caught.value).splitlines())
    assert len(str(caught.value).splitlines()) == 1 + len(caught.value.problems)


def test_the_environment_of_the_design_document_is_valid() -> None:
    assert load_environment(environment(), today=TODAY).pool("a100-spot").max_nodes == 16


def test_shape_and_cross_check_problems_come_together_in_the_order_of_the_file() -> None:
    broken = environment(
        logs={"retainDays": 31},
        pools=[pool("a", maxNode=3), pool("b", diskGib="big")],
        fallbackPolicies=[policy({"pool": "nowhere"})],
    )

    with pytest.raises(SettingsError) as caught:
        load_environment(broken, today=TODAY)

    keys = [problem.key for problem in caught.value.problems]
    assert keys == ["logs.retainDays", "pools[0].maxNode", "pools[1].diskGib", "fallbackPolicies[0].tiers[0].pool"]


def test_the_one_flag_gives_spot_pools_with_counterparts_and_a_policy_between_them() -> None:
    env = load_environment(SMALLEST | {"spot": True}, today=TODAY)

    assert [(p.name, p.capacity) for p in env.pools] == [
        ("cpu-spot", "spot"),
        ("cpu", "on-demand"),
        ("gpu-spot", "spot"),
        ("gpu", "on-demand"),
    ]
    assert [tier.pool for tier in env.fallback_policies[0].tiers] == ["gpu-spot", "gpu"]
    assert env.fallback_policies[0].name == "standard"


def test_without_the_flag_both_default_pools_are_on_demand() -> None:
    env = load_environment(SMALLEST, today=TODAY)

    assert [(p.name, p.capacity) for p in env.pools] == [("cpu", "on-demand"), ("gpu", "on-demand")]
    assert env.fallback_policies == ()


def test_determineds_fragment_becomes_a_pool_with_its_accelerators() -> None:
    fragment = pool("aws-spot-g4dn-metal", capacity="spot", instanceTypes=["g4dn.metal"], maxNodes=10)

    env = load_environment(SMALLEST | {"pools": [fragment]}, today=TODAY)

    accelerator = env.pools[0].accelerator
    assert accelerator is not None
    assert (accelerator.type, accelerator.count, accelerator.memory_gib) == ("nvidia-t4", 8, 16)


def test_the_last_tier_waits_for_ever_unless_it_says_otherwise() -> None:
    tiers = load_environment(environment(), today=TODAY).fallback_policies[0].tiers

    assert [tier.max_failures for tier in tiers] == [5, -1]


def test_a_key_beside_the_environment_is_refused() -> None:
    with pytest.raises(SettingsError, match="spotproof:enviroment: is not a key"):
        load_stack({"spotproof:environment": environment(), "spotproof:enviroment": {}}, today=TODAY)


@pytest.mark.parametrize(
    "operators",
    [
        {"jobset": {"mode": "existing", "version": "0.7.0"}},
        {"kuberay": {"mode": "existing", "version": "1.2.0+build.7"}},
        {"gpuPlugin": {"mode": "existing", "version": "0.18.2"}},
        {"gpuPlugin": {"mode": "install", "version": "0.19.3"}},
    ],
)
def test_an_operators_version_that_does_what_jobs_need_is_taken(operators: dict[str, object]) -> None:
    assert load_environment(environment(operators=operators), today=TODAY)


def test_a_file_without_the_environment_says_what_to_write() -> None:
    with pytest.raises(SettingsError, match="spotproof:environment: is missing"):
        load_stack({"aws:region": "us-west-2"}, today=TODAY)


@pytest.mark.parametrize(
    ("day", "warned"),
    [(date(2027, 1, 25), False), (date(2027, 1, 26), True), (date(2027, 3, 28), True)],
)
def test_a_version_is_warned_of_from_60_days_before_its_support_ends(day: date, warned: bool) -> None:  # noqa: FBT001
    env = load_environment(environment(kubernetesVersion="1.35"), today=day)

    assert ("kubernetesVersion" in {one.key for one in warnings(env, day)}) is warned


@pytest.mark.parametrize(("ranges", "warned"), [([], True), (["203.0.113.0/24"], False)])
def test_an_api_server_nobody_can_reach_from_where_up_runs_is_warned_of(ranges: list[str], warned: bool) -> None:  # noqa: FBT001
    env = load_environment({**SMALLEST, "controlPlane": {"publicAccessCidrs": ranges}}, today=TODAY)

    assert ("controlPlane.publicAccessCidrs" in {one.key for one in warnings(env, TODAY)}) is warned


def test_a_version_is_refused_only_after_extended_support() -> None:
    raw = environment(kubernetesVersion="1.35")

    assert isinstance(load_environment(raw, today=date(2028, 3, 27)), Environment)
    with pytest.raises(SettingsError, match="extended support ended"):
        load_environment(raw, today=date(2028, 3, 28))


def test_settings_are_frozen() -> None:
    env = load_environment(environment(), today=TODAY)

    with pytest.raises(ValueError, match="frozen"):
        env.spot = True  # pyright: ignore[reportAttributeAccessIssue]


@st.composite
def valid(draw: st.DrawFn) -> dict[str, Any]:
    """Environments with any number of pools, each spot one with its counterpart and a policy between them."""
    kinds = draw(st.lists(st.sampled_from(["m7i.large", "g6.xlarge", "p4d.24xlarge"]), min_size=1, max_size=4))
    minutes = st.integers(1, 600).map(lambda number: f"{number}m")
    pools, policies = list[object](), list[object]()
    for index, kind in enumerate(kinds):
        same = {
            "instanceTypes": [kind],
            "maxNodes": draw(st.integers(1, 5000)),
            "diskGib": draw(st.integers(50, 16384)),
        }
        pools.append({"name": f"p{index}-spot", "capacity": "spot"} | same)
        pools.append({"name": f"p{index}", "capacity": "on-demand"} | same)
        first = {
            "pool": f"p{index}-spot",
            "maxFailures": draw(st.integers(-1, 1_000)),
            "pendingTimeout": draw(minutes),
        }
        deadline = draw(st.sampled_from(["off", "guard", "pace", {"mode": "guard", "margin": "1h"}]))
        policies.append({"name": f"policy-{index}", "tiers": [first, {"pool": f"p{index}"}], "deadline": deadline})
    return environment(pools=pools, fallbackPolicies=policies)


@given(valid())
def test_a_valid_environment_written_out_whole_reads_back_as_itself(raw: dict[str, Any]) -> None:
    env = load_environment(raw, today=TODAY)
    written = env.model_dump(mode="json", by_alias=True, exclude_none=True)

    assert load_environment(written, today=TODAY) == env
