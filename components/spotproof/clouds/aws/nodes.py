"""The nodes nobody reclaims: two small on-demand ones for the controllers, and the add-ons every cluster needs."""

from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_aws as aws

from spotproof.clouds.aws.addons import (
    AFTER_NODES,
    BEFORE_NODES,
    EBS_ROLE_POLICY,
    EBS_SERVICE_ACCOUNT,
    Identity,
    addon,
)
from spotproof.clouds.aws.documents import trusts, trusts_pods
from spotproof.clouds.aws.names import Names
from spotproof.clouds.aws.placing import SYSTEM_LABELS, SYSTEM_TAINT_KEY
from spotproof.clouds.aws.roles import MadeRole, make_role
from spotproof.clouds.options import after, child_of

INSTANCE_TYPES: Final = ("m7i.large", "m6i.large")
"""2 vCPU, 8 GiB. Requests on one of two nodes: Karpenter 0.25 CPU, JobSet 0.25, KubeRay 0.1, CoreDNS 0.1, EBS driver
0.1, CloudWatch 0.4, kube-proxy and CNI 0.15: 1.35 of the 1.93 CPUs that EKS leaves."""
AMI_TYPE: Final = "AL2023_x86_64_STANDARD"
NODES: Final = 2
"""Karpenter's two replicas never share a node, and a release that waits for both needs both."""
DISK_GIB: Final = 50
"""Images of the controllers above take about 6 GiB; kubelet starts to clean up at 85 % of the disk."""

NODE_POLICIES: Final = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)
"""What every node needs: to join, to give pods addresses, to pull images, and a shell without SSH."""


class SystemNodesArgs(TypedDict):
    """The nodes of one cluster that carry its controllers."""

    cluster_name: str
    """Name of the EKS cluster."""
    account_id: str
    """The 12 digits of the account."""
    region: str
    """The AWS region."""
    subnet_ids: pulumi.Input[list[str]]
    """Private subnets, in at least two zones."""
    placed_in: NotRequired[list[str]]
    """What decides the subnets, where their ids are not known beforehand: their zones, or the ids of those that exist.
    EKS cannot change a group's subnets: with this in its name the new group can be made before the old one goes."""
    kubernetes_version: NotRequired[str]
    """Minor version, as 1.36. Default: the cluster's when the group was made; a later upgrade then leaves it behind."""
    tags: NotRequired[dict[str, str]]
    """Tags of machines and disks; the provider's default tags do not reach those."""


class SystemNodes(pulumi.ComponentResource):
    """A managed node group with the label `spotproof.dev/system` and the taint `CriticalAddonsOnly`, and the add-ons.

    Its role is its own: EKS makes the access entry for it, and an explicit one, as Karpenter's nodes need, collides.
    """

    node_group: aws.eks.NodeGroup
    addons: Sequence[aws.eks.Addon]
    """All of them, those that wait for nodes last."""

    def __init__(self, name: str, args: SystemNodesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:aws:SystemNodes", name, {"clusterName": args["cluster_name"]}, opts)
        names = Names(args["cluster_name"], args["account_id"], args["region"])
        child, later = pulumi.ResourceOptions(parent=self), child_of(self, opts)
        first = [addon(name, names.cluster, one, later) for one in BEFORE_NODES]
        role = make_role(
            name, names, "system-node", trust=trusts(names.ec2_principal), managed=NODE_POLICIES, opts=child
        )
        template = _launch_template(name, names, args.get("tags", {}), child)
        self.node_group = aws.eks.NodeGroup(
            f"{name}-nodes",
            cluster_name=names.cluster,
            node_group_name=names.node_group(
                "system", ",".join([AMI_TYPE, *INSTANCE_TYPES, *args.get("placed_in", ())])
            ),
            node_role_arn=role.arn,
            version=args.get("kubernetes_version"),
            subnet_ids=args["subnet_ids"],
            ami_type=AMI_TYPE,
            capacity_type="ON_DEMAND",
            instance_types=list(INSTANCE_TYPES),
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            scaling_config={"min_size": NODES, "desired_size": NODES, "max_size": NODES + 1},
            update_config={"max_unavailable": 1},
            node_repair_config={"enabled": True},
            labels=SYSTEM_LABELS,
            taints=[{"key": SYSTEM_TAINT_KEY, "value": "true", "effect": "NO_SCHEDULE"}],
            opts=after(later, *role.ready, *first),
        )
        self.addons = [*first, *_after_nodes(name, names, after(child, self.node_group, *first))]
        self.register_outputs({"nodeGroup": self.node_group.node_group_name})


def _after_nodes(name: str, names: Names, opts: pulumi.ResourceOptions) -> list[aws.eks.Addon]:
    role = make_role(
        name,
        names,
        "ebs-csi",
        trust=trusts_pods(names.cluster_arn, "kube-system", EBS_SERVICE_ACCOUNT),
        managed=[EBS_ROLE_POLICY],
        opts=pulumi.ResourceOptions(parent=opts.parent),
    )
    identities = {"aws-ebs-csi-driver": [Identity(EBS_SERVICE_ACCOUNT, role)]}
    return [
        addon(name, names.cluster, one, opts, configuration=configuration, identities=identities.get(one, ()))
        for one, configuration in AFTER_NODES.items()
    ]


def _launch_template(
    name: str, names: Names, tags: Mapping[str, str], opts: pulumi.ResourceOptions
) -> aws.ec2.LaunchTemplate:
    labels = {**tags, "Name": f"{names.cluster}-system"}
    return aws.ec2.LaunchTemplate(
        f"{name}-template",
        name=f"{names.cluster}-system",
        update_default_version=True,
        block_device_mappings=[
            {
                "device_name": "/dev/xvda",
                "ebs": {
                    "volume_size": DISK_GIB,
                    "volume_type": "gp3",
                    "encrypted": "true",
                    "delete_on_termination": "true",
                },
            }
        ],
        metadata_options={
            "http_endpoint": "enabled",
            "http_tokens": "required",
            # one hop: pods off the host's network never see the node's credentials
            "http_put_response_hop_limit": 1,
        },
        tag_specifications=[{"resource_type": kind, "tags": labels} for kind in ("instance", "volume")],
        opts=opts,
    )


def karpenter_node_role(
    name: str, names: Names, child: pulumi.ResourceOptions, opts: pulumi.ResourceOptions
) -> MadeRole:
    """The role of the nodes that Karpenter makes, with the access entry by which they may join.

    The entry is of type EC2_LINUX: one of type STANDARD would admit them as people, and no node would register.

    Args:
        name: Prefix of the resources.
        names: The cluster's names.
        child: Options of the role.
        opts: Options of the entry, which has to wait for the cluster.
    """
    role = make_role(
        name, names, "karpenter-node", trust=trusts(names.ec2_principal), managed=NODE_POLICIES, opts=child
    )
    entry = aws.eks.AccessEntry(
        f"{name}-node-access",
        cluster_name=names.cluster,
        principal_arn=role.arn,
        type="EC2_LINUX",
        opts=after(opts, *role.ready),
    )
    return MadeRole(role.name, role.arn, [*role.ready, entry])
