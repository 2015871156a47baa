"""The Ray dashboards of all Ray clusters of a rehearsal: what KubeRay asks of them, answered in one place.

Pods of a rehearsal run no Ray. KubeRay reaches the dashboard of a cluster by its head service's name, which only the
DNS of a real cluster knows; the operator is started with this server as its HTTP proxy, and every question
arrives here with the whole address in it.

API: Ray's job submission REST API, as KubeRay 1.6.2 uses it (ray-operator, utils/dashboardclient).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from threading import Lock, Thread
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias
from urllib.parse import urlsplit

from spotproof.kube.listening import Listening

JOBS: Final = "/api/jobs/"
Status: TypeAlias = Literal["PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED"]
Answer: TypeAlias = tuple[HTTPStatus, object]
NOT_FOUND: Final[Answer] = (HTTPStatus.NOT_FOUND, {})
END_SECONDS: Final = 0.1
"""How soon the thread that serves sees that it is to end."""


@dataclass
class RayJobs:
    """Jobs by (head service, submission id), as their dashboards know them."""

    known: dict[tuple[str, str], Status] = field(default_factory=dict[tuple[str, str], Status])

    def get(self, head: str, job: str) -> Answer:
        """One job. The first question stands for its submission.

        In K8sJobMode the submitter's container would post the job before KubeRay asks for it; here no container runs.
        """
        if not job:
            return HTTPStatus.OK, [_info(each, status) for (at, each), status in self.known.items() if at == head]
        return HTTPStatus.OK, _info(job, self.known.setdefault((head, job), "RUNNING"))

    def submit(self, head: str, body: Mapping[str, object]) -> Answer:
        """A job that KubeRay posts itself, in HTTPMode."""
        job = str(body.get("submission_id", ""))
        self.known[head, job] = "RUNNING"
        return HTTPStatus.OK, {"job_id": job, "submission_id": job}

    def stop(self, head: str, job: str) -> Answer:
        """Asked to stop: true where it was running."""
        if (head, job) not in self.known:
            return NOT_FOUND
        running = self.known[head, job] in {"PENDING", "RUNNING"}
        if running:
            self.known[head, job] = "STOPPED"
        return HTTPStatus.OK, {"stopped": running}

    def delete(self, head: str, job: str) -> Answer:
        """Forgotten."""
        return (HTTPStatus.OK, {}) if self.known.pop((head, job), None) else NOT_FOUND


class Dashboard:
    """The server, in a thread of this process. `address` is host:port on the loopback interface."""

    def __init__(self) -> None:
        self._jobs = RayJobs()
        self._lock = Lock()
        self._server = Listening(("127.0.0.1", 0), _handler(self._answer))
        self._thread = Thread(target=self._server.serve_forever, args=(END_SECONDS,), name="ray-dashboard", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """As `127.0.0.1:41234`."""
        return f"127.0.0.1:{self._server.server_port}"

    def jobs(self) -> dict[str, Status]:
        """Submission id -> status, of all clusters."""
        with self._lock:
            return {job: status for (_, job), status in self._jobs.known.items()}

    def finish(self, job: str, status: Status = "SUCCEEDED") -> None:
        """The job's entrypoint has ended so, on whatever cluster it is.

        Raises:
            KeyError: no cluster was ever asked for such a job.
        """
        with self._lock:
            places = [place for place in self._jobs.known if place[1] == job]
            if not places:
                raise KeyError(job)
            self._jobs.known |= dict.fromkeys(places, status)

    def forget(self, head: str) -> None:
        """The head is lost, and with it every job it knew; `head` begins its service's name."""
        with self._lock:
            for place in [place for place in self._jobs.known if place[0].startswith(head)]:
                del self._jobs.known[place]

    def close(self) -> None:
        """Stops answering and frees the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, method: str, address: str, body: Mapping[str, object]) -> Answer:
        url = urlsplit(address)
        head, (job, _, verb) = url.hostname or "", url.path.removeprefix(JOBS).partition("/")
        if not url.path.startswith(JOBS):
            return NOT_FOUND
        with self._lock:
            match method, verb:
                case "GET", "logs":
                    return HTTPStatus.OK, {"logs": ""}
                case "GET", _:
                    return self._jobs.get(head, job)
                case "POST", "stop":
                    return self._jobs.stop(head, job)
                case "POST", _:
                    return self._jobs.submit(head, body)
                case _:
                    return self._jobs.delete(head, job)


def _info(job: str, status: Status) -> dict[str, object]:
    return {"submission_id": job, "job_id": job, "status": status, "entrypoint": "", "type": "SUBMISSION"}


def _handler(answer: Callable[[str, str, Mapping[str, object]], Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # KubeRay keeps its connections

        def _reply(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            status, value = answer(self.command, self.path, body)
            text = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_DELETE = _reply  # noqa: N815 - the standard library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
            """Nothing: a rehearsal's log is the operator's."""

    return Handler
