"""The program of docs/how-to/tune.md, as it stands there, killed with its whole cluster and started in the next one."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from spotproof.kube.waiting import NotSeen, wait
from tests.conftest import ROOT
from tests.resume.ray_cluster import Cluster

PAGE: Final = ROOT / "docs" / "how-to" / "tune.md"
PROGRAM: Final = re.compile(r"```python\n(.*?)```", re.DOTALL)
TRIAL: Final = re.compile(r"^rate (\S+): steps (\d+) to 40, loss (\S+)$", re.MULTILINE)
TRIALS: Final = 4
SAVED: Final = 5
"""Checkpoints before the kill: some trial then has one that Tune's own state names."""
SECONDS: Final = 300.0


def tune(python: Path, scratch: Path) -> Sequence[str]:
    """What is wrong: trials that were not restored, or whose losses are not those that the page has."""
    page = PAGE.read_text(encoding="utf-8")
    found = PROGRAM.search(page)
    assert found is not None
    scratch.mkdir(parents=True)
    program, store = scratch / "search.py", scratch / "store"
    program.write_text(found[1], encoding="utf-8")
    told = {"SPOTPROOF_RUN": "search", "CHECKPOINT_URI": store.as_uri(), "SPOTPROOF_MAX_FAILURES": "0"}
    first, second = scratch / "first.log", scratch / "second.log"
    with Cluster(python.parent, told) as cluster:
        cluster.start_driver([str(program)], first)
        try:
            wait(lambda: _has_saved(store), "some checkpoints and a state of the search", SECONDS)
        except NotSeen as error:
            return [f"{error}; the driver said {first.read_text('utf-8', 'replace')[-500:]}"]
        cluster.end()
    with Cluster(python.parent, told) as cluster:
        driver = cluster.start_driver([str(program)], second)
        try:
            wait(lambda: driver.poll() is not None, "the search to come to its end", SECONDS)
        except NotSeen as error:
            return [f"{error}; the driver said {second.read_text('utf-8', 'replace')[-500:]}"]
    return _wrong(driver.returncode, second.read_text(encoding="utf-8", errors="replace"), page)


def _has_saved(store: Path) -> bool:
    saved = sum(1 for _ in store.glob("search/*/checkpoint_*/state.json"))
    return saved >= SAVED and any(store.glob("search/experiment_state-*.json"))


def _wrong(status: int, said: str, page: str) -> Sequence[str]:
    wanted = {rate: loss for rate, _, loss in TRIAL.findall(page)}
    trials = {rate: (int(began), loss) for rate, began, loss in TRIAL.findall(said)}
    other = {rate: loss for rate, (_, loss) in trials.items() if loss != wanted.get(rate)}
    return [
        *([f"the program left with {status}: {said[-500:]}"] if status else []),
        *([] if "restoring file://" in said else ["it did not find the search of the first cluster"]),
        *([] if len(trials) == TRIALS else [f"{len(trials)} trials of {TRIALS} came to their end"]),
        *([f"losses are not those of uninterrupted trials: {other}"] if other else []),
        *([] if any(began > 1 for began, _ in trials.values()) else ["no trial went on at a checkpoint"]),
    ]
