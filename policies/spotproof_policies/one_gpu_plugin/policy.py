"""GPU nodes get the device plugin once: from the image, from the cloud, or from a chart."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from spotproof_policies.aks_pools import AKS_AGENT_POOL, AksPool
from spotproof_policies.charts import HELM_RELEASE, releases, values
from spotproof_policies.gke_pools import GKE_NODE_POOL, GkePool
from spotproof_policies.karpenter_pools import AKS_NODE_CLASS, EC2_NODE_CLASS, KARPENTER_NODE_POOL, KarpenterPool
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.node_pool import NodePool
from spotproof_policies.placing import may_land
from spotproof_policies.pools import trains
from spotproof_policies.reading import at, rows, table, text

_ENVIRONMENTS: Final = (
    "spotproof:aws:EksEnvironment",
    "spotproof:azure:AksEnvironment",
    "spotproof:gcp:GkeEnvironment",
)
# AKS then runs a plugin of its own (preview), by a tag on the node class.
_MANAGED: Final = "EnableManagedGPUExperience"
_NO_PLUGIN: Final = "gke-no-default-nvidia-gpu-device-plugin"


@dataclass(frozen=True)
class _Nodes:
    """GPU nodes of one pool: whether they have a plugin already, and by what they are called in a sentence."""

    resource: Resource
    view: NodePool
    has_plugin: bool
    what: str


def check(stack: Stack, config: Config) -> Iterator[Finding]:
    """Yield GPU pools without a plugin, or a plugin on nodes that have one."""
    charts = _charts(stack)
    elsewhere = config["installedElsewhere"] or _kept_by_somebody_else(stack)
    for nodes in (*_of_karpenter(stack), *_of_pools(stack)):
        plugins = [chart for chart in charts if may_land(values(chart), nodes.view.labels)]
        if not nodes.has_plugin and not plugins and not elsewhere:
            yield Finding(
                nodes.resource,
                f"{nodes.what} of this GPU pool has the driver but no device plugin, and no chart of the stack "
                "puts one there, so nodes are bought that never offer nvidia.com/gpu and never become ready. "
                "Write `operators.gpuPlugin.mode: install`, or existing where somebody else keeps it (in a program of "
                "your own: installedElsewhere of this policy).",
            )
        if nodes.has_plugin and plugins:
            yield Finding(
                plugins[0],
                f"This chart installs a device plugin on the nodes of pool `{nodes.resource.name}`, where "
                f"{nodes.what} has one already, so two plugins fight over the GPUs. "
                "Write `operators.gpuPlugin.mode: off`, or keep the chart away from these nodes with "
                "values.nodeSelector or values.affinity.",
            )


def _of_karpenter(stack: Stack) -> Iterator[_Nodes]:
    kinds = dict(_kinds(stack))
    for pool in stack.of(KARPENTER_NODE_POOL) if kinds else ():
        reference = at(pool.props, "spec", "template", "spec", "nodeClassRef")
        kind = kinds.get(text(at(reference, "name")))
        view = KarpenterPool(pool.props)
        if kind and view.buys_gpus:
            yield _Nodes(pool, view, *kind)


def _kinds(stack: Stack) -> Iterator[tuple[str, tuple[bool, str]]]:
    """Name of a node class -> whether its nodes have a plugin, and what gives or lacks it; unknown images are none."""
    families = {"bottlerocket": (True, "the Bottlerocket image"), "al2023": (False, "The AL2023 image")}
    for one in stack.of(EC2_NODE_CLASS):
        if found := families.get(_family(one)):
            yield text(at(one.props, "metadata", "name")), found
    for one in stack.of(AKS_NODE_CLASS):
        managed = text(at(one.props, "spec", "tags", _MANAGED)) == "true"
        yield (
            text(at(one.props, "metadata", "name")),
            (managed, "the managed GPU image" if managed else "The AKS image"),
        )


def _of_pools(stack: Stack) -> Iterator[_Nodes]:
    # Only where jobs of ours go: a program that makes a cluster and nothing inside it is judged elsewhere.
    for pool in stack.of(AKS_AGENT_POOL):
        view = AksPool(pool.props)
        if trains(view) and view.buys_gpus:
            yield _Nodes(pool, view, has_plugin=False, what="The AKS image")
    for pool in stack.of(GKE_NODE_POOL):
        view = GkePool(pool.props)
        if trains(view) and view.buys_gpus and _NO_PLUGIN not in set(table(view.labels)):
            yield _Nodes(pool, view, has_plugin=True, what="GKE")


def _kept_by_somebody_else(stack: Stack) -> bool:
    """Whether settings of ours say so; the component repeats them among its outputs."""
    return any(at(one.props, "gpuPlugin") == "existing" for one in stack.of(*_ENVIRONMENTS))


def _family(node_class: Resource) -> str:
    aliases = (text(at(term, "alias")) for term in rows(at(node_class.props, "spec", "amiSelectorTerms")))
    families = [alias.partition("@")[0] for alias in aliases if alias]
    return (families or [text(at(node_class.props, "spec", "amiFamily"))])[0].lower()


def _charts(stack: Stack) -> list[Resource]:
    """The releases that install a plugin somewhere."""
    operators = releases(stack, "gpu-operator")
    with_plugin = [one for one in operators if at(values(one), "devicePlugin", "enabled") is not False]
    return [*releases(stack, "nvidia-device-plugin"), *with_plugin]


POLICY = Policy(
    name="one-gpu-plugin",
    description="GPU nodes run the NVIDIA device plugin exactly once.",
    level="mandatory",
    severity="high",
    remedy="Write `operators.gpuPlugin.mode`: install with AL2023 images and on AKS, off with Bottlerocket and on GKE.",
    url="https://github.com/NVIDIA/k8s-device-plugin",
    judges=WholeStack(
        (
            *(EC2_NODE_CLASS, AKS_NODE_CLASS, KARPENTER_NODE_POOL, AKS_AGENT_POOL, GKE_NODE_POOL),
            *(HELM_RELEASE, *_ENVIRONMENTS),
        ),
        check,
    ),
    config_schema={
        "installedElsewhere": {
            "type": "boolean",
            "default": False,
            "description": "True when another program installs the plugin; our settings say so themselves.",
        }
    },
)
