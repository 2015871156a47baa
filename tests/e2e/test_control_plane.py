"""The control plane that every other test and every rehearsal stands on."""

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any, Final

import pytest

from spotproof.kube.client import Kube, Refused
from spotproof.kube.watching import Change, Watch
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.tools import Tools
from tests.e2e.kit import ANNOTATION, condition, in_phase, knobs, node, pod, pod_spec

PARTS: Final = Parts.ALL
ZONES: Final = ("zone-a", "zone-b")
INSTANCE_TYPES: Final[list[dict[str, Any]]] = [
    {
        "name": "gpu-8",
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": "96", "memory": "1152Gi", "ephemeral-storage": "500Gi", "nvidia.com/gpu": "8"},
        "offerings": [
            {
                "Price": price,
                "Available": True,
                "Requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [capacity]},
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]},
                ],
            }
            for zone in ZONES
            for capacity, price in (("spot", 12.0), ("on-demand", 33.0))
        ],
    }
]


@pytest.fixture(scope="module")
def static_node(plane: ControlPlane) -> str:
    """A node for whatever does not say where it wants to be."""
    plane.kube.create(node("static"))
    plane.kube.wait(
        lambda: condition(plane.kube.get("v1", "Node", "static"), "Ready").get("status") == "True", "it", 30
    )
    return "static"


def test_every_part_was_ready_before_the_block_began(plane: ControlPlane) -> None:
    expected = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}
    assert plane.ready_seconds.keys() == {*expected, "jobset-manager", "kuberay-operator", "karpenter"}
    assert max(plane.ready_seconds.values()) < 90, (
        plane.ready_seconds
    )  # benchmarks/control_plane.py has the real figure
    plane.check()


def test_the_server_is_the_version_that_its_modules_pin(plane: ControlPlane, tools: Tools) -> None:
    said = subprocess.run([tools.bin("kube-apiserver"), "--version"], capture_output=True, text=True, check=True).stdout
    assert f"Kubernetes {plane.kube.version()}\n" == said
    assert plane.kube.version().startswith("v1.3")


def test_a_user_without_a_role_may_do_nothing(plane: ControlPlane, namespace: str) -> None:
    with pytest.raises(Refused) as refused:
        plane.as_user("nobody").list("v1", "Pod", namespace)
    assert refused.value.status == 403
    assert 'User "nobody" cannot list resource "pods"' in refused.value.message


def test_a_user_is_who_its_certificate_says(plane: ControlPlane, namespace: str) -> None:
    subject = {"kind": "Group", "name": "team-b", "apiGroup": "rbac.authorization.k8s.io"}
    role = {"kind": "ClusterRole", "name": "view", "apiGroup": "rbac.authorization.k8s.io"}
    metadata = {"name": "team-b", "namespace": namespace}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata}
    plane.kube.apply({**binding, "roleRef": role, "subjects": [subject]})
    member = plane.as_user("ada", ("team-a", "team-b"))
    plane.kube.wait(lambda: _may_list(member, namespace), "the role to hold", 10)
    with pytest.raises(Refused):
        member.create(pod("mine", namespace))


def test_a_kubeconfig_of_a_user_works_by_itself(plane: ControlPlane, tools: Tools) -> None:
    kubeconfig = plane.kubeconfig_for("grace", ("team-a",))
    command = [tools.bin("kubectl"), "--kubeconfig", kubeconfig, "auth", "whoami", "-o", "json"]
    environ = {"HOME": str(plane.folder)}
    said = json.loads(subprocess.run(command, capture_output=True, check=True, env=environ).stdout)
    assert said["status"]["userInfo"]["username"] == "grace"
    assert "team-a" in said["status"]["userInfo"]["groups"]
    assert kubeconfig.stat().st_mode & 0o077 == 0


def test_a_field_that_the_api_does_not_have_is_refused(plane: ControlPlane, namespace: str) -> None:
    with pytest.raises(Refused, match="nodeSelektor"):
        plane.kube.apply(pod("mistyped", namespace, nodeSelektor={}))


def test_what_the_server_warns_of_is_part_of_the_answer(plane: ControlPlane, namespace: str) -> None:
    warnings = plane.kube.apply(pod("old", namespace, nodeSelector={"beta.kubernetes.io/arch": "amd64"})).warnings
    assert len(warnings) == 1
    assert "beta.kubernetes.io/arch" in warnings[0]
    assert plane.kube.apply(pod("new", namespace, nodeSelector={"kubernetes.io/arch": "amd64"})).warnings == ()


