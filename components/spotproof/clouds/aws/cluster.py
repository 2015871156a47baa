"""The EKS control plane: who may reach it, what encrypts its secrets, where its logs go."""

import json
from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from spotproof.clouds.aws.documents import TRUSTS_EKS, allow, document
from spotproof.clouds.aws.names import Names
from spotproof.clouds.aws.roles import make_role
from spotproof.settings.aws.checks import SERVICE_CIDR

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")


class EksClusterArgs(TypedDict):
    """A control plane."""

    cluster_name: str
    """Name of the cluster, at most 63 characters."""
    account_id: str
    """The 12 digits of the account."""
    region: str
    """The AWS region."""
    kubernetes_version: str
    """Minor version, as 1.36."""
    subnet_ids: pulumi.Input[list[str]]
    """Private subnets in at least two zones."""
    public_access_cidrs: NotRequired[list[str]]
    """IPv4 ranges that reach the API server from outside. Default none: only from inside the VPC."""
    private_access_cidr: NotRequired[pulumi.Input[str]]
    """IPv4 range that reaches the private endpoint, as the VPC's. Default none: nodes only, since the endpoint admits
    its own security group and nobody else."""
    deletion_protection: NotRequired[bool]
    """Refuse to delete the cluster and its key, by EKS and by Pulumi. Default true."""
    extended_support: NotRequired[bool]
    """Stay on the version when its standard support ends, for 0.60 instead of 0.10 USD per hour. Default true: else AWS
    upgrades the cluster on its own day."""
    log_retention_days: NotRequired[int]
    """Days the control plane's logs are kept. Default 30; one of the values CloudWatch takes."""


