"""Experiments the tests of jobs share, sized to whatever stack they are rendered for."""

import copy
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from spotproof.clouds.registry import checkpoint_store
from spotproof.manifests.gang import Job
from spotproof.manifests.jobs import render
from spotproof.settings import Environment, load_stack, read_stack_file
from spotproof.settings.experiment.load import load_experiment
from spotproof.settings.pools import Pool

ROOT = Path(__file__).resolve().parents[3]
STACKS = sorted(file.name.split(".")[1] for file in (ROOT / "stacks").glob("Pulumi.*.yaml"))
TODAY = date(2026, 11, 20)

Json = dict[str, Any]


@cache
def stack(name: str) -> Environment:
    file = ROOT / "stacks" / f"Pulumi.{name}.yaml"
    return load_stack(read_stack_file(file), today=TODAY, source=file.name)


def job(raw: Json, env: Environment | None = None, stack_name: str = "aws-dev") -> Job:
    environment = env or stack(stack_name)
    case = load_experiment(copy.deepcopy(raw), environment, stem="run", source="run.yaml")
    return Job(case, environment.workspaces[0], checkpoint_store(stack_name, environment))


def rendered(raw: Json, env: Environment | None = None, stack_name: str = "aws-dev") -> Json:
    return render(job(raw, env, stack_name))


def with_controller(env: Environment) -> Environment:
    """The environment as it will be once the fallback controller can be installed."""
    fallback = env.operators.fallback.model_copy(update={"mode": "install"})
    return env.model_copy(update={"operators": env.operators.model_copy(update={"fallback": fallback})})


def resources(pool: Pool | None = None, **changes: object) -> Json:
    gpu: Json = {"accelerators": {"gpu": {"count": 1, "type": "gpu"}}} if pool and pool.accelerator else {}
    return {"cpus": 1, "ramRatio": 2, **gpu, **changes}


def experiment(operator: str, role: Json | None = None, **spec: object) -> Json:
    """A small experiment of either operator, its workers as given."""
    worker: Json = {"count": 2, "resources": resources(), **(role or {})}
    head: Json = {"Head": {"resources": resources()}} if operator == "kuberay" else {}
    return {
        "name": "demo",
        "spec": {
            "operator": operator,
            "image": "registry.example.org/research/train:1.4",
            "command": "python3 -u train.py",
            "types": {**head, "Worker": worker},
            **spec,
        },
    }


def on_policy(operator: str, env: Environment, **spec: object) -> Json:
    policy = env.fallback_policies[0]
    pools = [env.pool(tier.pool) for tier in policy.tiers]
    role = {"count": min(2, *(pool.max_nodes for pool in pools)), "resources": resources(pools[0])}
    return experiment(operator, role, fallbackPolicy=policy.name, **spec)


def on_pool(operator: str, pool: Pool, **spec: object) -> Json:
    role = {"count": min(2, pool.max_nodes), "resources": resources(pool)}
    return experiment(operator, role, pool=pool.name, **spec)


def pod_templates(manifest: Json) -> dict[str, Json]:
    """Every pod template of a job by the name of its role; a RayJob's head is `head`, its submitter `submitter`."""
    spec = manifest["spec"]
    if manifest["kind"] == "JobSet":
        return {each["name"]: each["template"]["spec"]["template"] for each in spec["replicatedJobs"]}
    cluster = spec["rayClusterSpec"]
    return {
        "submitter": spec["submitterPodTemplate"],
        "head": cluster["headGroupSpec"]["template"],
        **{each["groupName"]: each["template"] for each in cluster["workerGroupSpecs"]},
    }


def env_of(template: Json) -> dict[str, str]:
    """A pod's variables; one from a label is shown as the label in angle brackets."""
    (container,) = template["spec"]["containers"]
    return {
        each["name"]: each["value"] if "value" in each else f"<{each['valueFrom']['fieldRef']['fieldPath'][17:-2]}>"
        for each in container["env"]
    }


SPOT_FRAGMENTS: dict[str, Json] = {
    "eks": {"extraSelectors": {"karpenter.sh/capacity-type": "spot"}},
    "gke": {
        "extraSelectors": {"cloud.google.com/gke-spot": "true", "cloud.google.com/gke-provisioning": "spot"},
        "extraTolerations": [
            {"key": "cloud.google.com/gke-spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
        ],
    },
}
"""What the document of the seed writes into a role, inside its resources or beside them."""


@st.composite
def experiments(draw: st.DrawFn, env: Environment) -> Json:
    """Any small experiment that a stack has room for."""
    operator = draw(st.sampled_from(["jobset", "kuberay"]))
    ways = [
        "pool",
        "neither",
        *(SPOT_FRAGMENTS if env.spot_pools else ()),
        *(["policy"] if env.fallback_policies else ()),
    ]
    way = draw(st.sampled_from(ways))
    spec: Json = {"restartPolicy": {"backoffLimit": draw(st.integers(1, 100))}}
    pool, most = None, min(pool.max_nodes for pool in env.pools)
    if way == "policy":
        policy = draw(st.sampled_from(env.fallback_policies))
        spec["fallbackPolicy"], pool = policy.name, env.pool(policy.tiers[0].pool)
    elif way == "pool":
        pool = draw(st.sampled_from(env.pools))
        spec["pool"] = pool.name
    role: Json = {"count": draw(st.integers(1, min(2, most))), "resources": resources(pool)}
    role["resources"] |= draw(st.sampled_from([{}, {"shmSizeGB": 1}, {"shmSizeGB": 0.5}, {"cpus": 0.5}]))
    if way in SPOT_FRAGMENTS:
        holder = role if draw(st.booleans()) else role["resources"]
        holder.update(copy.deepcopy(SPOT_FRAGMENTS[way]))
    spec["command"] = draw(
        st.sampled_from(["python a.py", "cd /app && python a.py", "A=1 python a.py", "a\nb"])
        | st.lists(st.text("abc $'\"", min_size=1), min_size=1).filter(lambda words: bool(words[0].strip()))
    )
    return experiment(operator, role, **spec)


CASES_TEXT = [
    *(
        "true",
        "off",
        "No",
        "y",
        "null",
        "~",
        "1:30",
        "0o17",
        "1e3",
        "1_000",
        "2026-11-20",
        "",
        " a",
        "a ",
        "- a",
        "a: b",
    ),
    *("a #b", "a:", "@a", "*a", "&a", "!a", "%a", "[a", "{a", "|", ">", "'", '"', "a\nb", "\n", "a\n\nb\n", " a\nb"),
    *("=", "<<", ".inf", ".", "a\tb", "a\x85b", "\u2028", "é"),
]
"""Text that some parser of YAML takes for something else."""