def test_a_dry_run_makes_nothing(plane: ControlPlane, namespace: str) -> None:
    assert plane.kube.apply(pod("planned", namespace), dry_run=True).object["metadata"]["uid"]
    assert plane.kube.find("v1", "Pod", "planned", namespace) is None


def test_a_namespace_gets_its_service_account_and_the_authority(plane: ControlPlane, namespace: str) -> None:
    found = plane.kube.wait(
        lambda: plane.kube.find("v1", "ConfigMap", "kube-root-ca.crt", namespace), "the authority", 30
    )
    assert found["data"]["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")


def test_a_deployments_pods_run_and_go_with_it(plane: ControlPlane, namespace: str, static_node: str) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod_spec(initContainers=[{"name": "first", "image": "none"}])}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": "web", "namespace": namespace}
    plane.kube.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    running = plane.kube.wait(lambda: _all(in_phase(plane.kube, namespace, "Running"), 3), "3 pods Running", 30)
    assert {each["spec"]["nodeName"] for each in running} == {static_node}
    first = running[0]["status"]["initContainerStatuses"][0]["state"]
    assert first["terminated"]["exitCode"] == 0
    plane.kube.delete("apps/v1", "Deployment", "web", namespace)
    plane.kube.wait(lambda: not plane.kube.list("v1", "Pod", namespace), "the pods to be collected", 60)


