"""No stack takes the account's only spot role away from the others."""

from collections.abc import Iterator

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at

_COMPONENT = "spotproof:aws:SpotServiceLinkedRole"
_ROLE = "aws:iam/serviceLinkedRole:ServiceLinkedRole"
_SPOT_SERVICE = "spot.amazonaws.com"
_MODES = ("existing", "adopt", "create")


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield how this resource could delete the role, or fail to make it."""
    if resource.type == _COMPONENT:
        yield from _component(resource)
    elif at(resource.props, "awsServiceName") == _SPOT_SERVICE:
        yield from _role(resource)


def _component(resource: Resource) -> Iterator[str]:
    mode = at(resource.props, "mode")
    if mode not in _MODES:
        yield (
            f"The mode is `{mode}`, so nobody knows where the spot role comes from. "
            "Write existing (looked up), adopt (imported and kept) or create (made and kept)."
        )
    elif mode != "existing" and at(resource.props, "retainOnDelete") is not True:
        yield (
            f"The role is taken over with mode {mode} and not retained, so destroying this stack ends spot for every "
            "other stack of the account. Record retainOnDelete: true and set it on the role."
        )


def _role(resource: Resource) -> Iterator[str]:
    # Pulumi does not show retainOnDelete to policies: the component records it, a bare role can only be protected.
    if f"{_COMPONENT}$" not in resource.urn and not resource.protect:
        yield (
            "The spot role belongs to the whole account and this resource deletes it with the stack, which ends spot "
            "for every other stack. Use spotproof.clouds.aws.SpotServiceLinkedRole, or set protect."
        )
    if "customSuffix" in set(resource.props):
        yield (
            "EC2 spot accepts no customSuffix on its service-linked role, so the creation fails. Remove customSuffix."
        )


POLICY = Policy(
    name="spot-service-linked-role-is-kept",
    description="The account's service-linked role of EC2 spot is never deleted with a stack.",
    level="mandatory",
    severity="critical",
    remedy="Write `spotServiceLinkedRole: existing`, or adopt or create, which both keep the role on destroy.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html",
    judges=EachResource((_COMPONENT, _ROLE), check),
)
