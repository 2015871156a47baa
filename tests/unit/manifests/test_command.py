"""What a container of a gang runs, run here: with every shell of this machine that an image may have as /bin/sh."""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spotproof.manifests.command import SCRIPT, command_line, words
from tests.conftest import as_yaml
from tests.unit.manifests.jobs import experiment, pod_templates, rendered
from tests.unit.manifests.shells import (
    GIVE_UP_SECONDS,
    PASSED_ON,
    SHELLS,
    ended,
    handling,
    heard,
    is_bash,
    running,
    state_of,
    tell,
    until,
)

SUBREAPER: Final = 36
"""PR_SET_CHILD_SUBREAPER (prctl(2)): orphans become children of this process, as they do of process 1."""


@pytest.fixture(params=SHELLS, ids=" ".join)
def shell(request: pytest.FixtureRequest) -> list[str]:
    found: list[str] = request.param
    return found


@pytest.mark.parametrize("code", [0, 1, 3, 127, 137, 143, 255])
def test_a_program_that_nobody_disturbs_ends_with_its_own_code(shell: list[str], code: int) -> None:
    done = ended(shell, ["/bin/sh", "-c", f"exit {code}"])
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.parametrize(("code", "seen"), [(0, 143), (1, 1), (7, 7), (143, 143), (137, 137)])
def test_after_sigterm_only_zero_becomes_143(shell: list[str], code: int, seen: int) -> None:
    with running(shell, handling("TERM", code=code)) as process:
        assert heard(process) == "ready"
        tell(process.pid, "TERM")
        assert heard(process) == "TERM"
        assert process.wait(GIVE_UP_SECONDS) == seen
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_127_after_sigterm_stays_an_error(shell: list[str]) -> None:
    with running(shell, handling("TERM", code=127)) as process:
        assert heard(process) == "ready"
        tell(process.pid, "TERM")
        assert heard(process) == "TERM"
        # 127 is also what bash says of a program that it no longer knows: of one that has ended at once, 143 is told
        assert process.wait(GIVE_UP_SECONDS) in ({127, 143} if is_bash(shell) else {127})


