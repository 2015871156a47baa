"""The documents this project starts from: their jobs, rendered with a fallback policy, are taken to on-demand.

Covered: every fragment of the AIchor document, as a JobSet and as a RayJob, under policy `standard` of aws-dev as the
stack's own program makes it, with the settings' `maxFailures` of its first tier at 0 so that the first eviction moves
the job. The fragment that means on-demand is among them: the policy's tier takes the place of its capacity selector, so
that this job begins on spot, too.

Not covered: how many evictions `standard` tolerates and its times of hours (tests of counts and of ways back have them
small), stacks of other clouds (the rendered jobs differ in nothing but names of pools), and programs that train.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any, Final

import pytest

from spotproof.clouds.registry import checkpoint_store
from spotproof.manifests.gang import Job
from spotproof.manifests.job_admission import job_admission
from spotproof.manifests.jobs import render
from spotproof.preview.run import Configuration, Target, capture
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.history import node_of, works
from spotproof.settings import ENVIRONMENT_KEY
from spotproof.settings.environment import Workspace
from spotproof.settings.experiment.load import load_experiment
from spotproof.vocabulary import API_VERSION, POOL_LABEL
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import STATIC, with_controller
from tests.e2e.nodes import real
from tests.e2e.stacks import hyphens
from tests.e2e.stage import Object
from tests.portability.documents import DOCUMENTS, OPERATORS, Document, experiment, pods_of
from tests.portability.landing import pool_of, stack
from tests.stacks.runs import ROOT, settings_of

PARTS = Parts.JOBSET | Parts.KUBERAY
STACK: Final = "aws-dev"
POLICY: Final = "standard"
KIND: Final = f"kubernetes:{API_VERSION}:FallbackPolicy"
NODES: Final[Mapping[str, int]] = {"t4-spot": 2, "t4": 2, "cpu": 1}
"""Workers ask for the one GPU of a node, so each has a node of its own."""
_numbers = count(1)


@pytest.fixture(scope="module")
def prepared(plane: ControlPlane) -> ControlPlane:
    """This stack's admission policies, in place of those of the stack of other tests."""
    for each in job_admission(stack(STACK).env):
        plane.kube.apply(each)
    return plane


@cache
def edited() -> Configuration:
    """The stack's settings, of which the policy's first tier tolerates no eviction."""
    settings = settings_of(STACK)
    policies: list[Any] = settings["fallbackPolicies"]
    (policy,) = (each for each in policies if each["name"] == POLICY)
    first, *rest = policy["tiers"]
    strict = {**policy, "tiers": [{**first, "maxFailures": 0}, *rest]}
    others = [each for each in policies if each is not policy]
    return Configuration({ENVIRONMENT_KEY: json.dumps({**settings, "fallbackPolicies": [strict, *others]})})


@cache
def standard_policy() -> Object:
    """The policy, as the stack's program registers it with these settings."""
    target = Target("spotproof", STACK, root=ROOT, configuration=edited())
    made = (hyphens(each.inputs) for each in capture(ROOT / "infra", target, "known").resources if each.type == KIND)
    (found,) = (each for each in made if each["metadata"]["name"] == POLICY)
    return found


@pytest.fixture
def standard(here: Controlled) -> Controlled:
    """The stack's own policy, which tolerates no eviction here, and nodes of its pools."""
    here.kube.apply(standard_policy(), force=True)
    env = stack(STACK).env
    by_pool = {pool_of(env, node): node for node in stack(STACK).nodes}
    for pool, wanted in NODES.items():
        for _ in range(wanted):
            name = f"{STATIC}{here.namespace}-{pool}-{next(_numbers)}"
            here.put_node(real(replace(by_pool[pool], name=name)))
    return here


def seed(document: Document, operator: str, namespace: str) -> Object:
    """The document's job as `spotproof render` makes it."""
    env = with_controller(stack(STACK).env)
    choice: dict[str, Any] = {"extraSelectors": document.selectors, "extraTolerations": list(document.tolerations)}
    raw = experiment(operator, gpus=1, choice=choice)
    raw["spec"]["fallbackPolicy"] = POLICY
    case = load_experiment(raw, env, stem="train", source="train.yaml")
    return render(Job(case, Workspace(namespace=namespace), checkpoint_store(STACK, env)))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.words)
def test_the_job_of_a_seed_is_moved_to_on_demand(standard: Controlled, document: Document, operator: str) -> None:
    job = seed(document, operator, standard.namespace)
    workers = [pod for role, pod in pods_of(job) if role not in {"head", "submitter"}]
    assert [pod["nodeSelector"] for pod in workers] == [{POOL_LABEL: "t4-spot"}], (
        "the tier, and nothing of the document"
    )
    standard.submit(job)

    def on(pool: str) -> list[Object]:
        nodes = standard.nodes(pool)
        return [pod for pod in standard.pods() if works(pod) and node_of(pod) in nodes]

    standard.wait(lambda: len(on("t4-spot")) == 2, "both workers to run on spot")
    standard.says("train", phase="Running", tier="t4-spot")

    drained(standard, nodes_of(on("t4-spot"))[0])

    standard.wait(lambda: len(on("t4")) == 2, "both workers to run on on-demand")
    standard.says("train", phase="Running", tier="t4", evictions=1)
    standard.has_lived("train", "t4-spot", "t4", evictions=1)
