"""The stack of a cluster somebody else made, brought up by the real engine on a real API server, used, and taken down.

The engine is the real one, and so is every Kubernetes object: the stand-in for the provider applies it. Charts are
recorded only, since nothing here runs Helm; JobSet's own manager is there already, as on such a cluster.
"""

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import pytest

from spotproof.clouds.registry import checkpoint_store
from spotproof.manifests.metadata import PART_OF
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.tools import Tools
from tests.e2e.cluster import OnTheControlPlane, everything
from tests.e2e.nodes import HOME, brought_up, claim
from tests.e2e.stacks import environment_of, make, objects_of, resources_of, settings_for
from tests.engine.driver import Engine, Run
from tests.engine.standin.provider import StandIn
from tests.engine.standin.serving import served
from tests.portability.nodes import nodes_of
from tests.unit.manifests.jobs import on_policy, rendered

PARTS: Final = Parts.JOBSET
NAME: Final = "kind-dev"
SECONDS: Final = 90
ADMINISTRATOR: Final = ("deployer", ("system:masters",))
OURS: Final = ",".join(f"{key}={value}" for key, value in PART_OF.items())


class Story:
    """What happens to the stack, each step once, when a test first asks for it."""

    def __init__(self, plane: ControlPlane, engine: Engine, store: OnTheControlPlane) -> None:
        self.plane, self.engine, self.store = plane, engine, store
        self.before = everything(plane)
        settings = settings_for(NAME)
        settings["provider"]["context"] = "rehearsal"
        self.stack = engine.stack(NAME, settings)
        self.stack.configure(settings, kubeconfig=plane.kubeconfig_for(*ADMINISTRATOR).read_text(encoding="utf-8"))

    @cached_property
    def up(self) -> Run:
        """The first `up`, after a preview."""
        well(self.stack.preview())
        assert everything(self.plane) == self.before
        return well(self.stack.up())

    @cached_property
    def made(self) -> frozenset[tuple[str, str, str]]:
        """What is there since the `up`."""
        assert self.up
        return everything(self.plane) - self.before

    @cached_property
    def job(self) -> str:
        """A rendered job, once all its pods run."""
        assert self.made
        kube, env = self.plane.kube, environment_of(NAME)
        make(kube, claim(checkpoint_store(NAME, env).volume_claim))
        manifest = rendered(on_policy("jobset", env), env, NAME)
        kube.apply(manifest)
        wanted = sum(each["replicas"] for each in manifest["spec"]["replicatedJobs"])
        kube.wait(lambda: len(self._running()) >= wanted, f"{wanted} pods Running", SECONDS, seen=self._running)
        return str(manifest["metadata"]["name"])

    def _running(self) -> list[str]:
        pods = self.plane.kube.list("v1", "Pod", HOME)
        return [pod["spec"]["nodeName"] for pod in pods if pod["status"]["phase"] == "Running"]

    @cached_property
    def destroyed(self) -> Run:
        """The destroy, with the job still there."""
        assert self.job
        return well(self.stack.destroy())


def well(run: Run) -> Run:
    assert not run.error, run.error
    return run


@pytest.fixture(scope="module")
def story(plane: ControlPlane, tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The engine, the stand-in that applies objects, and the nodes that this cluster has."""
    store = OnTheControlPlane(plane.as_user(*ADMINISTRATOR))
    standin = StandIn(lambda _: store)
    nodes = nodes_of(environment_of(NAME), resources_of(NAME))
    with served(standin) as providers, brought_up(plane.kube, nodes):
        yield Story(plane, Engine(tools.folder, tmp_path_factory.mktemp("engine"), standin, providers), store)


def test_up_makes_every_object_of_the_program_and_only_what_comes_with_them(story: Story) -> None:
    sent = {(one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]) for one in objects_of(NAME)}

    by_themselves = {each for each in story.made if each not in sent}

    assert sent <= story.made
    assert by_themselves == {
        ("APIService", "", "v1alpha1.spotproof.dev"),
        ("ConfigMap", HOME, "kube-root-ca.crt"),
        ("ServiceAccount", HOME, "default"),
    }
    assert story.store.warnings == []


def test_every_object_of_ours_says_so(story: Story) -> None:
    kinds = {(one["apiVersion"], one["kind"]) for one in objects_of(NAME)}
    said = {
        (kind, one["metadata"].get("namespace", ""), one["metadata"]["name"])
        for version, kind in kinds
        for one in story.plane.kube.list(version, kind, labels=OURS)
    }
    sent = {(one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]) for one in objects_of(NAME)}
    assert story.made
    assert said == sent


def test_the_provider_is_told_the_very_cluster_that_the_settings_name(story: Story) -> None:
    assert story.up
    (provider,) = [call for call in story.engine.standin.asked("CheckConfig") if "kubernetes" in call.urn][-1:]
    given: Any = provider.inputs["kubeconfig"]
    assert plain(given) == json.loads(story.plane.kubeconfig_for(*ADMINISTRATOR).read_text(encoding="utf-8"))
    assert provider.inputs["context"] == "rehearsal"


def plain(value: Any) -> Any:
    return json.loads(getattr(value, "value", value))


def test_the_charts_are_asked_for_and_recorded(story: Story) -> None:
    assert story.up
    made = [
        call for call in story.engine.standin.asked("Create") if "helm.sh/v3:Release" in call.urn and not call.preview
    ]
    assert sorted(str(call.inputs["name"]) for call in made) == ["jobset", "kuberay-operator"]


def test_a_second_up_and_a_refresh_find_nothing_to_change(story: Story) -> None:
    assert story.up
    assert well(story.stack.unchanged()).changes() == []
    well(story.stack.refresh())
    assert well(story.stack.up()).changes() == []


def test_what_somebody_deleted_by_hand_is_seen_by_a_refresh_and_made_again(story: Story) -> None:
    assert story.up
    kube, role = story.plane.kube, ("rbac.authorization.k8s.io/v1", "ClusterRole", "spotproof-edit")
    kube.delete(*role)

    assert "no changes were expected for refresh but changes were proposed" in story.stack.refresh().error
    assert [step for step, _ in well(story.stack.up()).changes()] == ["create"]

    assert kube.get(*role)
    assert well(story.stack.unchanged()).changes() == []


def test_a_rendered_job_runs_there(story: Story) -> None:
    assert story.job
    pods = story.plane.kube.list("v1", "Pod", HOME)
    assert {pod["spec"]["nodeName"] for pod in pods} == {environment_of(NAME).fallback_policies[0].tiers[0].pool}


def test_destroy_takes_the_jobs_along_and_leaves_no_object(story: Story) -> None:
    assert story.destroyed
    kube, env = story.plane.kube, environment_of(NAME)
    for one in claim(checkpoint_store(NAME, env).volume_claim)[:1]:  # the volume is the laptop's; its claim is gone
        kube.delete(one["apiVersion"], one["kind"], one["metadata"]["name"])

    kube.wait(lambda: everything(story.plane) <= story.before, "nothing to be left", SECONDS, seen=lambda: left(story))
    assert everything(story.plane) == story.before


def left(story: Story) -> list[tuple[str, str, str]]:
    return sorted(everything(story.plane) - story.before)
