"""The launcher and the judge on a program without a framework: two processes that count; the first one saves."""

import sys
from pathlib import Path
from typing import Final

from tests.resume.example import Example, by_marker
from tests.resume.gang import Gang, Played
from tests.resume.judge import findings
from tests.resume.kills import Kill
from tests.resume.store import folder

PROGRAM: Final = """
import hashlib, os, pathlib, shutil, signal, sys, time

rank, attempt = int(os.environ["JOB_COMPLETION_INDEX"]), os.environ["SPOTPROOF_ATTEMPT"]
root = pathlib.Path(os.environ["CHECKPOINT_URI"].removeprefix("file://"))
signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
step = max((int(each.parent.name) for each in root.glob("*/done")), default=0)


def say(line):
    if rank == 0:
        print(line, flush=True)


def together(step):
    beats = [root.parent / f"{attempt}-{each}-{step}" for each in range(2)]
    beats[rank].touch()
    while not beats[1 - rank].exists():
        time.sleep(0.001)


say(f"resumed at step {step} of attempt {attempt}" if step else "starting at step 0")
while step < 60:
    step += 1
    together(step)
    say(f"step {step} loss {(1 / step).hex()} {1 / step}")
    time.sleep(0.02)
    if rank == 0 and step % 10 == 0:
        (root / f"{step}").mkdir(exist_ok=True)
        for part in ("a", "b", "done"):
            (root / f"{step}" / part).write_text("x" * 100)
        say(f"saved step {step} in 0.00 s")
        for old in sorted(int(each.name) for each in root.iterdir())[:-2]:
            shutil.rmtree(root / f"{old}")
say(f"finished at step {step}, state sha256 {hashlib.sha256(b'60').hexdigest()}")
"""
EXAMPLE: Final = Example("counts", 2, by_marker(r"(?P<step>\d+)", "done"), (), steps=60, save_steps=10, keep=2)


def played(where: Path, program: str, *kills: Kill) -> Played:
    where.mkdir()
    (where / "train.py").write_text(program)
    with folder(where / "store") as store:
        return Gang(EXAMPLE, Path(sys.executable), store, where / "logs", where).run(kills)


def test_a_lost_process_takes_the_gang_along_and_all_start_again_where_they_were(tmp_path: Path) -> None:
    reference = played(tmp_path / "alone", PROGRAM)
    killed = played(tmp_path / "killed", PROGRAM, Kill(step=15), Kill(step=35, told=True, process=1))

    assert findings(reference, reference, 0) == []
    assert findings(reference, killed, 2) == []
    assert [attempt.statuses for attempt in killed.attempts] == [{0: -9, 1: 143}, {0: 143, 1: 143}, {0: 0, 1: 0}]


def test_a_kill_in_a_write_that_is_told_by_its_path_is_made_before_anything_is_said(tmp_path: Path) -> None:
    early = PROGRAM.replace(
        'say(f"resumed', "(root / '0').mkdir(exist_ok=True)\n(root / f'0/{attempt}-{rank}').touch()\nsay(f\"resumed"
    )
    killed = played(tmp_path / "killed", early, Kill(step=0, moment="save", to="^0/0-0$"))

    assert [attempt.killed is not None for attempt in killed.attempts] == [True, False]


def test_an_exit_with_0_after_sigterm_is_found(tmp_path: Path) -> None:
    reference = played(tmp_path / "alone", PROGRAM)
    leaves = PROGRAM.replace("143", "0").replace("    together(step)\n", "")  # the other one would wait for ever
    wrong = played(tmp_path / "killed", leaves, Kill(step=15), Kill(step=35, told=True))

    assert any("left with 0" in each for each in findings(reference, wrong, 0))


def test_a_start_from_nothing_is_found(tmp_path: Path) -> None:
    reference = played(tmp_path / "alone", PROGRAM)
    forgets = PROGRAM.replace("default=0)", "default=0) * 0")
    wrong = played(tmp_path / "killed", forgets, Kill(step=35))

    assert any("started at step 0; the newest complete" in each for each in findings(reference, wrong, 1))
