"""The documents this project starts from: their jobs, rendered with a fallback policy, are taken to on-demand."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any, Final

import pytest

from spotproof.clouds.registry import checkpoint_store
from spotproof.manifests.gang import Job
from spotproof.manifests.job_admission import job_admission
from spotproof.manifests.jobs import render
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.history import node_of, works
from spotproof.settings.environment import Workspace
from spotproof.settings.experiment.load import load_experiment
from spotproof.vocabulary import SPOT
from tests.e2e.controller.policies import resolved
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import STATIC, with_controller
from tests.e2e.nodes import real
from tests.e2e.stage import Object
from tests.portability.documents import DOCUMENTS, OPERATORS, Document, experiment
from tests.portability.landing import pool_of, stack

PARTS = Parts.JOBSET | Parts.KUBERAY
STACK: Final = "aws-dev"
POLICY: Final = "standard"
NODES: Final[Mapping[str, int]] = {"t4-spot": 2, "t4": 2, "cpu": 1}
"""Workers ask for the one GPU of a node, so each has a node of its own."""
_numbers = count(1)


@pytest.fixture(scope="module")
def prepared(plane: ControlPlane) -> ControlPlane:
    """This stack's admission policies, in place of those of the stack of other tests."""
    for each in job_admission(stack(STACK).env):
        plane.kube.apply(each)
    return plane


@pytest.fixture
def standard(here: Controlled) -> Controlled:
    """The stack's own policy, which tolerates no eviction here, and nodes of its pools."""
    env = stack(STACK).env
    (policy,) = (each for each in env.fallback_policies if each.name == POLICY)
    first, *rest = policy.tiers
    strict = policy.model_copy(update={"tiers": (first.model_copy(update={"max_failures": 0}), *rest)})
    here.kube.apply(resolved(strict, env), force=True)
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
@pytest.mark.parametrize("document", [each for each in DOCUMENTS if each.capacity == SPOT], ids=lambda one: one.words)
def test_the_job_of_a_seed_is_moved_to_on_demand(standard: Controlled, document: Document, operator: str) -> None:
    job = seed(document, operator, standard.namespace)
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
