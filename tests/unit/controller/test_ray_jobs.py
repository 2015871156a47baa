"""What of a Ray job is the job's own, and how many pods it has."""

from collections.abc import Mapping
from typing import Any

import pytest

from spotproof.controller.jobs.rayjob import RayJobKind
from spotproof.controller.kinds import Object
from spotproof.fallback.record import Move
from spotproof.kube.client import Refused

KIND = RayJobKind()
MOVE = Move(id="m", from_="a", to="b", reason="r", message="m", step="Draining", since=0, cluster="train-aaaaa")
OWN = [{"kind": "RayJob", "name": "train", "uid": "job-uid"}]
OTHERS = [{"kind": "RayService", "name": "train", "uid": "service-uid"}]


class Cluster:
    """An API server with these pods, and with these Ray clusters and Jobs by name: who owns them."""

    def __init__(self, *pods: Object, owned: Mapping[str, list[Object]]) -> None:
        self.pods, self.owned = pods, owned
        self.asked: list[str] = []

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        del api_version, kind, namespace, fields
        key, _, value = labels.partition("=")
        return [
            pod
            for pod in self.pods
            if key in pod["metadata"]["labels"] and value in {"", pod["metadata"]["labels"][key]}
        ]

    def find(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        del api_version, namespace
        self.asked.append(f"{kind}/{name}")
        return {"metadata": {"ownerReferences": self.owned[name]}} if name in self.owned else None

    def create(self, *_: Any, **__: Any) -> Any:
        raise Refused(403, "nothing is written here", "Forbidden")

    patch = delete = create


def of_cluster(name: str, phase: str = "Running") -> Object:
    return {"metadata": {"name": f"{name}-head", "labels": {"ray.io/cluster": name}}, "status": {"phase": phase}}


def of_submitter() -> Object:
    labels = {"batch.kubernetes.io/job-name": "train"}
    return {"metadata": {"name": "train-x", "labels": labels}, "status": {"phase": "Running"}}


def rayjob(**group: Any) -> Object:
    groups = [{"groupName": "w", "template": {}, **group}]
    return {
        "kind": "RayJob",
        "metadata": {"name": "train", "namespace": "team", "uid": "job-uid"},
        "spec": {"rayClusterSpec": {"headGroupSpec": {"template": {}}, "workerGroupSpecs": groups}},
        "status": {"rayClusterName": "train-bbbbb"},
    }


def left(*pods: Object, owned: Mapping[str, list[Object]]) -> list[str]:
    return [pod["metadata"]["name"] for pod in KIND.leftovers(Cluster(*pods, owned=owned), rayjob(), MOVE)]


@pytest.mark.parametrize("owned", [[], OTHERS], ids=["by hand", "of a RayService"])
def test_pods_of_a_ray_cluster_that_is_somebody_elses_are_none_of_the_jobs_whatever_its_name(
    owned: list[Object],
) -> None:
    assert left(of_cluster("train-debug"), owned={"train-debug": owned}) == []


def test_pods_of_its_own_clusters_are_the_jobs_whether_they_are_there_or_gone() -> None:
    assert left(of_cluster("train-ccccc"), owned={"train-ccccc": OWN}) == ["train-ccccc-head"]
    assert left(of_cluster("train-ccccc"), owned={}) == ["train-ccccc-head"]


def test_the_clusters_that_the_record_and_the_job_name_are_its_own_and_nobody_is_asked_about_them() -> None:
    api = Cluster(of_cluster("train-aaaaa"), of_cluster("train-bbbbb"), owned={})
    assert len(KIND.leftovers(api, rayjob(), MOVE)) == 2
    assert api.asked == []


def test_nobody_is_asked_about_a_cluster_whose_pods_have_ended() -> None:
    api = Cluster(of_cluster("train-ccccc", "Succeeded"), owned={"train-ccccc": OWN})
    assert (KIND.leftovers(api, rayjob(), MOVE), api.asked) == ([], [])


def test_pods_of_a_job_of_the_same_name_that_is_somebody_elses_are_no_submitters() -> None:
    assert left(of_submitter(), owned={"train": []}) == []
    assert left(of_submitter(), owned={"train": OWN}) == ["train-x"]
    assert left(of_submitter(), owned={}) == ["train-x"]


@pytest.mark.parametrize(
    ("group", "workers"),
    [
        ({"replicas": 3}, 3),
        ({"replicas": 1, "minReplicas": 4, "maxReplicas": 8}, 4),
        ({"replicas": 9, "minReplicas": 0, "maxReplicas": 2}, 2),
        ({"minReplicas": 2, "maxReplicas": 2}, 2),
        ({"replicas": 3, "suspend": True}, 0),
        ({"replicas": 3, "numOfHosts": 2}, 6),
        ({"replicas": 1, "minReplicas": 2, "numOfHosts": 2}, 4),
    ],
    ids=str,
)
def test_a_group_has_as_many_workers_as_kuberay_makes(group: dict[str, Any], workers: int) -> None:
    assert KIND.size(rayjob(**group)) == 1 + workers
