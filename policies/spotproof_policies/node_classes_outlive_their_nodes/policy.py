"""On destroy pools go first, then their node class, which waits for the machines, then the controller."""

from collections.abc import Iterator

from spotproof_policies.charts import HELM_RELEASE, releases
from spotproof_policies.karpenter_pools import AKS_NODE_CLASS, EC2_NODE_CLASS, KARPENTER_NODE_POOL
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.reading import at, text


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every link that is missing in the chain controller, node class, pool."""
    classes = stack.of(EC2_NODE_CLASS, AKS_NODE_CLASS)
    controllers = releases(stack, "karpenter")
    for node_class in classes:
        if controllers and not any(stack.depends_on(node_class, controller) for controller in controllers):
            yield Finding(
                node_class,
                "This node class does not depend on the Karpenter release, so a destroy may remove the controller "
                "first; the finalizers then hang and the machines run on. Add depends_on=[release].",
            )
    for pool in stack.of(KARPENTER_NODE_POOL):
        node_class = _class_of(pool, classes)
        if node_class and not stack.depends_on(pool, node_class):
            yield Finding(
                pool,
                f"This pool does not depend on its node class `{node_class.name}`, so a destroy may take the class "
                "away under it, and the barrier that waits for the machines is gone. Add depends_on=[node_class].",
            )


def _class_of(pool: Resource, classes: tuple[Resource, ...]) -> Resource | None:
    reference = at(pool.props, "spec", "template", "spec", "nodeClassRef")
    kind, name = text(at(reference, "kind")), at(reference, "name")
    of_kind = (one for one in classes if kind and one.type.endswith(f":{kind}"))
    return next((one for one in of_kind if at(one.props, "metadata", "name") == name), None)


POLICY = Policy(
    name="node-classes-outlive-their-nodes",
    description="Pools depend on their node class and node classes on the Karpenter release.",
    level="mandatory",
    severity="high",
    remedy="Chain depends_on: the controller's release where you install one, then the node class, then NodePool.",
    url="https://karpenter.sh/docs/concepts/nodeclasses/",
    judges=WholeStack((EC2_NODE_CLASS, AKS_NODE_CLASS, KARPENTER_NODE_POOL, HELM_RELEASE), check),
)
