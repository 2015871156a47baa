"""How a control plane ends: beside another one, by a part that fails, by the death of whoever started it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from spotproof.kube.client import Kube, Unreachable
from spotproof.rehearsal.control_plane import ControlPlane, NotStarted
from spotproof.rehearsal.processes import ProcessEnded
from spotproof.rehearsal.tools import Tools

OWNER: Final = """
import json, os, sys, time
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.rehearsal.tools import find_tools
with ControlPlane(find_tools(os.environ)) as plane:
    ports = sorted(plane.site.ports.taken())
    print(json.dumps({"folder": str(plane.folder), "pids": list(plane.pids().values()), "ports": ports}), flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def second(plane: ControlPlane, tools: Tools) -> Iterator[ControlPlane]:
    """Another control plane, started while the first one runs."""
    assert plane.address
    with ControlPlane(tools) as running:
        yield running


def test_two_control_planes_know_nothing_of_each_other(
    plane: ControlPlane, second: ControlPlane, namespace: str
) -> None:
    plane.check()
    second.check()
    assert not plane.site.ports.taken() & second.site.ports.taken()
    assert second.kube.find("v1", "Namespace", namespace) is None
    with pytest.raises(Unreachable, match=r"certificate verify failed"):
        Kube(second.address, plane.site.certificates.authority, *_certificate(plane)).version()


def test_a_part_that_ends_is_named_with_the_end_of_its_log(second: ControlPlane) -> None:
    os.kill(second.pids()["kwok"], signal.SIGKILL)
    with pytest.raises(ProcessEnded, match=r"kwok was killed by signal 9; the end of its log:\n.*Watch all nodes"):
        second.kube.wait(second.check, "the end to be seen", 10)


def test_a_part_that_cannot_start_is_named_and_nothing_is_left(tools: Tools, tmp_path: Path) -> None:
    broken = _with_scheduler(tools, tmp_path / "tools", "echo no such thing as a scheduler >&2; exit 3")
    plane = ControlPlane(broken, keep_logs=tmp_path / "logs")
    with (
        pytest.raises(NotStarted, match=r"kube-scheduler ended with code 3; .*\n  no such thing as a scheduler"),
        plane,
    ):
        pass
    assert not plane.folder.exists()
    assert "no such thing" in (tmp_path / "logs" / "kube-scheduler.log").read_text("utf-8")


def test_a_part_whose_port_was_taken_is_started_on_another_one(tools: Tools, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    refused = (
        f"echo $* >> {seen}; [ $(wc -l < {seen}) = 1 ] && {{ echo listen: bind: address already in use; exit 1; }}"
    )
    begins = f"{refused}; exec {tools.bin('hyper')} kube-scheduler $*"
    with ControlPlane(_with_scheduler(tools, tmp_path / "tools", begins)) as plane:
        ports = [re.findall(r"--secure-port=(\d+)", line) for line in seen.read_text("utf-8").splitlines()]
        assert ports[0] != ports[1] == [str(plane.site.ports["kube-scheduler"])]
        plane.check()


def test_nothing_is_left_when_the_owner_is_killed(tools: Tools) -> None:
    environ = {**os.environ, "SPOTPROOF_TOOLS": str(tools.folder)}
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, env=environ) as owner:
        assert owner.stdout is not None
        told = json.loads(owner.stdout.readline())
        assert all(_answers(port) for port in told["ports"])
        owner.kill()
    Kube.wait(lambda: not any(_runs(pid) for pid in told["pids"]), "every process to be gone", 20)
    assert not Path(told["folder"]).exists()
    assert not any(_answers(port) for port in told["ports"])


def _with_scheduler(tools: Tools, folder: Path, program: str) -> Tools:
    """The tools with a shell program in place of the scheduler."""
    (folder / "bin").mkdir(parents=True)
    for each in (tools.folder / "bin").iterdir():
        (folder / "bin" / each.name).symlink_to(each)
    (folder / "share").symlink_to(tools.folder / "share")
    scheduler = folder / "bin" / "kube-scheduler"
    scheduler.unlink()
    scheduler.write_text(f"#!/bin/sh\n{program}\n", "utf-8")
    scheduler.chmod(0o755)
    return Tools(folder)


def _certificate(plane: ControlPlane) -> tuple[Path, Path]:
    folder = plane.site.user("rehearsal-admin", ("system:masters",))
    return folder / "tls.crt", folder / "tls.key"


def _runs(pid: int) -> bool:
    """A zombie is gone: it waits for whoever reaps orphans on this machine, which may take its time."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text("utf-8").rpartition(")")[2].split()[0] != "Z"


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
