"""Container logs in CloudWatch: a dead attempt's logs outlive its pods, and not for ever."""

from typing import Any, Final, TypedDict

import pulumi
import pulumi_aws as aws

from spotproof.clouds.aws.addons import Identity, addon
from spotproof.clouds.aws.documents import allow, document, trusts_pods
from spotproof.clouds.aws.names import Names
from spotproof.clouds.aws.placing import SYSTEM
from spotproof.clouds.aws.roles import make_role
from spotproof.clouds.options import after, child_of

ADDON: Final = "amazon-cloudwatch-observability"
NAMESPACE: Final = "amazon-cloudwatch"
"""Where the add-on puts everything."""
SERVICE_ACCOUNT: Final = "cloudwatch-agent"
"""Of both its agent and its log collector (aws-observability/helm-charts)."""
KINDS: Final = ("application", "dataplane", "host", "performance")

CONFIGURATION: Final[dict[str, Any]] = {
    # An agent configuration without Application Signals: that one is on by default, is billed by the request, and
    # changes pods as they are created.
    "agent": {"config": {"logs": {"metrics_collected": {"kubernetes": {"enhanced_container_insights": True}}}}},
    "containerLogs": {"enabled": True},
    # The chart gives its one controller no toleration at all (aws/containers-roadmap #2515): at the first `up`, when
    # there are system nodes only, it would stay pending, and the add-on would count as failed after 20 minutes.
    "manager": {
        "nodeSelector": {"kubernetes.io/os": "linux", **SYSTEM.node_selector},
        "tolerations": [dict(one) for one in SYSTEM.tolerations],
    },
}
"""Agent and collector tolerate everything by default (aws/containers-roadmap #2195), so they run on spot and GPU nodes
too."""


class ContainerLogsArgs(TypedDict):
    """Whose logs, and how long."""

    cluster_name: str
    """Name of the EKS cluster; it runs the Pod Identity agent."""
    account_id: str
    """The 12 digits of the account."""
    region: str
    """The AWS region."""
    retain_days: int
    """Days in CloudWatch; one of the values it takes."""


class ContainerLogs(pulumi.ComponentResource):
    """CloudWatch's add-on with four log groups that are there before it.

    The add-on would make them itself, without an end to what they keep; so they are made here, with retention, and
    the add-on finds them. Give the nodes as `depends_on`: its pods must run before it counts as installed.
    """

    def __init__(self, name: str, args: ContainerLogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        days = int(args["retain_days"])
        super().__init__("spotproof:aws:ContainerLogs", name, {"retainDays": days}, opts)
        names = Names(args["cluster_name"], args["account_id"], args["region"])
        child = pulumi.ResourceOptions(parent=self)
        groups = [
            aws.cloudwatch.LogGroup(
                f"{name}-{kind}", name=names.container_logs(kind), retention_in_days=days, opts=child
            )
            for kind in KINDS
        ]
        role = make_role(
            name,
            names,
            "logs",
            trust=trusts_pods(names.cluster_arn, NAMESPACE, SERVICE_ACCOUNT),
            documents={"logs": agent_document(names)},
            opts=child,
        )
        identity = Identity(SERVICE_ACCOUNT, role)
        addon(
            name,
            names.cluster,
            ADDON,
            after(child_of(self, opts), *groups),
            configuration=CONFIGURATION,
            identities=[identity],
        )
        self.register_outputs({})


def agent_document(names: Names) -> str:
    """Write to the cluster's own log groups.

    logs:CreateLogGroup is among the rights because the collector asks for the group's creation before its first line
    and stops when that is denied; that the group exists already is no error to it. It may not set retention.
    """
    # the star stands for nothing, where the action is on a group, and for `log-stream:<name>`
    groups = [names.arn("logs", f"log-group:{names.container_logs(kind)}:*") for kind in KINDS]
    return document(
        allow("FindGroups", ["logs:CreateLogGroup", "logs:DescribeLogStreams"], groups),
        allow("WriteLines", ["logs:CreateLogStream", "logs:PutLogEvents"], groups),
        allow(
            "WriteMetrics",
            ["cloudwatch:PutMetricData"],
            "*",
            {"StringEquals": {"cloudwatch:namespace": "ContainerInsights"}},
        ),
        allow("ReadNode", ["ec2:DescribeTags", "ec2:DescribeVolumes"], "*"),
    )
