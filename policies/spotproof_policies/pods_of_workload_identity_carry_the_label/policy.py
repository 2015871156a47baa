"""On AKS a pod gets its identity by a label of its own; the service account's annotation alone does nothing."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.reading import at, table, text
from spotproof_policies.workloads import WORKLOAD_TYPES, PodTemplate, pod_templates

_SERVICE_ACCOUNT: Final = "kubernetes:core/v1:ServiceAccount"
_CLIENT_ID: Final = "azure.workload.identity/client-id"
_USE: Final = "azure.workload.identity/use"


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every workload of a federated service account whose pods stay without a token."""
    federated = [one for one in stack.of(_SERVICE_ACCOUNT) if _CLIENT_ID in _annotations(one)]
    if not federated:
        return
    for workload in stack.of(*WORKLOAD_TYPES):
        for template in pod_templates(workload):
            account = text(at(template.spec, "serviceAccountName")) or "default"
            if _has_label(template) or not any(_is_account(one, account, workload) for one in federated):
                continue
            yield Finding(
                workload,
                f"Its pods run as `{account}`, which has {_CLIENT_ID}, and lack the label {_USE}, so no token is "
                "mounted and every request to Azure is refused. Write "
                f'{template.where("metadata.labels")}: {{{_USE}: "true"}}, in quotes; the label on the service account '
                "does nothing.",
            )


def _annotations(account: Resource) -> set[str]:
    return set(table(at(account.props, "metadata", "annotations")))


def _has_label(template: PodTemplate) -> bool:
    return _USE in set(template.labels) and template.labels[_USE] == "true"


def _is_account(account: Resource, name: str, workload: Resource) -> bool:
    """Whether the workload runs as this account; the namespace, often not known yet, is read last."""
    if at(account.props, "metadata", "name") != name:
        return False
    return _namespace(account) == _namespace(workload)


def _namespace(resource: Resource) -> str:
    return text(at(resource.props, "metadata", "namespace")) or "default"


POLICY = Policy(
    name="pods-of-workload-identity-carry-the-label",
    description="Pods of a service account with an Azure identity carry the label that mounts its token.",
    level="mandatory",
    severity="high",
    remedy='Write the label azure.workload.identity/use: "true" on the pod template; job templates of ours have it.',
    url="https://learn.microsoft.com/azure/aks/workload-identity-overview",
    judges=WholeStack((_SERVICE_ACCOUNT, *WORKLOAD_TYPES), check, about=WORKLOAD_TYPES),
)
