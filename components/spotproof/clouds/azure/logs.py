"""Container logs in Log Analytics: a dead attempt's logs outlive its pods, and not for ever."""

from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_azure_native as azure

from spotproof.clouds.azure.names import Names
from spotproof.clouds.options import after, child_of

STREAMS: Final = ("Microsoft-ContainerLogV2", "Microsoft-KubeEvents", "Microsoft-KubePodInventory")
"""Lines of containers, events, and which pod was where: what is asked when a gang died. Metrics, most of the price of
the default group, are left out."""
DESTINATION: Final = "workspace"
ASSOCIATION: Final = "ContainerInsightsExtension"
"""The agent looks for this name."""


class ContainerLogsArgs(TypedDict):
    """Whose logs."""

    cluster_name: str
    """Name of the AKS cluster; its monitoring add-on is on, and its workspace exists."""
    subscription_id: str
    """The subscription."""
    location: str
    """The Azure region."""
    resource_group_name: str
    """The resource group of cluster and workspace."""
    tags: NotRequired[dict[str, str]]
    """Tags of the rule."""


class ContainerLogs(pulumi.ComponentResource):
    """What the cluster's agent collects: a data collection rule, and its association with the cluster.

    The workspace, which says how long, is the cluster's: the agent is told of it when the cluster is made. Without a
    rule an agent that signs in by identity, as this one does, sends nothing.
    """

    def __init__(self, name: str, args: ContainerLogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:azure:ContainerLogs", name, {"streams": list(STREAMS)}, opts)
        names = Names(args["cluster_name"], args["subscription_id"], args["location"], args["resource_group_name"])
        child = child_of(self, opts)
        rule = azure.monitor.DataCollectionRule(
            f"{name}-rule",
            data_collection_rule_name=names.log_rule,
            resource_group_name=names.resource_group,
            location=names.location,
            kind="Linux",
            data_sources={
                "extensions": [
                    {
                        "name": ASSOCIATION,
                        "extension_name": "ContainerInsights",
                        "streams": list(STREAMS),
                        "extension_settings": {
                            "dataCollectionSettings": {
                                "interval": "1m",
                                "namespaceFilteringMode": "Off",
                                "enableContainerLogV2": True,
                            }
                        },
                    }
                ]
            },
            destinations={"log_analytics": [{"name": DESTINATION, "workspace_resource_id": names.log_workspace_id}]},
            data_flows=[{"streams": list(STREAMS), "destinations": [DESTINATION]}],
            tags=args.get("tags") or None,
            opts=child,
        )
        azure.monitor.DataCollectionRuleAssociation(
            f"{name}-association",
            association_name=ASSOCIATION,
            resource_uri=names.cluster_id,
            data_collection_rule_id=names.log_rule_id,
            opts=after(child, rule),
        )
        self.register_outputs({})
