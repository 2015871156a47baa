"""Whatever GCP's settings accept, the program builds: no lint finding, no mandatory violation, in both modes."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.stacks.runs import preview_settings

MACHINES = st.sampled_from(
    [
        {"instanceTypes": ["n2-standard-8"]},
        {"instanceTypes": ["e2-custom-4-8192"]},
        {"instanceTypes": ["c4a-standard-8"]},
        {"instanceTypes": ["n1-standard-8"], "accelerator": {"type": "nvidia-t4", "count": 2}},
        {"instanceTypes": ["n1-highmem-8"], "accelerator": {"type": "nvidia-v100-16gb", "count": 1}},
        {"instanceTypes": ["g2-standard-48"]},
        {"instanceTypes": ["a2-ultragpu-2g"]},
        {"instanceTypes": ["a3-megagpu-8g"]},
        {"instanceTypes": ["a3-ultragpu-8g"]},
        {"instanceTypes": ["a4-highgpu-8g"]},
        {"instanceTypes": ["g4-standard-96"]},
    ]
)
PEOPLE = ["user:research@example.com", "group:research@example.com", "serviceAccount:ci@p-1.iam.gserviceaccount.com"]
OPERATOR = st.fixed_dictionaries({"mode": st.sampled_from(["install", "existing", "off"])})


@st.composite
def environments(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of every kind, each pool on spot with its counterpart and a policy between them."""
    pools, policies = list[object](), list[object]()
    for number, machine in enumerate(draw(st.lists(MACHINES, min_size=1, max_size=3))):
        both = {**machine, "maxNodes": draw(st.integers(1, 40)), "diskGib": draw(st.integers(50, 2000))}
        pools.append({"name": f"p{number}-spot", "capacity": "spot", **both})
        pools.append({"name": f"p{number}", "capacity": "on-demand", **both})
        tier = {"pool": f"p{number}-spot", "maxFailures": draw(st.integers(-1, 99)), "pendingTimeout": "15m"}
        mode = draw(st.sampled_from(["off", "guard", "pace"]))
        policies.append({"name": f"p{number}", "tiers": [tier, {"pool": f"p{number}"}], "deadline": mode})
    group = draw(st.booleans())
    people = st.lists(st.sampled_from(PEOPLE if group else PEOPLE[::2]), unique=True)
    return {
        "provider": {
            "cloud": "gcp",
            "region": "us-central1",
            "project": "a-project-of-thirty-characters",
            "projectNumber": "123456789012",
            "releaseChannel": draw(st.sampled_from(["rapid", "regular", "stable", "extended"])),
            **({"securityGroup": "gke-security-groups@example.com"} if group else {}),
        },
        "kubernetesVersion": draw(st.sampled_from(["1.35", "1.36"])),
        "network": {
            "cidr": draw(st.sampled_from(["10.0.0.0/16", "172.16.0.0/16", "100.64.0.0/16"])),
            "zones": draw(st.sampled_from([3, 4, ["us-central1-a", "us-central1-b", "us-central1-c"]])),
        },
        "access": {"admins": draw(people)},
        "controlPlane": {
            "publicAccessCidrs": draw(st.sampled_from([[], ["203.0.113.0/24"]])),
            "deletionProtection": draw(st.booleans()),
        },
        "logs": {"retainDays": draw(st.integers(1, 3650))},
        "checkpoints": {"protect": draw(st.booleans()), "versioning": draw(st.booleans())},
        "workspaces": [{"namespace": "a", "members": draw(people)}, {"namespace": "b-" + "x" * 38}],
        "pools": pools,
        "fallbackPolicies": policies,
        "operators": {"jobset": draw(OPERATOR), "kuberay": draw(OPERATOR)},
        "imageRegistry": "mirror.example.org:5000/all",
        "tags": draw(st.sampled_from([{}, {"team": "a-b", "cost_centre": "1"}])),
    }


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(environment=environments(), stack=st.sampled_from(["dev", "Team_A.prod", "google", "x" * 100]))
def test_what_gcps_settings_accept_is_built_without_objection(environment: dict[str, Any], stack: str) -> None:
    preview = preview_settings(environment, stack)

    assert preview.lint == ()
    assert [found for found in preview.policies if found.level == "mandatory"] == []
