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


def trusts(service: str, actions: Sequence[str] = ("sts:AssumeRole",)) -> str:
    """Lets an AWS service take a role."""
    return document(
        {"Sid": "Trust", "Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)},
    )


TRUSTS_PODS: Final = trusts("pods.eks.amazonaws.com", ("sts:AssumeRole", "sts:TagSession"))
"""EKS Pod Identity; without sts:TagSession the agent gets no credentials and pods start without any."""
TRUSTS_EKS: Final = trusts("eks.amazonaws.com")
