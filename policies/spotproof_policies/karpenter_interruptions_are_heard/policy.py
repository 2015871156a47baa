"""Karpenter reads spot warnings from a queue, by the queue's bare name."""

from collections.abc import Iterator

from spotproof_policies.charts import HELM_RELEASE, chart, values
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, text


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield a Karpenter release that hears no warnings."""
    if chart(resource) != "karpenter":
        return
    queue = text(at(values(resource), "settings", "interruptionQueue"))
    if not queue:
        yield (
            "Karpenter is given no interruption queue, so nodes are reclaimed without a drain and trainers never get "
            "the signal to save. Write the queue's name in values.settings.interruptionQueue."
        )
    elif ":" in queue or "/" in queue:
        yield (
            f"The interruption queue is `{queue}`, which is a URL or an ARN; Karpenter looks it up as a name, finds "
            "nothing and hears no warnings. Write the bare name in values.settings.interruptionQueue."
        )


POLICY = Policy(
    name="karpenter-interruptions-are-heard",
    description="Karpenter is given its interruption queue, by name.",
    level="mandatory",
    severity="high",
    remedy="Write the queue's name, not its URL or ARN, in values.settings.interruptionQueue of the Karpenter release.",
    url="https://karpenter.sh/docs/concepts/disruption/#interruption",
    judges=EachResource((HELM_RELEASE,), check),
)
