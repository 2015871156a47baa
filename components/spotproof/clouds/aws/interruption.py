"""The queue by which Karpenter hears that a machine will go, and the five rules that fill it."""

import json
from typing import Final, TypedDict

import pulumi
import pulumi_aws as aws

from spotproof.clouds.aws.documents import deny_plain_http, document
from spotproof.clouds.aws.names import Names

RETENTION_SECONDS: Final = 300
"""A warning is of no use after the machine is gone: 120 s for spot, 300 s with room (Karpenter's own template)."""

RULES: Final[dict[str, tuple[str, str]]] = {
    "spot-interruption": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "rebalance": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "state-change": ("aws.ec2", "EC2 Instance State-change Notification"),
    "scheduled-change": ("aws.health", "AWS Health Event"),
    # Karpenter listens to it since 1.10; modules made before lack it
    "capacity-reservation": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
}
"""Word in the rule's name -> source and detail-type."""


class InterruptionQueueArgs(TypedDict):
    """Whose queue it is."""

    cluster_name: str
    """Name of the EKS cluster; the queue and its rules are called after it."""
    account_id: str
    """The 12 digits of the account."""
    region: str
    """The AWS region."""


class InterruptionQueue(pulumi.ComponentResource):
    """SQS queue, EventBridge rules and the right of one to write to the other.

    SSE-SQS, not a key of ours: with a customer's key EventBridge drops messages silently unless the key's policy
    admits it.
    """

    queue_name: str
    """What Karpenter's `settings.interruptionQueue` takes: the bare name, known at preview."""

    def __init__(self, name: str, args: InterruptionQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:aws:InterruptionQueue", name, {"clusterName": args["cluster_name"]}, opts)
        names = Names(args["cluster_name"], args["account_id"], args["region"])
        child = pulumi.ResourceOptions(parent=self)
        self.queue_name = names.queue
        queue = aws.sqs.Queue(
            f"{name}-queue",
            name=names.queue,
            message_retention_seconds=RETENTION_SECONDS,
            sqs_managed_sse_enabled=True,
            opts=child,
        )
        admitted = aws.sqs.QueuePolicy(
            f"{name}-queue-policy", queue_url=queue.url, policy=queue_document(names), opts=child
        )
        for word, (source, detail_type) in RULES.items():
            rule = aws.cloudwatch.EventRule(
                f"{name}-{word}",
                name=names.rule(word),
                description=f"{detail_type}, for Karpenter of {names.cluster}",
                event_pattern=json.dumps({"source": [source], "detail-type": [detail_type]}),
                opts=child,
            )
            aws.cloudwatch.EventTarget(
                f"{name}-{word}-target",
                rule=rule.name,
                target_id="karpenter",
                arn=names.queue_arn,
                opts=pulumi.ResourceOptions(parent=self, depends_on=[admitted]),
            )
        self.register_outputs({"queueName": self.queue_name})


def queue_document(names: Names) -> str:
    """Who may write to the queue: these five rules and nobody else, over TLS.

    Without the condition a rule of any account could, and a forged warning drains a node. The template Karpenter
    publishes admits sqs.amazonaws.com as well, which only dead-letter moves need; there are none here.
    """
    return document(
        {
            "Sid": "AllowEvents",
            "Effect": "Allow",
            "Principal": {"Service": ["events.amazonaws.com"]},
            "Action": "sqs:SendMessage",
            "Resource": names.queue_arn,
            "Condition": {
                "ArnEquals": {"aws:SourceArn": [names.arn("events", f"rule/{names.rule(word)}") for word in RULES]}
            },
        },
        deny_plain_http("sqs:*", names.queue_arn),
    )
