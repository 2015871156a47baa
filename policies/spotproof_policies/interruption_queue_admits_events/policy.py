"""EventBridge may write to the interruption queue, and nobody may without TLS."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_policies.charts import HELM_RELEASE, releases, values
from spotproof_policies.documents import allows, refuses_plain_http, services, statements
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at, json_document, text, words

_QUEUE = "aws:sqs/queue:Queue"
_QUEUE_POLICY = "aws:sqs/queuePolicy:QueuePolicy"
_EVENT_BRIDGE = "events.amazonaws.com"


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield what is wrong with the policy of the queue that Karpenter reads."""
    if not stack.of(_QUEUE):
        return
    for karpenter in releases(stack, "karpenter"):
        queue = text(at(values(karpenter), "settings", "interruptionQueue"))
        if not queue:
            continue
        policies = [(one, json_document(at(one.props, "policy"))) for one in stack.of(_QUEUE_POLICY)]
        guarding = [(one, document) for one, document in policies if _guards(document, queue)]
        if not guarding:
            yield Finding(
                karpenter,
                f"No queue policy names the queue `{queue}`, so EventBridge may not write to it and Karpenter hears "
                f"nothing. Add a QueuePolicy that allows {_EVENT_BRIDGE} sqs:SendMessage.",
            )
        for one, document in guarding:
            for sentence in _sentences(document):
                yield Finding(one, sentence)


def _guards(document: Mapping[str, Any], queue: str) -> bool:
    named = (word for statement in statements(document) for word in words(at(statement, "Resource")))
    return any(word.rpartition(":")[2] == queue for word in named)


def _sentences(document: Mapping[str, Any]) -> Iterator[str]:
    if not any(
        _EVENT_BRIDGE in services(statement) and "sqs:SendMessage" in words(at(statement, "Action"))
        for statement in allows(document)
    ):
        yield (
            f"The queue policy does not let {_EVENT_BRIDGE} send messages, so spot warnings are dropped on the way. "
            f"Allow sqs:SendMessage to the service principal {_EVENT_BRIDGE}."
        )
    if not refuses_plain_http(document, "sqs:*"):
        yield (
            "The queue policy does not refuse plain HTTP, so messages can be read or forged on their way. "
            "Deny sqs:* to Principal * when aws:SecureTransport is false."
        )


POLICY = Policy(
    name="interruption-queue-admits-events",
    description="The interruption queue admits EventBridge and refuses requests without TLS.",
    level="mandatory",
    severity="high",
    remedy="Use spotproof.clouds.aws.EksCluster, or write both statements in the queue's policy.",
    url="https://karpenter.sh/docs/concepts/disruption/#interruption",
    judges=WholeStack((HELM_RELEASE, _QUEUE_POLICY), check),
)
