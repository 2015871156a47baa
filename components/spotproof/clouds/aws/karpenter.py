"""Karpenter: the controller that buys nodes, its rights, and the role of what it buys."""

from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from spotproof.clouds.aws import karpenter_iam
from spotproof.clouds.aws.documents import trusts_pods
from spotproof.clouds.aws.interruption import InterruptionQueue
from spotproof.clouds.aws.names import Names
from spotproof.clouds.aws.nodes import karpenter_node_role
from spotproof.clouds.aws.placing import SYSTEM
from spotproof.clouds.aws.roles import make_role
from spotproof.clouds.aws.versions import KARPENTER, KARPENTER_CRD
from spotproof.clouds.helm import mirrored, release
from spotproof.clouds.options import after, child_of

NAMESPACE: Final = "kube-system"
"""Its service accounts have a priority of their own at the API server; elsewhere FlowSchemas would be needed."""
SERVICE_ACCOUNT: Final = "karpenter"


class KarpenterArgs(TypedDict):
    """One controller for one cluster."""

    cluster_name: str
    """Name of the EKS cluster."""
    account_id: str
    """The 12 digits of the account."""
    region: str
    """The AWS region."""
    image_registry: NotRequired[str]
    """A mirror for chart and image, as `<mirror>/<original host>/<path>`. Default, and empty: the originals."""


class Karpenter(pulumi.ComponentResource):
    """Karpenter 1.14.1 in kube-system: CRDs from their own chart, then the controller.

    The CRD chart comes first and the controller's chart skips its CRDs, because Helm installs those once and never
    upgrades them, and taking them over later fails on their ownership metadata.

    Needs two nodes that Karpenter does not manage, with the label `spotproof.dev/system: "true"`; give what makes them
    as `depends_on`. Needs the account's spot service-linked role for spot pools; see SpotServiceLinkedRole.
    """

    release: k8s.helm.v3.Release
    """What every EC2NodeClass must depend on: it has to be there when their finalizers run."""
    node_role_name: str
    """For EC2NodeClass; not the managed node group's role. Known at preview."""

    def __init__(self, name: str, args: KarpenterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:aws:Karpenter", name, {"clusterName": args["cluster_name"]}, opts)
        names = Names(args["cluster_name"], args["account_id"], args["region"])
        mirror = args.get("image_registry") or None
        child, later = pulumi.ResourceOptions(parent=self), child_of(self, opts)
        queue = InterruptionQueue(
            f"{name}-interruption",
            {"cluster_name": names.cluster, "account_id": names.account_id, "region": names.region},
            child,
        )
        nodes = karpenter_node_role(name, names, child, later)
        self.node_role_name = nodes.name
        controller = make_role(
            name,
            names,
            "karpenter",
            trust=trusts_pods(names.cluster_arn, NAMESPACE, SERVICE_ACCOUNT),
            documents=karpenter_iam.documents(names, nodes.name),
            opts=child,
        )
        identity = aws.eks.PodIdentityAssociation(
            f"{name}-identity",
            cluster_name=names.cluster,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            role_arn=controller.arn,
            opts=after(later, *controller.ready),
        )
        crds = release(f"{name}-crd", KARPENTER_CRD, namespace=NAMESPACE, values={}, mirror=mirror, opts=later)
        self.release = release(
            f"{name}-controller",
            KARPENTER,
            namespace=NAMESPACE,
            values=values(names, queue.queue_name, mirror),
            mirror=mirror,
            skip_crds=True,
            opts=after(later, crds, identity, queue, *nodes.ready),
        )
        self.register_outputs({"nodeRoleName": self.node_role_name})


def values(names: Names, queue_name: str, mirror: str | None) -> Mapping[str, Any]:
    """The chart's values: two replicas on system nodes; endpoint and certificate it finds by itself.

    `interruptionQueue` is the queue's name: with a URL or an ARN it starts, and hears nothing.
    """
    return {
        "settings": {"clusterName": names.cluster, "interruptionQueue": queue_name},
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        "replicas": 2,
        "nodeSelector": {"kubernetes.io/os": "linux", **SYSTEM.node_selector},
        "tolerations": [dict(toleration) for toleration in SYSTEM.tolerations],
        "controller": {
            # it would ask IMDS, one hop too far for a pod, and panic (aws/karpenter-provider-aws #8219)
            "env": [{"name": "AWS_REGION", "value": names.region}],
            # 1 CPU is the guide's request for both; the limit of memory is kept, since a leak must not take the node
            "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}},
            **({"image": {"repository": mirrored("public.ecr.aws/karpenter/controller", mirror)}} if mirror else {}),
        },
    }