UNTIL_IT_ENDED: Final = """\
  while read -r _id _name _state _rest <"/proc/$!/stat" && [ "$_state" != Z ]; do :; done 2>/dev/null
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the end of a program is read from /proc")
@pytest.mark.parametrize("code", [0, 5, 127])
def test_the_code_of_a_program_that_ends_while_the_shell_handles_sigterm_is_not_lost(
    shell: list[str], code: int
) -> None:
    """A busy machine lets the program end before the shell has asked again: here the shell waits until it has."""
    script = SCRIPT.replace("  kill -0", f"{UNTIL_IT_ENDED}  kill -0")
    assert script != SCRIPT
    with running(shell, handling("TERM", code=code), script=script) as process:
        assert heard(process) == "ready"
        tell(process.pid, "TERM")
        assert heard(process) == "TERM"
        told = 143 if code == 0 or (code == 127 and is_bash(shell)) else code
        assert process.wait(GIVE_UP_SECONDS) == told


@pytest.mark.parametrize("name", [name for name in PASSED_ON if name != "TERM"])
def test_every_other_signal_reaches_a_program_that_handles_it_and_changes_nothing(shell: list[str], name: str) -> None:
    with running(shell, handling(name)) as process:
        assert heard(process) == "ready"
        tell(process.pid, name)
        assert heard(process) == name
        assert process.wait(GIVE_UP_SECONDS) == 0


def test_a_program_may_save_at_many_signals_before_it_goes(shell: list[str]) -> None:
    with running(shell, handling("TERM", code=5)) as process:
        assert heard(process) == "ready"
        for name in ("USR1", "HUP", "USR2", "USR1", "TERM"):
            tell(process.pid, name)
            assert heard(process) == name
        assert process.wait(GIVE_UP_SECONDS) == 5


def held_until(signals: int) -> str:
    """The shell stays between two waits from the first signal on, without a builtin, until so many have come."""
    fewer = "|".join("1" * number for number in range(1, signals))
    hold = f"_end=$?; while case $_count in {fewer}) _=;; *) break ;; esac; do _=; done"
    changed = SCRIPT.replace("{ _told=1;", "{ _told=1; _count=1$_count;").replace("_end=$?", hold)
    assert "_count=1$_count" in changed
    assert hold in changed
    return changed


@pytest.mark.parametrize(("code", "seen"), [(0, 143), (5, 5)])
def test_a_signal_between_two_waits_leaves_the_program_running(shell: list[str], code: int, seen: int) -> None:
    """The next wait of bash ends with it at once: taken for the program's end, that would be the end of both."""
    with running(shell, handling("TERM", code=code), script=held_until(2)) as process:
        assert heard(process) == "ready"
        tell(process.pid, "USR1")
        assert heard(process) == "USR1"
        process.send_signal(signal.SIGUSR2)
        assert heard(process) == "USR2"
        tell(process.pid, "TERM")
        assert heard(process) == "TERM"
        assert process.wait(GIVE_UP_SECONDS) == seen


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the end of a program is read from /proc")
@pytest.mark.parametrize(("code", "seen"), [(0, 143), (5, 5), (137, 137)])
def test_a_signal_behind_the_programs_end_is_not_taken_for_its_code(shell: list[str], code: int, seen: int) -> None:
    """The next wait of bash ends with that signal, and the one after it with the code."""
    with running(shell, handling("TERM", code=code), script=held_until(4)) as process:
        assert heard(process) == "ready"
        (program,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
        tell(process.pid, "USR1")
        assert heard(process) == "USR1"
        for name in ("USR2", "TERM"):
            process.send_signal(getattr(signal, f"SIG{name}"))
            assert heard(process) == name
        until(lambda: state_of(int(program)) in {"Z", ""})
        process.send_signal(signal.SIGHUP)
        assert process.wait(GIVE_UP_SECONDS) == seen


def test_a_program_without_a_handler_dies_of_sigterm_as_143(shell: list[str]) -> None:
    """As process 1 it would not have: there the kernel gives signals no default action."""
    with running(shell, [sys.executable, "-c", "import signal; print('ready', flush=True); signal.pause()"]) as process:
        assert heard(process) == "ready"
        tell(process.pid, "TERM")
        assert process.wait(GIVE_UP_SECONDS) == 143


def test_a_program_that_ignores_sigterm_goes_on_and_its_success_counts_as_evicted(shell: list[str]) -> None:
    program = "import signal; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); print(input(), flush=True)"
    with running(shell, [sys.executable, "-c", program]) as process:
        assert heard(process) == "ready"
        tell(process.pid, "TERM")
        assert process.stdin is not None
        process.stdin.write("done\n")
        process.stdin.flush()
        assert heard(process) == "done"
        assert process.wait(GIVE_UP_SECONDS) == 143


@pytest.mark.parametrize(("number", "seen"), [(signal.SIGKILL, 137), (signal.SIGSEGV, 139), (signal.SIGABRT, 134)])
def test_a_program_that_dies_of_a_signal_ends_with_128_and_its_number(
    shell: list[str], number: signal.Signals, seen: int
) -> None:
    done = ended(shell, ["/bin/sh", "-c", f"kill -{number.value} $$"])
    assert (done.returncode, done.stderr) == (seen, "")


def test_a_program_that_was_told_to_go_before_it_began_does_not_begin(shell: list[str]) -> None:
    script = SCRIPT.replace("exec 3<&0", "kill -s TERM $$\nexec 3<&0")
    assert script != SCRIPT
    done = subprocess.run(
        [*shell, "-c", script, "sh", sys.executable, "-c", "import signal; print('begun', flush=True); signal.pause()"],
        capture_output=True, text=True, timeout=GIVE_UP_SECONDS, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "")


def test_the_code_survives_signals_at_the_very_end(shell: list[str]) -> None:
    program = ["/bin/sh", "-c", "trap : USR1; echo ready; read line; exit 5"]
    for _ in range(10):
        with running(shell, program) as process:
            assert heard(process) == "ready"
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
            for _ in range(10):
                process.send_signal(signal.SIGUSR1)
            code = process.wait(GIVE_UP_SECONDS)
            # bash 5.2 may lose the code of a program that ends in the instant of a signal; it is never taken for 0
            assert code == 5 or (code == 138 and shell[0] != "dash" and shell[0] != "busybox")


def test_a_program_that_ends_with_0_in_the_instant_of_sigterm_counts_as_evicted(shell: list[str]) -> None:
    program = ["/bin/sh", "-c", "trap '' TERM; echo ready; read line"]
    for _ in range(40):  # bash 5.2 lost the code of one in five to ten, and made it 255
        with running(shell, program) as process:
            assert heard(process) == "ready"
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
            process.terminate()
            assert process.wait(GIVE_UP_SECONDS) in {0, 143}  # 0 where all was over before


def test_input_and_both_outputs_are_the_programs_own(shell: list[str]) -> None:
    done = ended(shell, ["/bin/sh", "-c", "cat; echo sorry >&2"], given="a\nb")
    assert (done.stdout, done.stderr, done.returncode) == ("a\nb", "sorry\n", 0)


ECHO: Final = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))"]


