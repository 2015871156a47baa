"""What ids and texts of a cloud look like: ARNs, resource ids, self links, addresses. For invented outputs.

One line a package in `FORMS`. A program that cuts an ARN or a resource id into parts then runs in known mode as it
does against the cloud.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

_NUMBER: Final = "123456789012"
"""An account of AWS, a project number of GCP."""
_AWS_REGION: Final = "us-east-1"
_GCP_PROJECT: Final = "example-project"
_GCP_REGION: Final = "us-central1"
_AZURE_LOCATION: Final = "eastus"
_GUID: Final = "{mark}-0000-4000-8000-000000000000"
_SUBSCRIPTION: Final = "00000000-0000-4000-8000-000000000000"

_EMAIL: Final = f"{{name}}-{{mark}}@{_GCP_PROJECT}.iam.gserviceaccount.com"


@dataclass(frozen=True)
class Part:
    """What a form is filled from: module and class of the token, name and mark of the resource, its inputs."""

    service: str
    kind: str
    name: str
    mark: str
    inputs: Mapping[str, object]


@dataclass(frozen=True)
class Forms:
    """How one package's resources are called: their ids, their own names, and texts by the name of the output.

    `texts`: pattern of an output's name -> template; the first that fits, and after them those of `COMMON`.
    """

    identity: Callable[[Part], str]
    texts: tuple[tuple[str, str], ...] = ()
    own_name: Callable[[Part], str | None] = lambda _: None
    """The output `name`, where a program writes it under another key."""


COMMON: Final[tuple[tuple[str, str], ...]] = (
    (r"(?i)certificate|^data$|cadata$", "{base64}"),
    (r"(?i)(endpoint|url|uri|issuer|selflink)$", "https://{mark}.{name}.example.com"),
    (r"(?i)(domain|dnsname|hostname|fqdn|host)$", "{mark}.{name}.example.com"),
    (r"(?i)(json|policy|kubeconfig(raw)?)$", "{{}}"),
    (r"(?i)ipv6cidr", "fd00::/56"),
    (r"(?i)cidr", "10.0.0.0/16"),
    (r"(?i)(ip|ipaddress|address)$", "10.0.0.10"),
    (r"(?i)version$", "1"),
    (r"(?i)(created?at|date|time|timestamp)$", "2026-01-01T00:00:00Z"),
)
LAST: Final = "{name}-{mark}"


def _plain_id(part: Part) -> str:
    return f"{part.name}-{part.mark}"


def _gcp_id(part: Part) -> str:
    """The path of a resource; a bucket's id is its name."""
    written = part.inputs.get("name")
    own = written if isinstance(written, str) else f"{part.name}-{part.mark}"
    if part.service == "storage":
        return own
    plural = f"{part.kind[0].lower()}{part.kind[1:]}s"
    return f"projects/{_GCP_PROJECT}/locations/{_GCP_REGION}/{plural}/{own}"


def _azure_id(part: Part) -> str:
    own = _azure_name(part) or f"{part.name}-{part.mark}"
    if part.kind == "ResourceGroup":
        return f"/subscriptions/{_SUBSCRIPTION}/resourceGroups/{own}"
    group = part.inputs.get("resourceGroupName")
    within = f"resourceGroups/{group if isinstance(group, str) else 'example'}"
    kind = f"{part.kind[0].lower()}{part.kind[1:]}s"
    return f"/subscriptions/{_SUBSCRIPTION}/{within}/providers/Microsoft.{part.service}/{kind}/{own}"


def _azure_name(part: Part) -> str | None:
    """What the program calls it: `accountName` of a StorageAccount, `resourceName` where no key is called like it."""
    kind = part.kind.lower()
    for key, value in part.inputs.items():
        stem = key.removesuffix("Name").removesuffix("Resource").lower() if key.endswith("Name") else ""
        if stem and kind.endswith(stem) and isinstance(value, str):
            return value
    own = part.inputs.get("resourceName")
    return own if isinstance(own, str) else None


AWS: Final = Forms(
    identity=_plain_id,
    texts=(
        (r"[aA]rn$", f"arn:aws:{{service}}:{_AWS_REGION}:{_NUMBER}:{{name}}-{{mark}}"),
        (r"(?i)(account|owner)(id)?$", _NUMBER),
        (r"(?i)^region$", _AWS_REGION),
        (r"(?i)zone$", f"{_AWS_REGION}a"),
        (r"(?i)(status|state)$", "ACTIVE"),
    ),
)

GCP: Final = Forms(
    identity=_gcp_id,
    texts=(
        (r"^endpoint$", "{mark}.{name}.example.com"),
        (r"(?i)^email$", _EMAIL),
        (r"(?i)^member$", f"serviceAccount:{_EMAIL}"),
        (
            r"(?i)selflink",
            f"https://www.googleapis.com/{{service}}/v1/projects/{_GCP_PROJECT}/{{kind}}/{{name}}-{{mark}}",
        ),
        (r"^url$", "gs://{name}-{mark}"),
        (r"(?i)(uniqueid|numericid|projectnumber|number)$", _NUMBER),
        (r"(?i)project$", _GCP_PROJECT),
        (r"(?i)(region|location)$", _GCP_REGION),
        (r"(?i)zone$", f"{_GCP_REGION}-a"),
        (r"(?i)(status|state)$", "RUNNING"),
    ),
)

AZURE: Final = Forms(
    identity=_azure_id,
    own_name=_azure_name,
    texts=(
        (r"(?i)(client|principal|tenant|object|application|app|subscription)id$", _GUID),
        (r"(?i)(guid|uid)$", _GUID),
        (r"^(blob|dfs|file|queue|table|web)$", "https://{name}{mark}.{key}.core.windows.net/"),
        (
            r"(?i)id$",
            f"/subscriptions/{_SUBSCRIPTION}/resourceGroups/example/providers/Microsoft.{{service}}/{{name}}-{{mark}}",
        ),
        (r"(?i)location$", _AZURE_LOCATION),
        (r"(?i)zone$", "1"),
        (r"(?i)state$", "Succeeded"),
        (r"^type$", "Microsoft.{service}/{kind}"),
    ),
)

FORMS: Final[dict[str, Forms]] = {"aws": AWS, "gcp": GCP, "azure-native": AZURE}
"""First part of a type token -> its forms. Others are invented like AWS's, of whose forms no other package has any."""


def forms_of(token: str) -> Forms:
    """The forms of a token's package."""
    return FORMS.get(token.partition(":")[0], AWS)


@cache
def template(token: str, key: str) -> str:
    """What a text output looks like, with `{name}`, `{mark}`, `{service}`, `{kind}`, `{key}` and `{base64}` in it."""
    rows = (*forms_of(token).texts, *COMMON)
    return next((form for pattern, form in rows if re.search(pattern, key)), LAST)
