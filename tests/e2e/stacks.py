"""The Kubernetes objects of every stack, as its own program sends them, and what a control plane makes of them."""

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from spotproof.kube.client import Applied, Kube
from spotproof.preview.model import Resource
from spotproof.preview.run import Configuration, Target, capture
from spotproof.rehearsal.tools import ToolsMissing, find_tools
from spotproof.settings import ENVIRONMENT_KEY, Environment, clock, load_environment
from tests.stacks.runs import ROOT, settings_of

Object = dict[str, Any]

KUBERNETES: Final = "kubernetes:"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
"""The one resource type among them that is no object: the provider runs Helm for it."""
EXTENSION: Final = re.compile(r"^x_kubernetes_")
ESTABLISHED_SECONDS: Final = 30


@cache
def served() -> str:
    """The minor version of the control plane that the tests run on, as in 1.36; empty where none was built."""
    try:
        server = find_tools(os.environ).bin("kube-apiserver")
    except ToolsMissing:
        return ""
    said = subprocess.run([server, "--version"], capture_output=True, text=True, check=True).stdout
    return ".".join(said.split()[-1].lstrip("v").split(".")[:2])


def settings_for(stack: str) -> Object:
    """The settings of a stack file, for the Kubernetes version that is served where that is not the newest."""
    settings = settings_of(stack)
    version = Environment.model_fields["kubernetes_version"].default
    return settings if served() in {"", version} else settings | {"kubernetesVersion": served()}


@cache
def environment_of(stack: str) -> Environment:
    """The environment of a stack."""
    return load_environment(settings_for(stack), today=clock.today())


@cache
def resources_of(stack: str) -> tuple[Resource, ...]:
    """Every resource that a stack's program registers, with values that are known."""
    configuration = Configuration({ENVIRONMENT_KEY: json.dumps(settings_for(stack))})
    target = Target("spotproof", stack, root=ROOT, configuration=configuration)
    return capture(ROOT / "infra", target, "known").resources


@cache
def objects_of(stack: str) -> tuple[Object, ...]:
    """Every Kubernetes object that a stack's program registers, in an order in which they can be made."""
    made = [one for one in resources_of(stack) if one.type.startswith(KUBERNETES) and one.type != RELEASE]
    found = [hyphens(one.inputs) for one in made]
    return tuple(sorted(found, key=lambda one: (EARLY.get(one["kind"], 9), one["metadata"]["name"])))


EARLY: Final = {"CustomResourceDefinition": 0, "Namespace": 1}


def is_of(thing: Mapping[str, Any], *groups: str) -> bool:
    """Whether an object is of one of these API groups."""
    return thing["apiVersion"].partition("/")[0] in groups


def hyphens(value: Any) -> Any:
    """An object as the provider sends it: the SDK's types spell a schema's extensions with underscores."""
    if isinstance(value, Mapping):
        return {key.replace("_", "-") if EXTENSION.match(key) else key: hyphens(part) for key, part in value.items()}
    return [hyphens(part) for part in value] if isinstance(value, list) else value


def make(kube: Kube, objects: Iterable[Object]) -> list[Applied]:
    """Apply objects in order; after a CRD its kind is served, after a namespace its service account is there."""
    made: list[Applied] = []
    for one in objects:
        made.append(kube.apply(one))
        established(kube, one)
    return made


def established(kube: Kube, thing: Object) -> None:
    """Wait until what an object stands for can be used."""
    if thing["kind"] == "CustomResourceDefinition":
        spec = thing["spec"]
        version = f"{spec['group']}/{spec['versions'][0]['name']}"
        kube.wait(lambda: _served(kube, version, spec["names"]["kind"]), f"{version} to be served", ESTABLISHED_SECONDS)
    if thing["kind"] == "Namespace":
        name = thing["metadata"]["name"]
        kube.wait(lambda: kube.find("v1", "ServiceAccount", "default", name), f"{name}'s account", ESTABLISHED_SECONDS)
    if thing["kind"] == "PersistentVolumeClaim":
        # a pod that comes before is looked at again when the scheduler's patience with it ends
        kube.wait(lambda: _is_bound(kube, thing), "its claim to be bound", ESTABLISHED_SECONDS)


def _is_bound(kube: Kube, claim: Object) -> bool:
    meta = claim["metadata"]
    return kube.get("v1", "PersistentVolumeClaim", meta["name"], meta["namespace"])["status"].get("phase") == "Bound"


def _served(kube: Kube, version: str, kind: str) -> bool:
    kube.list(version, kind)
    return True


def lost(sent: Any, kept: Any, path: str = "") -> Iterator[str]:
    """Where an object that came back lacks what was sent, or has another value; what was added is no loss."""
    if isinstance(sent, Mapping) and isinstance(kept, Mapping):
        for key, value in sent.items():
            if key not in kept:
                yield f"{path}.{key} is gone"
            else:
                yield from lost(value, kept[key], f"{path}.{key}")
    elif isinstance(sent, list) and isinstance(kept, list) and len(sent) == len(kept):
        for index, (mine, theirs) in enumerate(zip(sent, kept, strict=True)):
            yield from lost(mine, theirs, f"{path}[{index}]")
    elif sent != kept:
        yield f"{path} was {sent!r} and is {kept!r}"
