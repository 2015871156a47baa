"""GPU nodes get the device plugin once: from the image or from a chart."""

from collections.abc import Iterator

from spotproof_policies.charts import HELM_RELEASE, releases, values
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.placing import may_land
from spotproof_policies.pools import EC2_NODE_CLASS, KARPENTER_NODE_POOL, read
from spotproof_policies.reading import at, rows, text

_WITH_PLUGIN = "bottlerocket"
_WITHOUT_PLUGIN = "al2023"
_ENVIRONMENT = "spotproof:aws:EksEnvironment"


def check(stack: Stack, config: Config) -> Iterator[Finding]:
    """Yield GPU pools without a plugin, or a plugin on nodes whose image has one."""
    families = {text(at(one.props, "metadata", "name")): _family(one) for one in stack.of(EC2_NODE_CLASS)}
    if not families:
        return
    charts = _charts(stack)
    elsewhere = config["installedElsewhere"] or _kept_by_somebody_else(stack)
    for pool in stack.of(KARPENTER_NODE_POOL):
        family = families.get(text(at(pool.props, "spec", "template", "spec", "nodeClassRef", "name")), "")
        view = read(pool)
        if family not in {_WITH_PLUGIN, _WITHOUT_PLUGIN} or not view.buys_gpus:
            continue
        plugins = [chart for chart in charts if may_land(values(chart), view.labels)]
        if family == _WITHOUT_PLUGIN and not plugins and not elsewhere:
            yield Finding(
                pool,
                "The AL2023 image of this GPU pool has the driver but no device plugin, and no chart of the stack "
                "puts one there, so Karpenter buys nodes that never become ready. "
                "Write `operators.gpuPlugin.mode: install`, or existing where somebody else keeps it (in a program of "
                "your own: installedElsewhere of this policy).",
            )
        if family == _WITH_PLUGIN and plugins:
            yield Finding(
                plugins[0],
                f"This chart installs a device plugin on the nodes of pool `{pool.name}`, whose Bottlerocket image has "
                "one already, so two plugins fight over the GPUs. Write `operators.gpuPlugin.mode: off`, or keep the "
                "chart away from these nodes with values.nodeSelector or values.affinity.",
            )


def _kept_by_somebody_else(stack: Stack) -> bool:
    """Whether settings of ours say so; the component repeats them among its outputs."""
    return any(at(one.props, "gpuPlugin") == "existing" for one in stack.of(_ENVIRONMENT))


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
    remedy="Write `operators.gpuPlugin.mode`: install with AL2023 images, off with Bottlerocket.",
    url="https://github.com/NVIDIA/k8s-device-plugin",
    judges=WholeStack((EC2_NODE_CLASS, KARPENTER_NODE_POOL, HELM_RELEASE, _ENVIRONMENT), check),
    config_schema={
        "installedElsewhere": {
            "type": "boolean",
            "default": False,
            "description": "True when another program installs the plugin; our settings say so themselves.",
        }
    },
)
