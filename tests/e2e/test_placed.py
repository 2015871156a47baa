"""Every job of the portability table on the nodes of every stack, placed by the real scheduler on kwok's nodes.

Each pod is put to each node by name, and the scheduler's answer compared with the matcher's of tests/portability; then
it is created as it is, and lands on one of the pools that the table names, or waits where the table says so.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from spotproof.clouds.registry import checkpoint_store
from spotproof.kube.client import Kube
from spotproof.manifests.workspaces import workspace
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.settings import Environment
from spotproof.settings.environment import Workspace
from tests.e2e.nodes import brought_up, claim
from tests.e2e.pods import in_order, pod_of, tolerations_of
from tests.e2e.scheduled import decided, put_to, remove, said
from tests.e2e.stacks import Object, environment_of, is_of, make, objects_of, resources_of
from tests.portability.admission import admitted, from_the_cloud
from tests.portability.documents import DOCUMENTS, OPERATORS, raw_pod
from tests.portability.landing import Stack, pool_of
from tests.portability.nodes import nodes_of
from tests.portability.scheduler import Pod, reasons_against
from tests.portability.test_rendered_jobs import rendered
from tests.stacks.runs import STACKS
from tests.unit.manifests.jobs import pod_templates

HOME: Final = "research"
SECONDS: Final = 60
SENT: Final = count()


@dataclass(frozen=True)
class Case:
    """A pod as somebody sends it."""

    words: str
    spec: Mapping[str, Any]
    labels: Mapping[str, str]

    def pod(self, number: int, node: str = "") -> Object:
        """The pod; put to one node where it is named. Each is a gang of its own, so none waits for another's zone."""
        spec = json.loads(json.dumps(self.spec))
        terms = (
            spec.get("affinity", {}).get("podAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])
        )
        own = {key: str(number) for term in terms for key in term["matchLabelKeys"]}
        return pod_of(f"pod-{number}-{next(SENT)}", HOME, put_to(spec, node) if node else spec, {**self.labels, **own})


@cache
def stack(name: str) -> Stack:
    """A stack's settings and the nodes that its program makes."""
    env = environment_of(name)
    return Stack(name, env, tuple(nodes_of(env, resources_of(name))))


@cache
def cases(name: str) -> tuple[Case, ...]:
    """Raw and rendered, of both operators, by capacity and on every tier; what a scheduler sees twice is there once."""
    found: dict[str, Case] = {}
    for written in _all_cases(stack(name)):
        case = _handed_on(written, environment_of(name))
        seen = [case.spec.get(key) for key in ("nodeSelector", "tolerations", "affinity", "volumes")]
        sizes = [container.get("resources") for container in case.spec["containers"]]
        found.setdefault(json.dumps([seen, sizes], sort_keys=True), case)
    return tuple(found.values())


def _handed_on(case: Case, env: Environment) -> Case:
    """The case with what only the cloud's own API server adds: GKE's toleration of GPUs."""
    carried = list(case.spec.get("tolerations", []))
    added = [one for one in from_the_cloud(case.spec, env) if one not in carried]
    return replace(case, spec={**case.spec, "tolerations": [*carried, *added]})


def _all_cases(here: Stack) -> Iterator[Case]:
    for document in DOCUMENTS:
        for gpus in (0, 1):
            yield Case(f"{document.words}, {gpus} GPUs", raw_pod(document, gpus=gpus), {})
        for operator in OPERATORS:
            choice = {"extraSelectors": document.selectors, "extraTolerations": list(document.tolerations)}
            for role, template in pod_templates(rendered(here, operator, choice)).items():
                labels = template["metadata"]["labels"]
                yield Case(f"{document.words}, {operator}, {role}", template["spec"], labels)
    for policy in here.env.fallback_policies:
        if bool(here.env.pool(policy.tiers[0].pool).accelerator) != bool(here.gpus):
            continue
        worker = pod_templates(rendered(here, "jobset", {}, fallbackPolicy=policy.name))["worker"]
        for tier in policy.tiers:
            moved = {**worker["spec"], "nodeSelector": here.env.pool(tier.pool).selector}
            yield Case(f"policy {policy.name} on {tier.pool}", moved, worker["metadata"]["labels"])


@pytest.fixture(scope="module", params=STACKS)
def here(request: pytest.FixtureRequest, plane: ControlPlane) -> Iterator[Stack]:
    """A stack whose nodes, workspace and policies are there, and no other's."""
    found, kube = stack(request.param), plane.kube
    policies = [one for one in objects_of(found.name) if is_of(one, "admissionregistration.k8s.io")]
    make(
        kube,
        [
            *workspace(Workspace(namespace=HOME)),
            *policies,
            *claim(checkpoint_store(found.name, found.env).volume_claim),
        ],
    )
    for case in cases(found.name):
        kube.wait(partial(_admitted, kube, case, found), f"{found.name}'s policies to look at {case.words}", SECONDS)
    with brought_up(kube, found.nodes):
        yield found
        remove(kube, kube.list("v1", "Pod", HOME))


def _admitted(kube: Kube, case: Case, here: Stack) -> bool:
    stored = kube.create(case.pod(0), dry_run=True).object
    return in_order(tolerations_of(stored)) == in_order(_without_lost(admitted(case.spec, here.env)))


def _without_lost(pod: Pod) -> list[Any]:
    return tolerations_of({"spec": pod})


def test_every_pod_fits_the_very_nodes_that_the_matcher_says(plane: ControlPlane, here: Stack) -> None:
    for case in cases(here.name):
        stored = admitted(case.spec, here.env)
        pods = [case.pod(number, node.name) for number, node in enumerate(here.nodes)]
        for pod in pods:
            plane.kube.create(pod)

        for node, pod in zip(here.nodes, pods, strict=True):
            reasons = reasons_against(stored, node)
            chosen, refusal = decided(plane.kube, pod, fits=not reasons)
            assert chosen == ("" if reasons else node.name), (case.words, node.name, reasons, refusal)
            assert not reasons or said(reasons) in refusal, (case.words, node.name)
        remove(plane.kube, pods)


def test_every_pod_lands_where_the_table_says_or_waits_where_it_says_so(plane: ControlPlane, here: Stack) -> None:
    nodes = {node.name: node for node in here.nodes}
    for case in cases(here.name):
        pools = here.lands_on(admitted(case.spec, here.env))
        pod = case.pod(0)
        plane.kube.create(pod)

        chosen, _ = decided(plane.kube, pod, fits=bool(pools))
        assert (pool_of(here.env, nodes[chosen]) in pools) if chosen else not pools, (case.words, chosen, pools)
        remove(plane.kube, [pod])


def test_the_documents_are_the_seeds_own_words(shared: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((shared / "seeds").glob("*.txt"))]
    for document in DOCUMENTS:
        for key, value in document.selectors.items():
            assert any(f"{key}: {value}" in text or f'{key}: "{value}"' in text for text in texts), (key, value)
