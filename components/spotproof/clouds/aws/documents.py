"""IAM documents as plain text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

Statement: TypeAlias = Mapping[str, Any]

VERSION: Final = "2012-10-17"


def document(*statements: Statement) -> str:
    """A document of these statements; the same text for the same statements."""
    return json.dumps({"Version": VERSION, "Statement": list(statements)}, separators=(",", ":"))


def allow(
    sid: str,
    actions: Sequence[str],
    resources: str | Sequence[str],
    conditions: Mapping[str, Mapping[str, object]] | None = None,
) -> Statement:
    """An Allow statement of an identity's policy."""
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": resources if isinstance(resources, str) else list(resources),
        **({"Condition": conditions} if conditions else {}),
    }


def deny_plain_http(actions: str, resources: str | Sequence[str]) -> Statement:
    """Refuse everybody who comes without TLS."""
    return {
        "Sid": "DenyPlainHttp",
        "Effect": "Deny",
        "Principal": "*",
        "Action": actions,
        "Resource": resources if isinstance(resources, str) else list(resources),
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }


def trusts(service: str) -> str:
    """Lets an AWS service take a role."""
    return document(
        {"Sid": "Trust", "Effect": "Allow", "Principal": {"Service": service}, "Action": ["sts:AssumeRole"]},
    )


def trusts_pods(cluster_arn: str, namespace: str, service_account: str) -> str:
    """Lets EKS Pod Identity take a role, for one service account of one cluster.

    Without sts:TagSession the agent gets no credentials and pods start without any. The tags of its session name whom
    it is for (EKS user guide, pod-id-role and pod-id-abac); without the condition whoever may make associations could
    give the role to any pod of any cluster of the account.
    """
    tags = {
        "eks-cluster-arn": cluster_arn,
        "kubernetes-namespace": namespace,
        "kubernetes-service-account": service_account,
    }
    return document(
        {
            "Sid": "Trust",
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {"StringEquals": {f"aws:RequestTag/{key}": value for key, value in tags.items()}},
        },
    )


TRUSTS_EKS: Final = trusts("eks.amazonaws.com")
