"""The controller as a process: who leads, what it sees, how it ends. What it does to jobs is told by other tests."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

import pytest

from spotproof.controller.election import LEASE_SECONDS, NAME, RENEW_SECONDS, TRY_SECONDS
from spotproof.controller.reflector import LOOK_AGAIN_SECONDS
from spotproof.kube.client import Kube, Refused
from spotproof.kube.waiting import wait
from spotproof.manifests.controller import namespace as system_namespace
from spotproof.manifests.controller import probe_priority
from spotproof.manifests.controller_rights import roles, workspace_roles
from spotproof.manifests.fallback_policy import crd as policy_crd
from spotproof.manifests.training_run import crd as run_crd
from spotproof.manifests.workspaces import service_account
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.core import CORE
from spotproof.rehearsal.operators import crds
from spotproof.vocabulary import API_VERSION, FALLBACK_POLICY_LABEL, SYSTEM_NAMESPACE
from tests.e2e.stacks import make

PARTS: Final = Parts.CORE
USER: Final = f"system:serviceaccount:{SYSTEM_NAMESPACE}:{NAME}"
GROUPS: Final = ("system:serviceaccounts", f"system:serviceaccounts:{SYSTEM_NAMESPACE}")
SECONDS: Final = 60.0
MAIN: Final = (sys.executable, "-m", "spotproof.controller")


class Replica:
    """One process, and what it says of itself."""

    def __init__(self, kubeconfig: Path, folder: Path, *more: str) -> None:
        self.port = _free_port()
        self.log = folder / f"{self.port}.log"
        address = f"127.0.0.1:{self.port}"
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*MAIN, "--kubeconfig", str(kubeconfig), "--listen", address, "--log-format", "text", *more],
                stderr=log,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def get(self, path: str) -> tuple[int, str]:
        """Status and body; 0 where nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def is_ready(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"it ended with {self.process.returncode}:\n{self.said()}")
        return self.get("/readyz")[0] == 200

    def said(self) -> str:
        return self.log.read_text("utf-8")

    def ends(self) -> int:
        return self.process.wait(30)


def _free_port() -> int:
    import socket  # noqa: PLC0415

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.fixture(scope="module")
def kubeconfig(plane: ControlPlane) -> Path:
    """Of the controller's service account, with the rights that it has in a cluster and no others."""
    namespace: list[Any] = [system_namespace(), probe_priority(), service_account(NAME, SYSTEM_NAMESPACE)]
    make(plane.kube, [*namespace, policy_crd(), run_crd(), *roles()])
    return plane.kubeconfig_for(USER, GROUPS)


@pytest.fixture
def start(kubeconfig: Path, tmp_path: Path) -> Iterator[Any]:
    """Starts replicas, and ends them."""
    with ExitStack() as stack:

        def started(*more: str) -> Replica:
            replica = stack.enter_context(Replica(kubeconfig, tmp_path, *more))
            wait(replica.is_ready, "a replica to be ready", SECONDS, seen=replica.said)
            return replica

        yield started


def _holder(kube: Kube) -> str:
    lease = kube.find("coordination.k8s.io/v1", "Lease", NAME, SYSTEM_NAMESPACE) or {}
    return lease.get("spec", {}).get("holderIdentity") or ""


def _next_holder(kube: Kube, before: str, within_seconds: float) -> str:
    return wait(
        lambda: holder if (holder := _holder(kube)) != before else "",
        "another replica to have the lease",
        within_seconds,
        patient=(Refused,),
    )


def _leads(replica: Replica) -> bool:
    return "leading" in replica.said()


def test_one_leads_the_other_follows_a_kill_within_the_lease_and_a_term_at_once(
    plane: ControlPlane, start: Any
) -> None:
    first = start()
    wait(lambda: _leads(first), "the first to lead", SECONDS, seen=first.said)
    holder, second = _holder(plane.kube), start()
    assert not _leads(second)
    assert second.get("/healthz")[0] == 200

    killed = time.monotonic()
    first.process.kill()
    follower = _next_holder(plane.kube, holder, LEASE_SECONDS + 5 * TRY_SECONDS)
    took = time.monotonic() - killed
    assert took > RENEW_SECONDS, "the first, had it lived, could still have acted"
    wait(lambda: _leads(second), "the second to act", 5, seen=second.said)

    third = start()
    second.process.send_signal(signal.SIGTERM)
    told = time.monotonic()
    _next_holder(plane.kube, follower, 3 * TRY_SECONDS)
    assert time.monotonic() - told < 3 * TRY_SECONDS
    assert second.ends() == 0
    wait(lambda: _leads(third), "the third to act", 5, seen=third.said)


def test_a_leader_that_cannot_renew_ends_itself(plane: ControlPlane, start: Any) -> None:
    replica = start()
    wait(lambda: _leads(replica), "it to lead", SECONDS, seen=replica.said)
    plane.kube.patch(
        "coordination.k8s.io/v1", "Lease", NAME, {"spec": {"holderIdentity": "somebody else"}}, SYSTEM_NAMESPACE
    )
    assert replica.ends() == 1
    assert "the lease is lost" in replica.said()
    plane.kube.delete("coordination.k8s.io/v1", "Lease", NAME, SYSTEM_NAMESPACE)


def test_a_term_before_it_leads_ends_it_well(plane: ControlPlane, start: Any) -> None:
    leader, follower = start(), start()
    wait(lambda: _leads(leader), "the first to lead", SECONDS, seen=leader.said)
    follower.process.send_signal(signal.SIGTERM)
    assert follower.ends() == 0
    assert _holder(plane.kube) != ""


def _job(namespace: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": namespace, "labels": {FALLBACK_POLICY_LABEL: "nobodys"}},
        "spec": {"replicatedJobs": []},
    }


def _run(kube: Kube, namespace: str, name: str) -> Any:
    return kube.find(API_VERSION, "TrainingRun", name, namespace)


def test_a_kind_that_comes_later_is_found_and_an_api_server_that_goes_is_outlived(
    plane: ControlPlane, start: Any, namespace: str
) -> None:
    for each in workspace_roles(namespace):
        plane.kube.apply(each)
    replica = start("--no-leader-election")
    assert "JobSet" in replica.said(), "its absence is told, and keeps nobody waiting"

    crds(plane.site, "jobset")
    plane.kube.create(_job(namespace, "early"))
    found = 1.5 * LOOK_AGAIN_SECONDS + SECONDS
    wait(lambda: _run(plane.kube, namespace, "early"), "the TrainingRun of a new kind", found, seen=replica.said)

    server = next(part for part in CORE if part.name == "kube-apiserver")
    os.kill(plane.pids()["kube-apiserver"], signal.SIGKILL)
    wait(lambda: "a watch failed" in replica.said(), "the loss to be noticed", SECONDS, seen=replica.said)
    assert replica.get("/healthz")[0] == 200
    plane._run(server)  # pyright: ignore[reportPrivateUsage]
    plane.kube.create(_job(namespace, "late"))
    wait(lambda: _run(plane.kube, namespace, "late"), "the TrainingRun of after that", SECONDS, seen=replica.said)

    metrics = replica.get("/metrics")[1]
    assert 'spotproof_reconciles_total{kind="JobSet",outcome="done"}' in metrics
    assert 'why="unreachable"' in metrics
    replica.process.send_signal(signal.SIGTERM)
    assert replica.ends() == 0
    assert "Traceback" not in replica.said()
