"""What the cloud answers to functions; one line a function our programs call."""

import base64
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

Answer: TypeAlias = Callable[[Mapping[str, object]], Mapping[str, object]]

PRINCIPAL: Final = "11111111-1111-4111-8111-111111111111"
KUBECONFIG_MARK: Final = "authority-of-the-cluster"
"""Stands inside the kubeconfig that Azure hands out; nowhere in a state may it be read."""
_AUTHORITY: Final = base64.b64encode(KUBECONFIG_MARK.encode()).decode()
_KUBECONFIG: Final = f"""\
apiVersion: v1
kind: Config
clusters:
  - name: cluster
    cluster: {{server: "https://cluster.example.com", certificate-authority-data: {_AUTHORITY}}}
"""


def _roles(_: Mapping[str, object]) -> Mapping[str, object]:
    arn = "arn:aws:iam::123456789012:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot"
    return {"id": "roles", "arns": [arn], "names": ["AWSServiceRoleForEC2Spot"]}


def _client(_: Mapping[str, object]) -> Mapping[str, object]:
    return {"objectId": PRINCIPAL, "clientId": PRINCIPAL, "subscriptionId": PRINCIPAL, "tenantId": PRINCIPAL}


def _credentials(_: Mapping[str, object]) -> Mapping[str, object]:
    return {"kubeconfigs": [{"name": "user", "value": base64.b64encode(_KUBECONFIG.encode()).decode()}]}


ANSWERS: Final[dict[str, Answer]] = {
    "aws:iam/getRoles:getRoles": _roles,
    "azure-native:authorization:getClientConfig": _client,
    "azure-native:containerservice:listManagedClusterUserCredentials": _credentials,
}
