"""Whatever settings of somebody else's cluster are accepted, the program builds: clean, in both modes."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spotproof.manifests.fallback_policy import crd
from tests.stacks.runs import preview_settings
from tests.unit.manifests.crds import errors, schema_of

SCHEMA = schema_of(crd())
TAINT = st.fixed_dictionaries(
    {"key": st.sampled_from(["dedicated", "a.b/c", "nvidia.com/gpu"])},
    optional={"value": st.sampled_from(["", "training"]), "effect": st.sampled_from(["NoSchedule", "NoExecute"])},
)
STORE = st.one_of(
    st.sampled_from([{"uri": "pvc://claim"}, {"uri": "pvc://claim/a/b"}]),
    st.fixed_dictionaries(
        {"uri": st.sampled_from(["s3://a/b", "gs://a", "abfs://c/d", "abfss://c@a.b"])},
        optional={"secret": st.just("keys"), "serviceAccountAnnotations": st.just({"a.b/role": "trainer"})},
    ),
)
OPERATOR = st.one_of(
    st.fixed_dictionaries({"mode": st.sampled_from(["install", "existing", "off"])}),
    st.just({"mode": "existing", "version": "1.7.0"}),
)


@st.composite
def environments(draw: st.DrawFn) -> dict[str, Any]:
    """Pools by their names or by other labels, tainted or not, with a policy between each spot one and another."""
    pools, policies = list[object](), list[object]()
    for number in range(draw(st.integers(1, 3))):
        own, gpu = draw(st.integers(0, 3)), draw(st.booleans())
        for capacity in ("spot", "on-demand"):
            name = f"p{number}{'-spot' if capacity == 'spot' else ''}"
            labels = {"group": name} | {f"label-{n}": "same" for n in range(own - 1)}
            pool = {"name": name, "capacity": capacity, "maxNodes": draw(st.integers(1, 5000))}
            pool |= {"nodeLabels": labels} if own else {}
            pool |= {"accelerator": {"type": "nvidia-t4", "count": 1}} if gpu else {}
            taints = draw(st.none() | st.lists(TAINT, max_size=3))
            pools.append(pool | ({} if taints is None else {"taints": taints}))
        mode = draw(st.sampled_from(["off", "guard", "pace"]))
        tiers = [{"pool": f"p{number}-spot", "pendingTimeout": "15m"}, {"pool": f"p{number}"}]
        policies.append({"name": f"policy-{number}", "tiers": tiers, "deadline": mode})
    return {
        "provider": {"cloud": "existing", "context": draw(st.sampled_from(["kind-kind", "arn:aws:eks:a:1:cluster/b"]))}
        | draw(st.sampled_from([{}, {"kubeconfig": "~/.kube/lab"}, {"clusterName": "lab"}])),
        "kubernetesVersion": draw(st.sampled_from(["1.35", "1.36"])),
        "pools": pools,
        "checkpoints": draw(STORE),
        "workspaces": [{"namespace": "a", "members": ["user:ada", "group:research"]}, {"namespace": "b-" + "x" * 38}],
        "fallbackPolicies": policies,
        "operators": {"jobset": draw(OPERATOR), "kuberay": draw(OPERATOR), "gpuPlugin": draw(OPERATOR)},
        "imageRegistry": "mirror.example.org:5000/all",
    }


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(environment=environments(), stack=st.sampled_from(["dev", "Team_A.prod", "x" * 100]))
def test_what_the_settings_accept_is_built_without_objection(environment: dict[str, Any], stack: str) -> None:
    preview = preview_settings(environment, stack)

    assert preview.lint == ()
    assert [found for found in preview.policies if found.level == "mandatory"] == []
    policies = [one for one in preview.capture.resources if one.type.endswith(":FallbackPolicy")]
    assert len(policies) == len(environment["fallbackPolicies"])
    assert [errors(SCHEMA, dict(one.inputs)) for one in policies] == [[]] * len(policies)
