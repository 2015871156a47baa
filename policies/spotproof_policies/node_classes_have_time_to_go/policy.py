"""On destroy a node class waits for its machines; it gets the time they need."""

from collections.abc import Iterator

from spotproof_policies.karpenter_pools import AKS_NODE_CLASS, EC2_NODE_CLASS
from spotproof_policies.model import Config, EachResource, Policy, Resource

# A machine bought just before the destroy may take Karpenter's 15 min to register, then 5 min to drain and stop.
_MINIMUM_MINUTES = 20


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield a node class whose deletion is given up while machines still run."""
    minutes = resource.delete_seconds / 60
    if minutes < config["minimumMinutes"]:
        written = f"{minutes:g} min" if minutes else "the provider's default"
        yield (
            f"The delete timeout of this node class is {written}, so a destroy gives up while machines still drain, "
            "and they outlive the stack and block its subnets. "
            f"Set custom_timeouts delete to {config['minimumMinutes']:g}m or more."
        )


POLICY = Policy(
    name="node-classes-have-time-to-go",
    description="Deleting a node class waits long enough for its machines to drain and stop.",
    level="mandatory",
    severity="medium",
    remedy="Set pulumi.CustomTimeouts(delete='30m') on every EC2NodeClass and AKSNodeClass.",
    url="https://karpenter.sh/docs/concepts/nodeclasses/",
    judges=EachResource((EC2_NODE_CLASS, AKS_NODE_CLASS), check),
    config_schema={
        "minimumMinutes": {
            "type": "number",
            "minimum": 0,
            "default": _MINIMUM_MINUTES,
            "description": "The shortest delete timeout of a node class, in minutes.",
        }
    },
)
