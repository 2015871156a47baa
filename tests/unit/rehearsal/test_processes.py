"""The supervisor with small processes in place of Kubernetes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spotproof.kube.waiting import wait
from spotproof.rehearsal.processes import ProcessEnded, Processes

FOREVER = "import time; print('here', flush=True); time.sleep(600)"
OWNER = """
import sys, time
from pathlib import Path
from spotproof.rehearsal.processes import Processes
folder = Path(sys.argv[1])
folder.mkdir()
held = Processes(folder)
held.start("sleeper", [sys.executable, "-c", sys.argv[2]], {})
print(*held.pids().values(), flush=True)
time.sleep(600)
"""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    folder = tmp_path / "plane"
    folder.mkdir()
    held = Processes(folder)
    yield held
    held.close()


def run(processes: Processes, name: str, program: str) -> None:
    processes.start(name, [sys.executable, "-c", program], {"SPOKEN": "yes"})


def test_what_runs_is_held_by_number(processes: Processes) -> None:
    run(processes, "sleeper", FOREVER)
    processes.check("sleeper")
    assert alive(processes.pids()["sleeper"])


def test_an_end_is_noticed_and_told_with_the_end_of_the_log(processes: Processes) -> None:
    run(processes, "speaker", "import sys; print('first'); print('last words'); sys.exit(3)")
    with pytest.raises(ProcessEnded, match=r"speaker ended with code 3; the end of its log:\n  first\n  last words"):
        wait(lambda: processes.check("speaker"), "its end", 10)
    assert "speaker" not in processes.pids()


def test_the_end_of_the_one_before_is_not_taken_for_its_own(processes: Processes) -> None:
    for _ in range(20):
        run(processes, "sleeper", FOREVER)
        os.kill(processes.pids()["sleeper"], signal.SIGKILL)
    run(processes, "sleeper", FOREVER)
    run(processes, "speaker", "print('here')")  # whatever was said of the others is said before
    wait(lambda: processes.ended("speaker") is not None, "its end", 10)

    processes.check("sleeper")
    assert alive(processes.pids()["sleeper"])


def test_how_a_process_ended_is_known_and_nothing_while_it_runs(processes: Processes) -> None:
    run(processes, "speaker", "import sys; sys.exit(3)")
    wait(lambda: processes.ended("speaker") is not None, "its end", 10)
    assert processes.ended("speaker") == 3
    run(processes, "speaker", FOREVER)
    assert processes.ended("speaker") is None


def test_a_long_line_is_cut_where_it_is_told(processes: Processes) -> None:
    run(processes, "speaker", "print('x' * 5000)")
    wait(lambda: processes.tail("speaker").strip().startswith("x"), "the line", 10)
    assert len(processes.tail("speaker")) == 402
    assert processes.log("speaker").stat().st_size == 5001


def test_a_signal_is_told_as_one(processes: Processes) -> None:
    run(processes, "sleeper", FOREVER)
    os.kill(processes.pids()["sleeper"], signal.SIGSEGV)
    with pytest.raises(ProcessEnded, match="sleeper was killed by signal 11"):
        wait(lambda: processes.check("sleeper"), "its end", 10)


def test_a_program_that_is_not_there_is_an_end_with_its_reason(processes: Processes) -> None:
    processes.start("nothing", ["/no/such/program"], {})
    with pytest.raises(ProcessEnded, match=r"(?s)nothing ended with code 127.*No such file"):
        processes.check("nothing")


def test_a_process_can_be_ended_and_started_again_under_its_name(processes: Processes) -> None:
    run(processes, "sleeper", FOREVER)
    first = processes.pids()["sleeper"]
    processes.end("sleeper")
    assert not alive(first)
    run(processes, "sleeper", FOREVER)
    processes.check("sleeper")
    assert processes.pids()["sleeper"] != first


def test_nothing_of_our_environment_is_handed_on(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "somebody's")
    run(processes, "speaker", "import os; print(sorted(os.environ), flush=True)")
    wait(lambda: "SPOKEN" in processes.tail("speaker"), "its words", 10)
    assert "KUBECONFIG" not in processes.tail("speaker")


def test_what_tunes_the_runtime_of_go_is_handed_on(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOGC", "400")
    run(processes, "speaker", "import os; print(os.environ['GOGC'], os.environ['SPOKEN'], flush=True)")
    wait(lambda: "400 yes" in processes.tail("speaker"), "its words", 10)


def test_closing_leaves_neither_process_nor_file(tmp_path: Path) -> None:
    folder = tmp_path / "plane"
    folder.mkdir()
    held = Processes(folder)
    run(held, "sleeper", FOREVER)
    numbers = held.pids().values()
    held.close()
    assert not any(alive(number) for number in numbers)
    assert not folder.exists()
    with pytest.raises(ProcessEnded, match="the supervisor ended"):
        run(held, "sleeper", FOREVER)


def test_an_owner_killed_by_sigkill_leaves_neither_process_nor_file(tmp_path: Path) -> None:
    folder = tmp_path / "plane"
    command = [sys.executable, "-c", OWNER, str(folder), FOREVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        numbers = [int(each) for each in owner.stdout.readline().split()]
        assert len(numbers) == 2
        owner.kill()
    wait(lambda: not any(alive(number) for number in numbers), "both to be gone", 10)
    assert not folder.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes children with their parent")
def test_a_supervisor_killed_by_sigkill_takes_its_children_with_it(processes: Processes) -> None:
    run(processes, "sleeper", FOREVER)
    numbers = processes.pids()
    os.kill(numbers["supervisor"], signal.SIGKILL)
    wait(lambda: not alive(numbers["sleeper"]), "the child to be gone", 10)


def alive(number: int) -> bool:
    """Whether it runs; a zombie does not, it waits for whoever reaps orphans on this machine."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{number}/stat")
    return not stat.exists() or stat.read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
