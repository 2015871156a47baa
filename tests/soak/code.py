"""Which code a soak has proven something of: a digest of the controller, and of what plays and judges a case."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.conftest import ROOT

PROVEN: Final = (
    "components/spotproof/controller",
    "components/spotproof/fallback",
    "components/spotproof/kube",
    "components/spotproof/manifests",
    "components/spotproof/prices.py",
    "components/spotproof/settings/base.py",
    "components/spotproof/settings/errors.py",
    "components/spotproof/settings/fallback.py",
    "components/spotproof/settings/near.py",
    "components/spotproof/vocabulary.py",
)
"""The controller, and what it reads of the settings: the rest of them (quotas, regions) says nothing to it."""
PLAYED: Final = (
    "tests/soak",
    "tests/e2e/jobs.py",
    "tests/e2e/moves.py",
    "tests/e2e/ray.py",
    "tests/e2e/stage.py",
    "tests/e2e/controller/fault_proxy.py",
    "tests/e2e/controller/faults.py",
    "tests/e2e/controller/gangs.py",
    "tests/e2e/controller/installed.py",
    "tests/e2e/controller/policies.py",
    "tests/e2e/controller/process.py",
    "tests/e2e/controller/scenery.py",
    "tests/e2e/controller/stage.py",
    "tests/e2e/experiments/four.yaml",
    "tests/e2e/experiments/gang.yaml",
    "tests/e2e/experiments/ray.yaml",
    "components/spotproof/rehearsal/controller.py",
    "components/spotproof/rehearsal/core.py",
    "components/spotproof/rehearsal/dashboard.py",
    "components/spotproof/rehearsal/operators.py",
    "components/spotproof/rehearsal/stages.yaml",
    "tools/go/controlplane/go.mod",
    "tools/go/controlplane/hyper",
    "tools/go/controlplane/kuberay",
)
"""What a case is made of: moves, jobs, faults, and the control plane with the versions of Kubernetes and operators."""
JUDGED: Final = (
    "tests/e2e/own.py",
    "tests/e2e/controller/interruptions.py",
    "tests/e2e/controller/judge.py",
    "tests/e2e/controller/timeline.py",
    "tests/e2e/controller/verdict.py",
    "components/spotproof/rehearsal/history.py",
    "components/spotproof/rehearsal/patches.py",
    "components/spotproof/rehearsal/recorder.py",
    "components/spotproof/rehearsal/recording.py",
)
"""Who says whether it went well, and from what is recorded: a verdict of a judge that has changed is none."""
CODE: Final = (*PROVEN, *PLAYED, *JUDGED)
"""What a result depends on, and is played again for."""
SOURCES: Final = frozenset({".py", ".go"})
"""Files of a folder that count."""
LETTERS: Final = 12


class Changed(Exception):  # noqa: N818  # the name is the sentence
    """The code was changed while it was played: what came of it would be of neither version."""


def digest(root: Path = ROOT) -> str:
    """The same for as long as none of these files is changed, and none of a folder added, renamed or removed."""
    made = hashlib.sha256()
    for file in sorted(_files(root)):
        made.update(f"{file.relative_to(root).as_posix()}\0{file.stat().st_size}\0".encode())
        made.update(file.read_bytes())
    return made.hexdigest()[:LETTERS]


def _files(root: Path) -> Iterator[Path]:
    for name in CODE:
        if (path := root / name).is_file():
            yield path
        else:
            yield from (file for file in path.rglob("*") if file.suffix in SOURCES)