class EksCluster(pulumi.ComponentResource):
    """An EKS cluster with API access entries, a private endpoint, encrypted secrets and all five logs.

    Whoever runs `up` becomes an administrator by creating it. Add-ons, nodes and people are components of their own.
    The Kubernetes provider has a cluster identifier, so no update of the cluster ever plans the replacement of what is
    inside it, and a kubeconfig that calls `aws eks get-token` as whoever runs it: no token, no profile, no role.
    """

    name: pulumi.Output[str]
    """Resolves once the cluster exists: what takes it waits for the cluster."""
    security_group_id: pulumi.Output[str]
    """The group EKS makes: everything among its members, in both directions, which EFA needs, and everything out."""
    kubernetes_provider: k8s.Provider
    resource: aws.eks.Cluster

    def __init__(self, name: str, args: EksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        protect = args.get("deletion_protection", True)
        cidrs = args.get("public_access_cidrs", [])
        props = {"clusterName": args["cluster_name"], "deletionProtection": protect, "publicAccessCidrs": cidrs}
        super().__init__("spotproof:aws:EksCluster", name, props, opts)
        names = Names(args["cluster_name"], args["account_id"], args["region"])
        child = pulumi.ResourceOptions(parent=self)
        logs = aws.cloudwatch.LogGroup(
            f"{name}-logs",
            name=names.control_plane_logs,
            retention_in_days=int(args.get("log_retention_days", 30)),
            opts=child,
        )
        key, alias = _key(name, names, self, protect=protect)
        role = make_role(
            name,
            names,
            "cluster",
            trust=TRUSTS_EKS,
            documents={"cluster-key": key_document(names)},
            managed=["AmazonEKSClusterPolicy"],
            opts=child,
        )
        self.resource = aws.eks.Cluster(
            f"{name}-cluster",
            name=names.cluster,
            version=args["kubernetes_version"],
            role_arn=role.arn,
            access_config={"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": True},
            bootstrap_self_managed_addons=False,
            deletion_protection=protect,
            enabled_cluster_log_types=list(LOG_TYPES),
            encryption_config={"resources": ["secrets"], "provider": {"key_arn": key.arn}},
            kubernetes_network_config={"ip_family": "ipv4", "service_ipv4_cidr": SERVICE_CIDR},
            upgrade_policy={"support_type": "EXTENDED" if args.get("extended_support", True) else "STANDARD"},
            vpc_config=aws.eks.ClusterVpcConfigArgs(
                subnet_ids=args["subnet_ids"],
                endpoint_private_access=True,
                endpoint_public_access=bool(cidrs),
                # left out where there are none: the API takes no empty list, and keeps what it has
                public_access_cidrs=cidrs or None,
            ),
            opts=pulumi.ResourceOptions(parent=self, protect=protect, depends_on=[*role.ready, logs, alias]),
        )
        self.name = self.resource.name
        self.security_group_id = self.resource.vpc_config.cluster_security_group_id.apply(_present)
        reach = self._reach(name, args["private_access_cidr"]) if "private_access_cidr" in args else []
        self.kubernetes_provider = _kubernetes(
            name, names, self.resource, pulumi.ResourceOptions(parent=self, depends_on=reach)
        )
        self.register_outputs({"name": self.name})

    def _reach(self, name: str, cidr: pulumi.Input[str]) -> list[pulumi.Resource]:
        rule = aws.vpc.SecurityGroupIngressRule(
            f"{name}-from-vpc",
            security_group_id=self.security_group_id,
            description="Kubernetes API from the VPC",
            cidr_ipv4=cidr,
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return [rule]


def _kubernetes(name: str, names: Names, cluster: aws.eks.Cluster, child: pulumi.ResourceOptions) -> k8s.Provider:
    parts = pulumi.Output.all(cluster.endpoint, cluster.certificate_authority.data)
    made = parts.apply(lambda given: kubeconfig(names, str(given[0]), str(given[1])))
    return k8s.Provider(
        f"{name}-kubernetes",
        kubeconfig=pulumi.Output.secret(made),
        cluster_identifier=names.cluster_arn,
        opts=child,
    )


def kubeconfig(names: Names, endpoint: str, authority: str) -> str:
    """A kubeconfig, as JSON, that asks the AWS CLI for a token each time.

    Args:
        names: The cluster's names.
        endpoint: URL of the API server.
        authority: Its certificate authority, base64.
    """
    arn = names.cluster_arn
    token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["--region", names.region, "eks", "get-token", "--cluster-name", names.cluster, "--output", "json"],
        "interactiveMode": "Never",
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": arn, "cluster": {"server": endpoint, "certificate-authority-data": authority}}],
            "contexts": [{"name": arn, "context": {"cluster": arn, "user": arn}}],
            "current-context": arn,
            "users": [{"name": arn, "user": {"exec": token}}],
        }
    )


def _present(group: str | None) -> str:
    # None only at a preview of a cluster that is not there; what takes it cannot be without a value
    return group or ""


def _key(name: str, names: Names, parent: pulumi.Resource, *, protect: bool) -> tuple[aws.kms.Key, aws.kms.Alias]:
    """The key of the cluster's secrets. Without it the cluster cannot be read again, so it is protected with it."""
    key = aws.kms.Key(
        f"{name}-key",
        description=f"Kubernetes secrets of {names.cluster}",
        enable_key_rotation=True,
        deletion_window_in_days=30,
        opts=pulumi.ResourceOptions(parent=parent, protect=protect),
    )
    alias = aws.kms.Alias(
        f"{name}-key", name=names.key_alias, target_key_id=key.key_id, opts=pulumi.ResourceOptions(parent=parent)
    )
    return key, alias


def key_document(names: Names) -> str:
    """Use of the one key that has the cluster's alias: its id is made by KMS, and so not known beforehand."""
    return document(
        allow(
            "AllowSecretsKey",
            ["kms:Encrypt", "kms:Decrypt", "kms:DescribeKey", "kms:ListGrants"],
            names.arn("kms", "key/*"),
            {"ForAnyValue:StringEquals": {"kms:ResourceAliases": names.key_alias}},
        )
    )
