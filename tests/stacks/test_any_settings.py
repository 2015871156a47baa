"""Whatever the settings accept, the program builds: no lint finding, no mandatory violation, inputs the API takes."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api_models.clouds import MODELS
from tests.api_models.judge import judged
from tests.stacks.runs import preview_settings

ROLE = "arn:aws:iam::123456789012:role/"
EXISTING = {
    "zones": ["eu-west-1a", "eu-west-1b"],
    "existing": {"vpcId": "vpc-12345678", "subnetIds": ["subnet-12345678", "subnet-12345679"]},
}
NETWORKS = st.one_of(
    st.just(EXISTING),
    st.fixed_dictionaries(
        {
            "cidr": st.sampled_from(["10.0.0.0/16", "172.31.0.0/20", "192.168.0.0/18", "100.64.0.0/16"]),
            "zones": st.integers(2, 3),
            "natGateways": st.sampled_from(["single", "per-zone"]),
        }
    ),
)
TYPES = st.sampled_from(
    [["m7i.large"], ["m7g.large", "c7g.xlarge"], ["g6.xlarge", "g6.2xlarge"], ["p5.48xlarge"], ["c5.metal"]]
)
OPERATOR = st.fixed_dictionaries({"mode": st.sampled_from(["install", "existing", "off"])})


@st.composite
def environments(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of every kind, each pool on spot with its counterpart and a policy between them."""
    pools, policies = list[object](), list[object]()
    for number, types in enumerate(draw(st.lists(TYPES, min_size=1, max_size=3))):
        both = {"instanceTypes": types, "maxNodes": draw(st.integers(1, 5000)), "diskGib": draw(st.integers(50, 2000))}
        pools.append({"name": f"p{number}-spot", "capacity": "spot", "consolidateAfter": "20m"} | both)
        pools.append({"name": f"p{number}", "capacity": "on-demand", "zones": ["eu-west-1b"]} | both)
        tier = {"pool": f"p{number}-spot", "maxFailures": draw(st.integers(-1, 99)), "pendingTimeout": "15m"}
        mode = draw(st.sampled_from(["off", "guard", "pace"]))
        policies.append({"name": f"p{number}", "tiers": [tier, {"pool": f"p{number}"}], "deadline": mode})
    bottlerocket = draw(st.booleans())
    plugin = {"mode": "off"} if bottlerocket else {"mode": draw(st.sampled_from(["install", "existing"]))}
    return {
        "provider": {"cloud": "aws", "region": "eu-west-1", "accountId": "123456789012"}
        | ({"amiAlias": "bottlerocket@1.60.0"} if bottlerocket else {}),
        "kubernetesVersion": draw(st.sampled_from(["1.35", "1.36"])),
        "network": draw(NETWORKS),
        "access": {"admins": draw(st.sampled_from([[], [f"{ROLE}Platform"]]))},
        "controlPlane": {
            "publicAccessCidrs": draw(st.sampled_from([[], ["203.0.113.0/24"]])),
            "deletionProtection": draw(st.booleans()),
            "support": draw(st.sampled_from(["standard", "extended"])),
        },
        "logs": {"retainDays": draw(st.sampled_from([1, 30, 3653]))},
        "checkpoints": {"protect": draw(st.booleans()), "versioning": draw(st.booleans())},
        "workspaces": [{"namespace": "a", "members": [f"{ROLE}Platform"]}, {"namespace": "b-" + "x" * 38}],
        "spotServiceLinkedRole": draw(st.sampled_from(["existing", "adopt", "create"])),
        "pools": pools,
        "fallbackPolicies": policies,
        "operators": {"jobset": draw(OPERATOR), "kuberay": draw(OPERATOR), "gpuPlugin": plugin},
        "imageRegistry": "mirror.example.org:5000/all",
        "tags": draw(st.sampled_from([{}, {"team": "a b", "cost:centre": "1"}])),
    }


# each is a whole preview in both modes, over a second; every run of the suite draws others
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(environment=environments(), stack=st.sampled_from(["dev", "Team_A.prod", "x" * 100]))
def test_what_the_settings_accept_is_built_without_objection(environment: dict[str, Any], stack: str) -> None:
    preview = preview_settings(environment, stack)

    assert preview.lint == ()
    assert [found for found in preview.policies if found.level == "mandatory"] == []
    aws = MODELS["aws"]
    assert [found for one in aws.resources(preview.capture) for found in judged(one, aws)[1]] == []
