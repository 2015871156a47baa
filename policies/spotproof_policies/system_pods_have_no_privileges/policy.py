"""A controller that is broken into has its own rights on the API, and none on its node."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from spotproof.vocabulary import SYSTEM_NAMESPACE
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, rows, table, words
from spotproof_policies.system_pods import SYSTEM_TYPES, containers, system_pods
from spotproof_policies.workloads import PodTemplate

_HOST: Final = ("hostNetwork", "hostPID", "hostIPC")

Rule = tuple[str, Callable[[Mapping[str, Any], Mapping[str, Any]], bool], str]

# Of a container's securityContext and its pod's; the container's own word wins, as the kubelet has it.
_OF_A_CONTAINER: Final[tuple[Rule, ...]] = (
    (
        "may run as root",
        lambda own, pod: _first("runAsNonRoot", own, pod) is True,
        "runAsNonRoot: true",
    ),
    (
        "may gain more rights than it starts with",
        lambda own, _: at(own, "allowPrivilegeEscalation") is False,
        "allowPrivilegeEscalation: false",
    ),
    (
        "can write to its own file system",
        lambda own, _: at(own, "readOnlyRootFilesystem") is True,
        "readOnlyRootFilesystem: true",
    ),
    (
        "keeps capabilities of root",
        lambda own, _: "ALL" in words(at(own, "capabilities", "drop")) and not rows(at(own, "capabilities", "add")),
        "capabilities: {drop: [ALL]}",
    ),
    (
        "may make any system call",
        lambda own, pod: at(_first("seccompProfile", own, pod), "type") in ("RuntimeDefault", "Localhost"),
        "seccompProfile: {type: RuntimeDefault}",
    ),
)


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield what a pod of the namespace could do to its node."""
    for template in system_pods(resource):
        yield from _of_the_pod(template)
        shared = table(at(template.spec, "securityContext"))
        for where, container in containers(template):
            own = table(at(container, "securityContext"))
            for what, holds, remedy in _OF_A_CONTAINER:
                if not holds(own, shared):
                    yield (
                        f"The container in {where} {what}, and the controller's account is within reach of whoever "
                        f"takes it over. Write {remedy} into its securityContext."
                    )


def _of_the_pod(template: PodTemplate) -> Iterator[str]:
    for key in _HOST:
        if at(template.spec, key) is True:
            yield (
                f"Pods with {template.where(f'spec.{key}')}: true share what belongs to their node, and "
                f"{SYSTEM_NAMESPACE} refuses them. Remove it."
            )
    for index, volume in enumerate(rows(at(template.spec, "volumes"))):
        if at(volume, "hostPath") is not None:
            yield (
                f"The volume in {template.where(f'spec.volumes[{index}]')} is a path of the node, and "
                f"{SYSTEM_NAMESPACE} refuses it. Write emptyDir, or leave it out."
            )


def _first(key: str, *contexts: Mapping[str, Any]) -> Any:
    return next((found for context in contexts if (found := at(context, key)) is not None), None)


POLICY = Policy(
    name="system-pods-have-no-privileges",
    description="Pods in spotproof-system have no privilege on their node.",
    level="mandatory",
    severity="high",
    remedy="Installed through `operators` they have none; in a program of your own, write the securityContext.",
    url="https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted",
    judges=EachResource(SYSTEM_TYPES, check),
)
