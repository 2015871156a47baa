"""A node's processes are found whatever they have made of their names and variables."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from spotproof.kube.waiting import wait
from tests.resume.ray_cluster import of_sessions

TWO = """
import subprocess, sys
subprocess.Popen(["cat"], env={}, stdout=subprocess.DEVNULL)
print("there", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def leader() -> Iterator["subprocess.Popen[str]"]:
    """The first process of a session, with a child that has none of its variables."""
    with subprocess.Popen(
        [sys.executable, "-c", TWO], start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        yield process
        assert process.stdin is not None
        process.stdin.close()


def test_a_child_without_the_marks_variable_is_of_the_session(leader: "subprocess.Popen[str]") -> None:
    found = set(of_sessions(leader.pid))

    assert leader.pid in found
    assert len(found) == 2


def test_one_that_has_ended_is_not_waited_for(leader: "subprocess.Popen[str]") -> None:
    leader.kill()
    assert leader.stdout is not None
    leader.stdout.read()

    wait(lambda: leader.pid not in of_sessions(leader.pid), "a process that ended to count no more", 10)

    assert os.getsid(leader.pid) == leader.pid
