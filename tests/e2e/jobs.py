"""The jobs of these tests, from experiment files by the code of `spotproof render`, and what they run on."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, Final

from spotproof.clouds.registry import checkpoint_store
from spotproof.manifests.gang import Job
from spotproof.manifests.jobs import render
from spotproof.prices import load_prices
from spotproof.rehearsal.pools import RehearsedPools, rehearsed
from spotproof.settings import Environment, load_stack, read_stack_file, read_yaml
from spotproof.settings.environment import Workspace
from spotproof.settings.experiment.load import load_experiment
from tests.conftest import ROOT

STACK: Final = "aws-prod"
SPOT_POOL: Final = "a100-spot-a"
"""The first tier of policy a100: where the jobs of these tests start."""
OTHER_SPOT_POOL: Final = "h100-spot-a"
"""The first tier of policy h100: where a story is played beside those of other tests."""
ON_DEMAND_POOL: Final = "a100"
HEAD_POOL: Final = "cpu"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
KNOB: Final = "rehearsal.spotproof.dev/"
STATIC: Final = "static-"
"""How names of nodes begin that nobody buys; the namespace they are for follows."""
HOSTNAME: Final = "kubernetes.io/hostname"
EXPERIMENTS: Final = ROOT / "tests" / "e2e" / "experiments"

PODS: Final = 8
"""Of the gang: two roles of four pods, four pods a node."""
WORKERS: Final = 4
"""Of the Ray cluster: two a node."""


@cache
def environment() -> Environment:
    """The stack's settings."""
    file = ROOT / "stacks" / f"Pulumi.{STACK}.yaml"
    return load_stack(read_stack_file(file), today=date(2026, 11, 1), source=file.name)


@cache
def pools() -> RehearsedPools:
    """The stack's pools, for a local Karpenter."""
    return rehearsed(environment(), load_prices())


def rendered(
    experiment: str, namespace: str, env: Environment | None = None, *, policy: str = "a100", name: str = ""
) -> dict[str, Any]:
    """The job of an experiment file, in a workspace of that namespace, on the tiers of a fallback policy.

    `name` is for a second job of the file, which saves elsewhere.
    """
    env = env or environment()
    file = EXPERIMENTS / f"{experiment}.yaml"
    raw: Any = read_yaml(file)
    raw["spec"]["fallbackPolicy"] = policy
    raw["name"] = name or raw["name"]
    case = load_experiment(raw, env, stem=file.stem, source=file.name)
    return render(Job(case, Workspace(namespace=namespace), checkpoint_store(STACK, env)))


def saves_and_leaves(jobset: dict[str, Any]) -> dict[str, Any]:
    """The JobSet with a program that saves when it is told to go, and ends with 1: no exit code of a killed one.

    The pods of a suspended Job that end with 143 match the rule for killed pods if the Job controller looks at them
    before they are gone: the Job fails, and the JobSet restarts while it is suspended.
    """
    for each in jobset["spec"]["replicatedJobs"]:
        each["template"]["spec"]["template"]["metadata"]["annotations"] = {f"{KNOB}exit-code-on-term": "1"}
    return jobset


def with_controller(env: Environment | None = None) -> Environment:
    """The stack, or another one, as it is with the fallback controller."""
    env = env or environment()
    fallback = env.operators.fallback.model_copy(update={"mode": "install"})
    return env.model_copy(update={"operators": env.operators.model_copy(update={"fallback": fallback})})


def static_node(name: str, pool: str) -> dict[str, Any]:
    """A node of a pool as somebody makes it who is not Karpenter, which leaves it alone: there at once."""
    (found,) = (each for each in pools().objects if each["kind"] == "NodePool" and _name(each) == pool)
    template: Any = found["spec"]
    template = template["template"]
    wanted = {each["key"]: each["values"] for each in template["spec"]["requirements"]}
    kind = next(each for each in pools().instance_types if each["name"] in wanted[INSTANCE_TYPE])
    size = {**kind["resources"], "pods": "110"}
    labels = {key: values[0] for key, values in wanted.items()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **labels, **template["metadata"]["labels"]}},
        "spec": {"taints": template["spec"].get("taints", [])},
        "status": {"allocatable": size, "capacity": size},
    }


def _name(thing: Mapping[str, Any]) -> str:
    return str(thing["metadata"]["name"])
