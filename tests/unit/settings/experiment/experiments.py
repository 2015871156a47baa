"""Experiments as they are written, whole or wrong, and what loading them says."""

import copy
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spotproof.settings import Environment, SettingsError, load_stack, read_stack_file
from spotproof.settings.experiment import load_experiment

ROOT = Path(__file__).resolve().parents[4]
TODAY = date(2026, 11, 20)


@cache
def stack(name: str) -> Environment:
    return load_stack(read_stack_file(ROOT / "stacks" / f"Pulumi.{name}.yaml"), today=TODAY)


def load(raw: object, env: Environment | None = None, stem: str = "train") -> Any:
    return load_experiment(copy.deepcopy(raw), env or stack("aws-dev"), stem=stem, source="train.yaml")


def problems(raw: object, env: Environment | None = None, stem: str = "train") -> dict[str, str]:
    with pytest.raises(SettingsError) as caught:
        load(raw, env, stem)
    return {problem.key: str(problem) for problem in caught.value.problems}


def role(**changes: object) -> dict[str, Any]:
    return {"count": 2, "resources": {"cpus": 2, "ramRatio": 4}} | changes


def asks(**resources: object) -> dict[str, Any]:
    return role(resources={"cpus": 2, "ramRatio": 4} | resources)


def gpu(**changes: object) -> dict[str, Any]:
    return asks(accelerators={"gpu": {"count": 1} | changes})


def experiment(worker: object = None, **spec: object) -> dict[str, Any]:
    types = {"Worker": worker if worker is not None else role()}
    return {"spec": {"operator": "jobset", "image": "train:1", "command": "python3 train.py", "types": types} | spec}


def ray(worker: object = None, head: object = None, **spec: object) -> dict[str, Any]:
    raw = experiment(worker, operator="kuberay", **spec)
    raw["spec"]["types"]["Head"] = head if head is not None else {"resources": {"cpus": 1, "ramRatio": 2}}
    return raw
