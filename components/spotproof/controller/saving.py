"""Where a job saves: what its containers, and the program of a RayJob, are told as the place of their checkpoints."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from spotproof.controller.jobs.template import Template
from spotproof.controller.kinds import Object
from spotproof.controller.templates import templates
from spotproof.vocabulary import CHECKPOINT_URI_ENV

REFERENCE: Final = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
ANYWHERE: Final = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)
"""The same place in every namespace; a path is one of a volume, which is its namespace's own."""
RUNTIME_ENV: Final = "spec.runtimeEnvYAML"
READ: Final = 1024
"""Texts read last: those of a team are alike, and a RayJob's status is news many times."""


def places(job: Object) -> Iterator[tuple[str, str]]:
    """Where the job saves, each with the field that says so; what only the cluster knows is left out."""
    for template in templates(job):
        for index, container in containers(template):
            values: dict[str, str | None] = {}
            for place, each in enumerate(container.get("env") or []):
                values[each["name"]] = _expanded(each.get("value") or "", values) if "valueFrom" not in each else None
                if each["name"] == CHECKPOINT_URI_ENV and (uri := values[each["name"]]):
                    yield uri.rstrip("/"), template.dotted("spec", "containers", index, "env", place)
    if uri := _of_runtime_env(str(job.get("spec", {}).get("runtimeEnvYAML") or "")):
        yield uri.rstrip("/"), RUNTIME_ENV


def containers(template: Template) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The containers of a template, each with its place."""
    yield from enumerate(template.spec.get("containers") or [])


@lru_cache(maxsize=READ)
def _of_runtime_env(text: str) -> str | None:
    """What a Ray runtime environment tells the program; None where that cannot be read, or is made of other values."""
    if CHECKPOINT_URI_ENV not in text:
        return None
    try:
        found = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError):
        return None
    told = found.get("env_vars") if isinstance(found, dict) else None
    uri = told.get(CHECKPOINT_URI_ENV) if isinstance(told, dict) else None
    return uri if isinstance(uri, str) and "${" not in uri else None


def _expanded(text: str, values: Mapping[str, str | None]) -> str | None:
    """As the kubelet fills in `$(NAME)` of variables before it; None where one of them is not known here."""
    if "$" not in text:
        return text
    names = [found[1] for found in REFERENCE.finditer(text) if found[1]]
    if any(values.get(name, "") is None for name in names):
        return None

    def filled(found: re.Match[str]) -> str:
        return (values.get(found[1], found[0]) or "") if found[1] else "$"

    return REFERENCE.sub(filled, text)
