"""Logs in Cloud Logging: a dead attempt's logs outlive its pods, and not for ever."""

from typing import Final, TypedDict

import pulumi
import pulumi_gcp as gcp

from spotproof.clouds.gcp.names import Names

RESOURCE_TYPES: Final = ("k8s_container", "k8s_pod", "k8s_node", "k8s_cluster", "k8s_control_plane_component")


class ContainerLogsArgs(TypedDict):
    """Whose logs, and how long."""

    cluster_name: str
    """Name of the GKE cluster."""
    project: str
    """The project's id."""
    region: str
    """The region; the lines do not leave it."""
    retain_days: int
    """Days they are kept, at most 3650."""


class ContainerLogs(pulumi.ComponentResource):
    """A log bucket of the cluster's own, with its retention.

    The project's `_Default` bucket has one retention for everything in it. So a sink brings the cluster's lines here,
    and an exclusion keeps them out of there, where they would be paid for a second time. Neither touches another
    stack's. Give it as `depends_on` of the cluster, and no line goes elsewhere.
    """

    def __init__(self, name: str, args: ContainerLogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        days = int(args["retain_days"])
        super().__init__("spotproof:gcp:ContainerLogs", name, {"retainDays": days}, opts)
        names = Names(args["cluster_name"], args["project"], args["region"])
        lines = log_filter(names)
        bucket = gcp.logging.ProjectBucketConfig(
            f"{name}-bucket",
            project=names.project,
            location=names.region,
            bucket_id=names.logs,
            description=f"Logs of {names.cluster}",
            retention_days=days,
            opts=pulumi.ResourceOptions(parent=self),
        )
        sink = gcp.logging.ProjectSink(
            f"{name}-sink",
            project=names.project,
            name=names.logs,
            destination=f"logging.googleapis.com/{names.log_bucket}",
            filter=lines,
            # into a log bucket of its own project a sink writes without a role
            unique_writer_identity=False,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[bucket]),
        )
        gcp.logging.ProjectExclusion(
            f"{name}-exclusion",
            project=names.project,
            name=names.logs,
            description=f"Kept in {names.logs}",
            filter=lines,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[sink]),
        )
        self.register_outputs({})


def log_filter(names: Names) -> str:
    """The lines of one cluster, in Logging's query language. Its audit logs stay where Google keeps them."""
    types = " OR ".join(f'"{one}"' for one in RESOURCE_TYPES)
    return (
        f"resource.type=({types}) "
        f'AND resource.labels.cluster_name="{names.cluster}" '
        f'AND resource.labels.location="{names.region}" '
        'AND NOT log_id("cloudaudit.googleapis.com/activity") '
        'AND NOT log_id("cloudaudit.googleapis.com/system_event")'
    )
