"""EKS add-ons, each at the version that is EKS's default for the cluster's when it is made.

Nothing updates them afterwards, a newer Kubernetes neither: whoever upgrades the cluster does (docs/aws.md, Upgrading).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from spotproof.clouds.aws.placing import SYSTEM_LABELS
from spotproof.clouds.aws.roles import MadeRole
from spotproof.clouds.options import after
from spotproof.vocabulary import TOLERATIONS


@dataclass(frozen=True)
class Identity:
    """A service account of an add-on and the role its pods take."""

    service_account: str
    role: MadeRole


EBS_ROLE_POLICY: Final = "service-role/AmazonEBSCSIDriverPolicy"
EBS_SERVICE_ACCOUNT: Final = "ebs-csi-controller-sa"

BEFORE_NODES: Final = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
"""A node is Ready only with a CNI, and pods of the first node already ask the agent for credentials."""

AFTER_NODES: Final[Mapping[str, Mapping[str, Any]]] = {
    # both have pods that must run: without a node they stay Degraded and `up` fails after 20 minutes
    "coredns": {"nodeSelector": SYSTEM_LABELS},
    "aws-ebs-csi-driver": {"controller": {"nodeSelector": SYSTEM_LABELS}},
    # Tells a broken GPU from a slow one: conditions such as AcceleratedHardwareReady. The agent runs everywhere; what
    # reads the GPUs for it tolerates nothing by default, and so would stay off every node that has one.
    "eks-node-monitoring-agent": {"dcgmAgent": {"tolerations": [dict(one) for one in TOLERATIONS]}},
}
"""Add-on -> its configuration. On on-demand system nodes: name service must not leave with a spot node."""


def addon(  # noqa: PLR0913 - an add-on, its place, and two parts most do not have
    name: str,
    cluster_name: pulumi.Input[str],
    addon_name: str,
    opts: pulumi.ResourceOptions,
    *,
    configuration: Mapping[str, Any] | None = None,
    identities: Sequence[Identity] = (),
) -> aws.eks.Addon:
    """One add-on. What stands here wins over what somebody changed by hand in the cluster."""
    return aws.eks.Addon(
        f"{name}-{addon_name}",
        cluster_name=cluster_name,
        addon_name=addon_name,
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        configuration_values=json.dumps(configuration) if configuration else None,
        pod_identity_associations=[
            {"service_account": identity.service_account, "role_arn": identity.role.arn} for identity in identities
        ]
        or None,
        opts=after(opts, *(one for identity in identities for one in identity.role.ready)),
    )
