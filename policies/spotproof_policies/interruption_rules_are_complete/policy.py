"""Every kind of warning reaches the queue."""

from collections.abc import Iterator

from spotproof_policies.charts import HELM_RELEASE, releases, values
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.reading import at, json_document, words

_RULE = "aws:cloudwatch/eventRule:EventRule"
_TARGET = "aws:cloudwatch/eventTarget:EventTarget"
_DETAIL_TYPES = (
    "AWS Health Event",
    "EC2 Spot Instance Interruption Warning",
    "EC2 Instance Rebalance Recommendation",
    "EC2 Instance State-change Notification",
    # Karpenter reads it since 1.10; modules written before lack the rule.
    "EC2 Capacity Reservation Instance Interruption Warning",
)


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield the warnings that no rule forwards, and rules that forward to nowhere."""
    rules = stack.of(_RULE)
    for karpenter in releases(stack, "karpenter"):
        # A queue that this stack does not fill belongs to another stack, together with its rules.
        if not rules and not stack.of("aws:sqs/queue:Queue"):
            continue
        if not at(values(karpenter), "settings", "interruptionQueue"):
            continue
        heard = {word for rule in rules for word in _detail_types(rule)}
        missing = [word for word in _DETAIL_TYPES if word not in heard]
        if missing:
            yield Finding(
                karpenter,
                f"No EventBridge rule forwards {', '.join(missing)}, so nodes vanish under jobs without a drain. "
                "Add an EventRule with that detail-type and an EventTarget that is the interruption queue.",
            )
    yield from _without_target(stack, rules)


def _without_target(stack: Stack, rules: tuple[Resource, ...]) -> Iterator[Finding]:
    targets = stack.of(_TARGET)
    for rule in rules:
        if not set(_DETAIL_TYPES) & set(_detail_types(rule)):
            continue
        if not any(stack.depends_on(target, rule) for target in targets):
            yield Finding(
                rule,
                "This rule has no target, so its warnings go nowhere. Add an EventTarget whose rule is this one's "
                "name and whose arn is the interruption queue.",
            )


def _detail_types(rule: Resource) -> tuple[str, ...]:
    return words(at(json_document(at(rule.props, "eventPattern")), "detail-type"))


POLICY = Policy(
    name="interruption-rules-are-complete",
    description="Five EventBridge rules with targets feed Karpenter's interruption queue.",
    level="mandatory",
    severity="high",
    remedy="Use spotproof.clouds.aws.EksCluster, or write the five rules and targets next to the queue.",
    url="https://karpenter.sh/docs/concepts/disruption/#interruption",
    judges=WholeStack((HELM_RELEASE, _RULE), check),
)
