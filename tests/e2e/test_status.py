"""`spotproof status` on a real API server: what it prints for a TrainingRun and for a job that nobody moves."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any, Final

import pytest

from spotproof.controller.kinds import RUN
from spotproof.fallback.record import render_instant
from spotproof.kube.client import Kube
from spotproof.manifests import fallback_policy, training_run
from spotproof.manifests.fallback_policy import aggregate_roles
from spotproof.manifests.rbac import subject
from spotproof.manifests.workspaces import members_group, workspace
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.settings.environment import Workspace
from tests.e2e.kit import condition
from tests.e2e.stacks import make
from tests.unit.status.worlds import WAITING, Object

PARTS: Final = Parts.JOBSET
HOME: Final = "research"
SECONDS: Final = 60.0
COMMAND: Final = (sys.executable, "-c", "from spotproof.cli.main import run; run()", "status")
ON_SPOT: Final[Object] = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "by-hand", "namespace": HOME},
    "spec": {
        "replicatedJobs": [
            {
                "name": "worker",
                "template": {
                    "spec": {
                        "parallelism": 2,
                        "completions": 2,
                        "template": {
                            "spec": {
                                "restartPolicy": "Never",
                                "nodeSelector": {"karpenter.sh/capacity-type": "spot"},
                                "containers": [{"name": "train", "image": "none"}],
                            }
                        },
                    }
                },
            }
        ]
    },
}


@pytest.fixture(scope="module")
def kube(plane: ControlPlane) -> Kube:
    """An API server with a workspace, a job that waits under a policy, and one on spot without."""
    made = [fallback_policy.crd(), training_run.crd(), *aggregate_roles()]
    make(plane.kube, [dict(each) for each in made])
    make(plane.kube, workspace(Workspace(namespace=HOME), [subject("Group", members_group(HOME))]))
    plane.kube.create({key: WAITING[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": _named("llama-70b")})
    write(plane.kube, WAITING["status"] | {"nextDecisionTime": render_instant(int(time.time()) + 500)})
    plane.kube.create(ON_SPOT)
    plane.kube.wait(
        lambda: len(plane.kube.list("v1", "Pod", HOME, fields="status.phase=Pending")) == 2 and _is_told(plane.kube),
        "two pods that the scheduler has no node for",
        SECONDS,
    )
    return plane.kube


def write(kube: Kube, status: Object) -> None:
    """What the controller would write."""
    kube.patch(*RUN, "llama-70b", {"status": status}, HOME, subresource="status")


def status(plane: ControlPlane, *arguments: str, kubeconfig: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """The command, as somebody types it, in a pipe of 120 columns."""
    words = [*COMMAND, "--kubeconfig", str(kubeconfig or plane.kubeconfig), *arguments]
    environment = os.environ | {"COLUMNS": "120"}
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment)


def test_the_job_that_waits_and_the_one_that_nobody_moves_are_both_told(plane: ControlPlane, kube: Kube) -> None:
    assert kube
    result = status(plane, "--all-namespaces")

    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    facts = next(line.split() for line in lines if "research/llama-70b" in line)
    assert facts[1:5] == ["JobSet", "a100", "a100-spot-a", "Waiting"]
    assert "    waits for capacity: the cloud has none of p4d.24xlarge in us-west-2a" in lines
    assert "  research/by-hand  JobSet on karpenter.sh/capacity-type=spot" in lines
    (waits,) = [line for line in lines if line.startswith("    2 pods wait (")]
    assert waits.endswith(" for a node: none takes pods now")
    assert any("no policy can take it: there is no FallbackPolicy in this cluster" in line for line in lines)


def test_the_whole_story_is_read_back_from_the_api_server(plane: ControlPlane, kube: Kube) -> None:
    assert kube
    (job,) = json.loads(status(plane, "--json", f"{HOME}/llama-70b").stdout)["jobs"]

    assert [each["pool"] for each in job["tiers"]] == [each["pool"] for each in WAITING["status"]["tiers"]]
    assert [each["what"] for each in job["history"]] == ["Evicted", "Moved", "Moved"]
    assert job["deadline"]["spareSeconds"] == 19800
    assert "unread" not in job


def test_a_member_sees_the_workspace_and_nobody_else_does(plane: ControlPlane, kube: Kube) -> None:
    assert kube
    member = plane.kubeconfig_for("ada", (members_group(HOME),))
    told = status(plane, "-n", HOME, kubeconfig=member)
    assert (told.returncode, "research/llama-70b" in told.stdout) == (0, True)

    stranger = status(plane, "-n", HOME, kubeconfig=plane.kubeconfig_for("mallory"))
    assert (stranger.returncode, stranger.stdout) == (1, "")
    assert "spotproof status: not allowed: trainingruns.spotproof.dev is forbidden" in stranger.stderr
    assert len(stranger.stderr.splitlines()) == 1


def test_a_change_is_a_line_as_it_comes(plane: ControlPlane, kube: Kube) -> None:
    words = [*COMMAND, "--kubeconfig", str(plane.kubeconfig), "-n", HOME, "--watch"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = _lines(process.stdout)
            assert "research/llama-70b Waiting on a100-spot-a, attempt 4" in next(lines)
            assert "research/by-hand without a policy" in next(lines)

            running = {"phase": "Running", "waitingSince": None, "waitingFor": None, "message": "runs on a100-spot-a"}
            write(kube, running)
            assert next(lines).endswith(
                "research/llama-70b Running on a100-spot-a, attempt 4, 3 evictions, 1 error: runs on a100-spot-a"
            )
            kube.delete("jobset.x-k8s.io/v1alpha2", "JobSet", "by-hand", HOME)
            assert any(line.endswith("research/by-hand gone") for line in lines)
        finally:
            process.terminate()


def _lines(stream: IO[str]) -> Iterator[str]:
    """Lines as they come, each within SECONDS."""
    found: Queue[str] = Queue()
    Thread(target=lambda: [found.put(line.rstrip("\n")) for line in stream], daemon=True).start()
    while True:
        try:
            yield found.get(timeout=SECONDS)
        except Empty:
            pytest.fail(f"no line came within {SECONDS:g} s")


def _named(name: str) -> dict[str, Any]:
    return {"name": name, "namespace": HOME}


def _is_told(kube: Kube) -> bool:
    pods = kube.list("v1", "Pod", HOME)
    return all(condition(pod, "PodScheduled").get("status") == "False" for pod in pods)
