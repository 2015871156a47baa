"""From an experiment file to a job that can run in an environment, or to every problem it has, at once."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from spotproof.settings.environment import Environment, Workspace
from spotproof.settings.errors import Problem, SettingsError, shown
from spotproof.settings.experiment.checks import CHECKS, Case
from spotproof.settings.experiment.model import Experiment
from spotproof.settings.experiment.names import run_name
from spotproof.settings.explain import explain
from spotproof.settings.load import ROUNDS
from spotproof.settings.near import near, one_of
from spotproof.settings.repair import repaired
from spotproof.settings.walk import Path, parts, position, touches

REFUSED: Final[Mapping[str, tuple[str, str]]] = {
    "builder": (
        "no image is built here, and nodes would pull another one",
        "Build and push the image elsewhere, and name it in spec.image",
    ),
    "clone": ("no repository is cloned here", "Put the code into the image"),
    "spec.tensorboard": ("no TensorBoard is started here", "Write its logs below CHECKPOINT_URI and start one on them"),
    "spec.storage": (
        "no volume is made here; a disk stays behind in its zone when a node goes",
        "Save below CHECKPOINT_URI, and read data from a bucket",
    ),
    "spec.timeout": (
        "Kubernetes would count it afresh from every restart",
        "Remove it; a deadline is a fallback policy's, for the controller to keep",
    ),
    "spec.activeDeadlineSeconds": (
        "Kubernetes would count it afresh from every restart",
        "Remove it; a deadline is a fallback policy's, for the controller to keep",
    ),
    "spec.debug": ("no notebook is started beside the training", "Remove it"),
    "spec.rayVersion": ("it is the image's own version that runs", "Remove it"),
    "spec.types.*.completions": (
        "every pod of a gang trains, so there are as many completions as pods",
        "Write how many pods there are as `count`",
    ),
    "spec.types.*.parallelisms": (
        "every pod of a gang trains at once",
        "Write how many pods there are as `count`",
    ),
    "spec.types.*.rayStartParams": ("Ray is started by KubeRay with the pod's own resources", "Remove it"),
    "spec.types.*.resources.cpuLimitRatio": ("a pod has no CPU limit here, and may use what is free", "Remove it"),
    "spec.types.*.resources.rdma": ("no network devices are handed to pods", "Remove it"),
}
"""What such files hold elsewhere and means nothing here: key -> (what it would come to, what to do instead)."""

SIZES: Final = ("cpus", "ramRatio", "memory", "shmSizeGB")
"""Keys that are judged by what they come to together: where one is broken, the others cannot be."""


def load_experiment(raw: object, env: Environment, *, stem: str, source: str = "") -> Case:
    """The experiment with the environment it can run in and its run name.

    Args:
        raw: plain values, as JSON or YAML give them.
        env: the environment it is to run in.
        stem: the file's name without its ending, by which a run without a name is called.
        source: names the file in errors.

    Raises:
        SettingsError: with every problem of the file.
    """
    if not isinstance(raw, dict):
        problem = Problem("the file", f"is {shown(raw)}", "there would be no job", "Write `spec:` and the job below it")
        raise SettingsError([problem], source)
    case, problems = _examined(raw, env, stem)
    if case is None or problems:
        raise SettingsError(sorted(problems, key=lambda problem: position(raw, parts(problem.key))), source)
    return case


def _examined(raw: dict[str, object], env: Environment, stem: str) -> tuple[Case | None, list[Problem]]:
    """As settings.load does: what is broken is replaced by examples, so that the rest is cross-checked too."""
    values, problems = _without_refused(raw)
    replaced: set[Path] = set()
    for _ in range(ROUNDS):
        try:
            experiment = Experiment.model_validate_json(json.dumps(values), by_alias=True, by_name=False)
        except ValidationError as error:
            problems += [each for each in explain(error, values, Experiment) if not touches(each.key, replaced)]
            values, broken = repaired(values, error, Experiment)
            replaced |= broken | {(*path[:-1], key) for path in broken if path[-1] in SIZES for key in SIZES}
        except (ValueError, TypeError, RecursionError) as error:
            return None, [*problems, _unreadable(str(error))]
        else:
            case = Case(experiment, env, run_name(experiment, stem))
            found = (problem for check in CHECKS for problem in check(case))
            return case, [*problems, *(each for each in found if not touches(each.key, replaced))]
    return None, problems


def _unreadable(reason: str) -> Problem:
    return Problem("the file", f"cannot be read ({shown(reason)})", "nothing can be rendered", "Write plain values")


def _without_refused(raw: dict[str, object]) -> tuple[dict[str, object], list[Problem]]:
    values: dict[str, object] = json.loads(json.dumps(raw, default=str))
    problems: list[Problem] = []
    for pattern, (consequence, remedy) in REFUSED.items():
        for holder, path in _holders(values, tuple(pattern.split("."))):
            del holder[path.rpartition(".")[2]]
            problems.append(Problem(path, "has no meaning here", consequence, remedy))
    return values, problems


def _holders(here: Any, pattern: tuple[str, ...], at: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    """Every mapping that holds what a pattern ends in, with the path; `*` stands for any key, and its list items."""
    part, rest = pattern[0], pattern[1:]
    if not isinstance(here, dict):
        return
    if not rest:
        if part in here:
            yield here, f"{at}.{part}".lstrip(".")
        return
    for key in list(here) if part == "*" else [part] if part in here else []:
        below = f"{at}.{key}".lstrip(".")
        if isinstance(here[key], list):
            for index, item in enumerate(here[key]):
                yield from _holders(item, rest, f"{below}[{index}]")
        else:
            yield from _holders(here[key], rest, below)


def workspace_of(env: Environment, asked: str | None) -> Workspace:
    """The workspace a job is rendered for: the one that is asked for, or the only one.

    Raises:
        SettingsError: there is none of that name, or which of several is not said.
    """
    names = [workspace.namespace for workspace in env.workspaces]
    if asked is None and len(names) == 1:
        return env.workspaces[0]
    for workspace in env.workspaces:
        if workspace.namespace == asked:
            return workspace
    if not names:
        what, remedy = (
            "cannot be chosen, as this stack has none",
            "Add one to the stack: `workspaces: [{namespace: research}]`",
        )
    elif asked is None:
        what, remedy = "is not given, and this stack has several", f"Write --workspace and one of {one_of(names)}"
    else:
        guess = near(asked, names)
        what = f"is {shown(asked)}, and this stack has no such workspace"
        remedy = f"Write --workspace {guess}" if guess else f"Write one of {one_of(names)}"
    raise SettingsError([Problem("--workspace", what, "the job would have no namespace to run in", remedy)])
