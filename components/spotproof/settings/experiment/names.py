"""Names of jobs: what a run is called, and the limits of what is named after it."""

import re
from collections.abc import Iterator
from typing import Final

from spotproof.settings.errors import Problem, shown
from spotproof.settings.experiment.model import JOBSET, KUBERAY, Experiment
from spotproof.settings.experiment.parts import Part, parts_of

RUN_NAME: Final = r"[a-z]([a-z0-9-]*[a-z0-9])?"
POD_NAME_LIMIT: Final = 63
"""JobSet refuses pods of longer names (jobset_webhook.go, v0.12): a pod's name is its host name too."""
POD_SUFFIX: Final = len("-abcde")
RAYJOB_LIMIT: Final = 47
"""KubeRay, MaxRayJobNameLength: 63 without `-serve-svc` and the six characters of each cluster's own."""
GROUP_LIMIT: Final = 40


def run_name(experiment: Experiment, file_stem: str) -> str:
    """What the run is called: the file's `name`, else the file's own name in lower case."""
    if experiment.name is not None:
        return experiment.name
    return re.sub(r"[^a-z0-9]+", "-", file_stem.lower()).strip("-")


def longest_pod_name(run: str, part: Part) -> str:
    """The longest name JobSet gives a pod of a part, without the suffix that makes it unique."""
    return f"{run}-{part.name}-0-{part.role.count - 1}"


def problems(experiment: Experiment, run: str) -> Iterator[Problem]:
    """What cannot be a name, or would make one too long."""
    if not re.fullmatch(RUN_NAME, run):
        yield Problem(
            "name",
            f"is missing, and the file's own name gives {shown(run)}",
            "a run's name is a DNS label that begins with a letter",
            "Write a name, as in `name: llama-7b`",
        )
    elif experiment.spec.operator == KUBERAY and len(run) > RAYJOB_LIMIT:
        yield Problem(
            "name",
            f"comes to {shown(run)}, {len(run)} characters",
            f"KubeRay takes {RAYJOB_LIMIT} and refuses the job",
            "Write a shorter one, as in `name: llama-7b`",
        )
    yield from _role_names(experiment)
    if experiment.spec.operator == JOBSET:
        yield from _pod_names(experiment, run)


def _role_names(experiment: Experiment) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for part in parts_of(experiment):
        if not re.fullmatch(RUN_NAME, part.name) or len(part.name) > GROUP_LIMIT:
            yield Problem(
                part.at,
                f"is called {shown(part.name)} in the names of its pods",
                f"they begin with a letter, and the role takes {GROUP_LIMIT} characters at most",
                "Rename it, as in Worker or data-loader",
            )
        if part.name in seen:
            yield Problem(
                part.at,
                f"is called {part.name} in the names of its pods, as {seen[part.name]} is",
                "the two would be one",
                "Rename one of them",
            )
        seen.setdefault(part.name, part.at)


def _pod_names(experiment: Experiment, run: str) -> Iterator[Problem]:
    for part in parts_of(experiment):
        over = len(longest_pod_name(run, part)) + POD_SUFFIX - POD_NAME_LIMIT
        if over > 0:
            yield Problem(
                "name",
                f"and the role {part.name} make pods called {longest_pod_name(run, part)}-abcde, {over} characters "
                "too many",
                f"JobSet takes {POD_NAME_LIMIT} and refuses the job",
                f"Write a name at least {over} characters shorter, or rename the role",
            )
            return
