"""The stub of Ray's dashboards, asked as KubeRay asks it: through an HTTP proxy, with the head's whole address."""

import http.client
import json
import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from spotproof.rehearsal.dashboard import Dashboard

HEAD = "http://train-abcde-head-svc.research.svc.cluster.local:8265"
OTHER = "http://other-fghij-head-svc.research.svc.cluster.local:8265"


@pytest.fixture
def dashboard() -> Iterator[Dashboard]:
    with Dashboard() as running:
        yield running


def ask(dashboard: Dashboard, method: str, address: str, body: object = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(dashboard.address, timeout=5)
    try:
        connection.request(method, address, json.dumps(body) if body else None)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_the_first_question_about_a_job_stands_for_its_submission(dashboard: Dashboard) -> None:
    status, job = ask(dashboard, "GET", f"{HEAD}/api/jobs/train-1")
    assert (status, job["status"], job["submission_id"]) == (200, "RUNNING", "train-1")


def test_a_posted_job_runs(dashboard: Dashboard) -> None:
    assert ask(dashboard, "POST", f"{HEAD}/api/jobs/", {"submission_id": "train-1"})[1]["job_id"] == "train-1"
    assert dashboard.jobs() == {"train-1": "RUNNING"}


def test_a_job_ends_as_it_is_told_to(dashboard: Dashboard) -> None:
    ask(dashboard, "GET", f"{HEAD}/api/jobs/train-1")
    dashboard.finish("train-1", "FAILED")
    assert ask(dashboard, "GET", f"{HEAD}/api/jobs/train-1")[1]["status"] == "FAILED"


def test_a_job_that_nobody_asked_for_cannot_end(dashboard: Dashboard) -> None:
    with pytest.raises(KeyError):
        dashboard.finish("train-1")


def test_a_running_job_stops_once(dashboard: Dashboard) -> None:
    ask(dashboard, "GET", f"{HEAD}/api/jobs/train-1")
    assert ask(dashboard, "POST", f"{HEAD}/api/jobs/train-1/stop") == (200, {"stopped": True})
    assert ask(dashboard, "POST", f"{HEAD}/api/jobs/train-1/stop") == (200, {"stopped": False})


def test_clusters_are_strangers_and_a_lost_head_forgets_its_jobs(dashboard: Dashboard) -> None:
    ask(dashboard, "GET", f"{HEAD}/api/jobs/train-1")
    ask(dashboard, "GET", f"{OTHER}/api/jobs/train-2")
    assert [job["submission_id"] for job in ask(dashboard, "GET", f"{OTHER}/api/jobs/")[1]] == ["train-2"]
    dashboard.forget("train-abcde-head")
    assert dashboard.jobs() == {"train-2": "RUNNING"}


def test_a_deleted_job_is_gone(dashboard: Dashboard) -> None:
    ask(dashboard, "GET", f"{HEAD}/api/jobs/train-1")
    assert ask(dashboard, "DELETE", f"{HEAD}/api/jobs/train-1")[0] == 200
    assert ask(dashboard, "DELETE", f"{HEAD}/api/jobs/train-1")[0] == 404


def test_what_is_no_job_is_not_found(dashboard: Dashboard) -> None:
    assert ask(dashboard, "GET", f"{HEAD}/api/serve/applications/")[0] == 404
    assert ask(dashboard, "GET", f"{HEAD}/api/jobs/train-1/logs") == (200, {"logs": ""})


def test_nothing_is_said_of_who_asks_and_does_not_wait_for_the_answer(capfd: pytest.CaptureFixture[str]) -> None:
    with Dashboard() as dashboard:
        dashboard._server.daemon_threads = False  # pyright: ignore[reportPrivateUsage]  # its end waits for them
        host, port = dashboard.address.split(":")
        with dashboard._lock, socket.create_connection((host, int(port))) as kuberay:  # pyright: ignore[reportPrivateUsage]
            kuberay.sendall(f"GET {HEAD}/api/jobs/train-1 HTTP/1.1\r\n\r\n".encode())
            # closed so, the connection is cut and not ended: no answer can be written
            kuberay.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    assert capfd.readouterr().err == ""
