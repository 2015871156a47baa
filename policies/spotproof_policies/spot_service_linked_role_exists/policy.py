"""Where EC2 spot nodes are bought, somebody said where the account's spot role comes from."""

from collections.abc import Iterator

from spotproof_policies.karpenter_pools import EC2_NODE_CLASS, KARPENTER_NODE_POOL, KarpenterPool
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.pools import buys_spot
from spotproof_policies.reading import at

_COMPONENT = "spotproof:aws:SpotServiceLinkedRole"
_ROLE = "aws:iam/serviceLinkedRole:ServiceLinkedRole"


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield one sentence for the first spot pool when nothing accounts for the role."""
    if stack.of(_COMPONENT, _ROLE) or not stack.of(EC2_NODE_CLASS):
        return
    for resource in stack.of(KARPENTER_NODE_POOL):
        if at(resource.props, "spec", "template", "spec", "nodeClassRef", "kind") != "EC2NodeClass":
            continue
        if buys_spot(KarpenterPool(resource.props)):
            yield Finding(
                resource,
                "This pool buys EC2 spot nodes and nothing in the stack accounts for the account's role "
                "AWSServiceRoleForEC2Spot; when it is missing EC2 refuses every spot request and Karpenter quietly "
                "buys on-demand or nothing. Use the component spotproof.clouds.aws.SpotServiceLinkedRole.",
            )
            return


POLICY = Policy(
    name="spot-service-linked-role-exists",
    description="A stack that buys EC2 spot nodes accounts for the service-linked role of EC2 spot.",
    level="mandatory",
    severity="high",
    remedy=(
        "Write `spotServiceLinkedRole: existing`, `adopt` or `create`. By hand once per account: "
        "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com."
    ),
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html",
    judges=WholeStack((KARPENTER_NODE_POOL,), check),
)
