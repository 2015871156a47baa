"""Azure refuses two writes at once to the federated credentials of one identity."""

from collections.abc import Iterator
from itertools import pairwise

from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.reading import at, text

_CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
_IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
_MOST = 20


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every credential that may be written at the same time as another of its identity."""
    for credentials in _by_identity(stack).values():
        # By how many of the others come before: in a chain each number stands once.
        before = {one.urn: _before(stack, one, credentials) for one in credentials}
        ordered = sorted(credentials, key=lambda one: before[one.urn])
        for earlier, later in pairwise(ordered):
            if not stack.depends_on(later, earlier):
                yield Finding(
                    later,
                    f"This credential and `{earlier.name}` are of one identity and neither waits for the other, so "
                    "Azure refuses one of two concurrent writes and the update fails now and then. "
                    f"Add depends_on=[{earlier.name}].",
                )
        if len(credentials) > _MOST:
            yield Finding(
                ordered[-1],
                f"The identity has {len(credentials)} federated credentials and Azure allows {_MOST}, so the update "
                "fails. Give some service accounts an identity of their own.",
            )


def _by_identity(stack: Stack) -> dict[str, list[Resource]]:
    identities = {one.urn for one in stack.of(_IDENTITY)}
    found: dict[str, list[Resource]] = {}
    for credential in stack.of(_CREDENTIAL):
        # By where the name comes from: a cluster's identity, too, may be waited for. The name itself is read only
        # where the identity is not one of the stack, and then it is plain text.
        made_here = [urn for urn in credential.property_dependencies.get("resourceName", ()) if urn in identities]
        key = made_here[0] if made_here else _named(credential)
        found.setdefault(key, []).append(credential)
    return found


def _named(credential: Resource) -> str:
    return "/".join(text(at(credential.props, key)) for key in ("resourceGroupName", "resourceName"))


def _before(stack: Stack, one: Resource, credentials: list[Resource]) -> int:
    return sum(other is not one and stack.depends_on(one, other) for other in credentials)


POLICY = Policy(
    name="federated-credentials-are-made-in-turn",
    description="Federated credentials of one Azure identity are made one after another.",
    level="mandatory",
    severity="high",
    remedy="Chain them: depends_on the credential before, for all credentials of an identity.",
    url="https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations",
    judges=WholeStack((_CREDENTIAL,), check, about=(_CREDENTIAL,)),
)