@pytest.mark.usefixtures("static_node")
@pytest.mark.parametrize(("knob", "code", "phase"), [({}, 143, "Failed"), ({"exit-code-on-term": "0"}, 0, "Succeeded")])
def test_an_evicted_pod_ends_before_it_vanishes(
    plane: ControlPlane, namespace: str, knob: dict[str, str], code: int, phase: str
) -> None:
    plane.kube.apply(pod("evicted", namespace, knob))
    plane.kube.wait(lambda: in_phase(plane.kube, namespace, "Running"), "it to run", 30)
    with plane.kube.watch([("v1", "Pod")], plane.kube.resource_version(), namespace) as watch:
        plane.kube.evict("evicted", namespace)
        versions = [change.object for change in _until_deleted(watch, "evicted")]
    *_, last = [each for each in versions if each["status"]["phase"] == phase]
    assert last["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code
    assert condition(last, "DisruptionTarget")["reason"] == "EvictionByEvictionAPI"
    assert condition(last, "Ready")["status"] == "False"


@pytest.mark.usefixtures("static_node")
def test_delays_of_start_and_stop_are_the_pods_own(plane: ControlPlane, namespace: str) -> None:
    first: dict[str, float] = {}
    plane.kube.apply(pod("unplaced", namespace, nodeSelector={"nowhere": "yes"}))
    with plane.kube.watch([("v1", "Pod")], "0", namespace) as watch:
        assert watch.next(30)  # connected: what comes now is received as it happens
        plane.kube.apply(pod("slow", namespace, {"start-delay": "3s", "stop-delay": "4s"}))
        plane.kube.wait(lambda: in_phase(plane.kube, namespace, "Running"), "it to run", 30)
        plane.kube.delete("v1", "Pod", "slow", namespace)
        for change in _until_deleted(watch, "slow"):
            phase = change.object["status"]["phase"]
            deleted = "deletionTimestamp" in change.object["metadata"] and phase == "Running"
            first.setdefault("deleted" if deleted else phase, change.received_at)
    assert first["Running"] - first["Pending"] > 2  # 0.5 s is what a pod without the annotation takes
    assert first["Failed"] - first["deleted"] > 3  # and 1 s


@pytest.mark.usefixtures("static_node")
def test_a_pod_runs_until_it_is_told_its_exit_code(plane: ControlPlane, namespace: str) -> None:
    plane.kube.apply(_job("well", namespace, {}))
    plane.kube.apply(_job("badly", namespace, {"exit-code": "3"}))
    plane.kube.wait(lambda: _job_condition(plane.kube, "badly", namespace, "Failed"), "the job to fail", 60)
    failed = plane.kube.list("v1", "Pod", namespace, labels="job-name=badly")
    assert [each["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] for each in failed] == [3]
    (running,) = in_phase(plane.kube, namespace, "Running", "job-name=well")
    change = {"metadata": {"annotations": knobs({"exit-code": "0"})}}
    plane.kube.patch("v1", "Pod", running["metadata"]["name"], change, namespace)
    plane.kube.wait(lambda: _job_condition(plane.kube, "well", namespace, "Complete"), "the job to complete", 60)


def test_a_node_is_not_ready_for_as_long_as_it_is_labelled(plane: ControlPlane) -> None:
    def ready(status: str) -> bool:
        return condition(plane.kube.get("v1", "Node", "flaky"), "Ready").get("status") == status

    def tainted() -> bool:
        taints = plane.kube.get("v1", "Node", "flaky")["spec"].get("taints", [])
        return any(each["key"] == "node.kubernetes.io/not-ready" for each in taints)

    def label(value: str | None) -> None:
        plane.kube.patch("v1", "Node", "flaky", {"metadata": {"labels": {f"{ANNOTATION}not-ready": value}}})

    plane.kube.create(node("flaky", taints=[{"key": "alone", "effect": "NoSchedule"}]))
    plane.kube.wait(lambda: ready("True"), "the node to be Ready", 30)
    label("yes")
    plane.kube.wait(lambda: ready("False") and tainted(), "the node to be tainted", 30)
    label(None)
    plane.kube.wait(lambda: ready("True") and not tainted(), "the node to be back", 30)
    plane.kube.delete("v1", "Node", "flaky")


def test_the_jobset_webhooks_set_defaults_and_refuse(plane: ControlPlane, namespace: str) -> None:
    asked = _jobset("train", namespace)
    made = plane.kube.create(asked, dry_run=True).object["spec"]
    assert made["successPolicy"] == {"operator": "All"}
    assert made["network"]["enableDNSHostnames"] is True
    assert made["replicatedJobs"][0]["template"]["spec"]["completionMode"] == "Indexed"
    asked["spec"]["successPolicy"] = {"operator": "All", "targetReplicatedJobs": ["nobody"]}
    with pytest.raises(Refused, match="nobody"):
        plane.kube.create(asked)


@pytest.mark.usefixtures("static_node")
def test_a_jobset_restarts_when_one_of_its_pods_fails(plane: ControlPlane, namespace: str) -> None:
    plane.kube.create(_jobset("train", namespace))
    first = plane.kube.wait(lambda: _all(in_phase(plane.kube, namespace, "Running"), 2), "2 pods Running", 30)
    name = first[0]["metadata"]["name"]
    plane.kube.patch("v1", "Pod", name, {"metadata": {"annotations": knobs({"exit-code": "1"})}}, namespace)
    plane.kube.wait(lambda: _restarts(plane.kube, namespace) == 1, "the JobSet to restart", 60)
    plane.kube.wait(lambda: _all(in_phase(plane.kube, namespace, "Running"), 2), "2 new pods Running", 60)


@pytest.mark.usefixtures("static_node")
def test_a_rayjob_runs_and_ends_as_its_dashboard_says(plane: ControlPlane, namespace: str) -> None:
    plane.kube.apply(_rayjob("ray", namespace))

    def status() -> dict[str, Any]:
        return plane.kube.get("ray.io/v1", "RayJob", "ray", namespace).get("status", {})

    # jobDeploymentStatus is Running a moment before the dashboard is asked for the first time
    plane.kube.wait(lambda: status().get("jobStatus") == "RUNNING", "the RayJob to run", 60, seen=status)
    assert status()["jobDeploymentStatus"] == "Running"
    plane.dashboard.finish(status()["jobId"])
    plane.kube.wait(lambda: status().get("jobDeploymentStatus") == "Complete", "it to complete", 60, seen=status)
    assert status()["jobStatus"] == "SUCCEEDED"


def test_karpenter_makes_gpu_nodes_while_the_market_is_open(plane: ControlPlane, namespace: str) -> None:
    for each in _pool("gpus"):
        plane.kube.apply(each)
    plane.market.close(capacity_type="spot")
    containers = [{"name": "main", "image": "none", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]
    gpus = pod_spec(nodeSelector={"karpenter.sh/nodepool": "gpus"}, containers=containers)
    labels = {"app": "train"}
    # No bare pod: taint eviction can hear of its place before it hears that the new node has lost Karpenter's NoExecute
    # taint, and deletes it then (seen once, on 1.36.3)
    kept = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": gpus},
    }
    metadata = {"name": "train", "namespace": namespace}
    plane.kube.apply({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": kept})

    def refused() -> list[dict[str, Any]]:
        events = plane.kube.list("v1", "Event", "default", fields="involvedObject.kind=NodeClaim")
        return [each for each in events if each["reason"] == "InsufficientCapacityError"]

    plane.kube.wait(refused, "a NodeClaim to be refused", 60)
    assert plane.kube.list("v1", "Node", labels="karpenter.sh/nodepool=gpus") == []
    plane.market.close(zone="zone-a")
    plane.market.open(capacity_type="spot")
    plane.kube.wait(lambda: in_phase(plane.kube, namespace, "Running"), "the pod to run", 90)
    (made,) = plane.kube.list("v1", "Node", labels="karpenter.sh/nodepool=gpus")
    labels = made["metadata"]["labels"]
    assert labels["node.kubernetes.io/instance-type"] == "gpu-8"
    assert labels["topology.kubernetes.io/zone"] == "zone-b"
    assert labels["karpenter.sh/capacity-type"] == "spot"
    assert made["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    (claim,) = plane.kube.list("karpenter.sh/v1", "NodeClaim")
    plane.market.close(capacity_type="spot")
    plane.kube.delete("karpenter.sh/v1", "NodeClaim", claim["metadata"]["name"])
    plane.kube.wait(lambda: not plane.kube.list("v1", "Node", labels="karpenter.sh/nodepool=gpus"), "its end", 60)


def test_no_part_was_ever_forbidden_anything(plane: ControlPlane) -> None:
    """Last in the file: by now every part has done its work, each as a user with its own role."""
    said = {path.name: path.read_text("utf-8", "replace") for path in plane.logs.glob("*.log")}
    assert len(said) == len(plane.pids())
    assert [name for name, text in said.items() if re.search(r'User \\?"system:[^"]+" cannot', text)] == []


def _until_deleted(watch: Watch, name: str) -> Iterator[Change]:
    """The changes of one object to its end, which must come within half a minute of the change before."""
    while (change := watch.next(30)) is not None:
        if change.object["metadata"]["name"] == name:
            yield change
            if change.type == "DELETED":
                return
    raise AssertionError(f"{name} was not deleted")


def _all(found: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    return found if len(found) == number else []


def _may_list(kube: Kube, namespace: str) -> bool:
    return kube.list("v1", "Pod", namespace) == []


def _job(name: str, namespace: str, annotations: dict[str, str]) -> dict[str, Any]:
    template = {"metadata": {"annotations": knobs(annotations)}, "spec": pod_spec(restartPolicy="Never")}
    spec = {"backoffLimit": 0, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def _job_condition(kube: Kube, name: str, namespace: str, kind: str) -> bool:
    return condition(kube.get("batch/v1", "Job", name, namespace), kind).get("status") == "True"


def _jobset(name: str, namespace: str) -> dict[str, Any]:
    job = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": {"spec": pod_spec(restartPolicy="Never")}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "failurePolicy": {"maxRestarts": 2},
            "replicatedJobs": [{"name": "workers", "replicas": 1, "template": {"spec": job}}],
        },
    }


def _restarts(kube: Kube, namespace: str) -> int:
    return int(kube.get("jobset.x-k8s.io/v1alpha2", "JobSet", "train", namespace).get("status", {}).get("restarts", 0))


def _rayjob(name: str, namespace: str) -> dict[str, Any]:
    containers = [{"name": "ray", "image": "none", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]
    template = {"spec": {"containers": containers}}
    workers = {"groupName": "workers", "replicas": 2, "minReplicas": 2, "maxReplicas": 2, "rayStartParams": {}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "entrypoint": "python train.py",
            "submissionMode": "HTTPMode",
            "shutdownAfterJobFinishes": True,
            "rayClusterSpec": {
                "rayVersion": "2.46.0",
                "headGroupSpec": {"rayStartParams": {}, "template": template},
                "workerGroupSpecs": [{**workers, "template": template}],
            },
        },
    }


def _pool(name: str) -> list[dict[str, Any]]:
    requirements = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["gpu-8"]},
    ]
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": name}
    return [
        {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": name}, "spec": {}},
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": name},
            "spec": {"template": {"spec": {"nodeClassRef": reference, "requirements": requirements}}},
        },
    ]