@given(given_words=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), max_size=4))
@example(given_words=["", "a b", "$HOME", "$(id)", "$$", "'", '"', "\\", "\n", "-x", "*", "~", "!", "a=b"])
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_words_arrive_as_they_were_written(shell: list[str], given_words: list[str]) -> None:
    done = ended(shell, [*ECHO, *given_words])
    assert json.loads(done.stdout) == given_words


@pytest.mark.parametrize("name", ["_pass", "test", "echo", "exec", "trap"])
def test_a_program_is_never_taken_for_a_word_of_the_shell(shell: list[str], name: str, tmp_path: Path) -> None:
    if shell[0] == "busybox" and name in {"test", "echo"}:
        pytest.skip("a busybox that stands alone takes its own applets before any program of their name")
    program = tmp_path / name
    program.write_text("#!/bin/sh\necho program\n")
    program.chmod(0o755)
    done = subprocess.run(
        [*shell, "-c", SCRIPT, "sh", name], capture_output=True, text=True, check=False, timeout=GIVE_UP_SECONDS,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("program\n", 0)


def test_a_program_that_is_not_there_is_named_and_ends_with_127(shell: list[str]) -> None:
    done = ended(shell, ["no-such-program"])
    assert done.returncode == 127
    assert "no-such-program" in done.stderr


def test_the_program_is_the_shells_child_in_its_process_group_and_hears_each_signal_once(shell: list[str]) -> None:
    program = "import os; print(os.getppid(), os.getpgrp(), flush=True); input()"
    with running(shell, [sys.executable, "-c", program]) as process:
        assert heard(process).split() == [str(process.pid), str(os.getpgid(process.pid))]
    with running(shell, handling("TERM")) as process:
        assert heard(process) == "ready"
        tell(process.pid, "USR1")
        assert heard(process) == "USR1"
        tell(process.pid, "TERM")
        assert process.wait(GIVE_UP_SECONDS) == 143
        assert process.stdout is not None
        assert process.stdout.read().split() == ["TERM"]


FORKS: Final = """
import os, sys
if not os.fork():
    if os.fork():
        os._exit(0)
    print(os.getpid(), flush=True)
    os._exit(0)
os.wait()
input()
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="orphans are told from zombies by /proc")
def test_what_the_program_leaves_behind_is_no_zombie(shell: list[str]) -> None:
    """As process 1 the shell inherits orphans; here it is made to by prctl."""

    def inherit() -> None:
        ctypes.CDLL(None).prctl(SUBREAPER, 1)

    with running(shell, [sys.executable, "-c", FORKS], before=inherit) as process:
        orphan = int(heard(process))
        for _ in range(GIVE_UP_SECONDS * 1000):
            if not Path(f"/proc/{orphan}").exists():
                break
            os.sched_yield()
        assert not Path(f"/proc/{orphan}").exists()
        assert process.poll() is None


def test_the_shell_does_not_wait_for_what_the_program_leaves_behind(shell: list[str]) -> None:
    program = "import os, sys, signal\npid = os.fork()\nif not pid: signal.pause()\nprint(pid, flush=True); os._exit(4)"
    with running(shell, [sys.executable, "-c", program]) as process:
        left = int(heard(process))
        try:
            assert process.wait(GIVE_UP_SECONDS) == 4
        finally:
            os.kill(left, signal.SIGKILL)


def as_process_1(program: Sequence[str], shell: list[str]) -> list[str]:
    return ["unshare", "--pid", "--fork", "--kill-child", *shell, "-c", SCRIPT, "sh", *program]


def may_unshare() -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True, check=False).returncode == 0  # noqa: S607


@pytest.mark.skipif(not may_unshare(), reason="this user may make no process namespace")
@pytest.mark.parametrize(("code", "seen"), [(0, 143), (3, 3)])
def test_as_process_1_of_a_container_it_does_the_same(shell: list[str], code: int, seen: int) -> None:
    with subprocess.Popen(
        as_process_1(handling("TERM", code=code), shell), stdout=subprocess.PIPE, text=True
    ) as outside:
        assert heard(outside) == "ready"
        (first,) = Path(f"/proc/{outside.pid}/task/{outside.pid}/children").read_text().split()
        tell(int(first), "TERM")
        assert heard(outside) == "TERM"
        assert outside.wait(GIVE_UP_SECONDS) == seen


def kubelet(text: str) -> str:
    """What the kubelet makes of a command (third_party/forked/golang/expansion): `$$` a dollar, `$(NAME)` a value."""
    return re.sub(r"\$(\$|\((\w+)\))", lambda found: "$" if found[1] == "$" else "filled in", text)


def test_the_kubelet_changes_nothing_of_the_script() -> None:
    assert kubelet(SCRIPT) == SCRIPT
    assert "$$" not in SCRIPT
    assert "$(" not in SCRIPT


def test_the_script_is_read_as_lines_in_a_manifest() -> None:
    """A block of YAML takes no tab and no blank at the end of a line."""
    shown = as_yaml({"command": command_line(["train"])})
    assert all(f"  {line}\n" in shown for line in SCRIPT.splitlines())
    assert len(SCRIPT) < 900


COMMANDS = [
    ("python3 -u main.py --x=$Y", ["/bin/sh", "-c", "exec python3 -u main.py --x=$Y"]),
    ("  python3 main.py\n", ["/bin/sh", "-c", "exec python3 main.py"]),
    ("cd /app && python3 main.py", ["/bin/sh", "-c", "cd /app && python3 main.py"]),
    ("A=1 python3 main.py", ["/bin/sh", "-c", "A=1 python3 main.py"]),
    (["python3", "a b.py"], ["python3", "a b.py"]),
]


@pytest.mark.parametrize(("written", "run"), COMMANDS)
def test_a_command_gets_the_signals_where_it_is_one_program(written: str | list[str], run: list[str]) -> None:
    assert words(written) == run
    assert command_line(written) == ["/bin/sh", "-c", SCRIPT, "sh", *run]


@given(line=st.text("$()a{ ", min_size=1, max_size=12).filter(str.strip))
@example(line="echo $$ > $(hostname)")
def test_a_line_reaches_the_shell_as_it_is_written(line: str) -> None:
    assert kubelet(command_line(f"cd; {line}")[-1]) == f"cd; {line}".strip()


def test_in_a_list_kubernetes_fills_in_variables() -> None:
    assert command_line(["train", "--out=$(CHECKPOINT_URI)"])[4:] == ["train", "--out=$(CHECKPOINT_URI)"]


def test_a_line_that_is_one_program_is_the_process_that_gets_the_signals(shell: list[str], tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(handling("TERM")[-1])
    with running(shell, command_line(f"{sys.executable} {program}")[4:]) as process:
        assert heard(process) == "ready"
        tell(process.pid, "TERM")
        assert heard(process) == "TERM"
        assert process.wait(GIVE_UP_SECONDS) == 143


@pytest.mark.parametrize("operator", ["jobset", "kuberay"])
def test_every_rank_of_a_jobset_runs_below_the_script_and_nothing_of_ray_does(operator: str) -> None:
    manifest = rendered(experiment(operator))
    commands = [
        container.get("command", [])
        for template in pod_templates(manifest).values()
        for container in template["spec"]["containers"]
    ]
    assert [SCRIPT in each for each in commands] == [operator == "jobset"] * len(commands)
