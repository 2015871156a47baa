"""The clouds whose API models are on the package index, and what of our stacks is theirs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from spotproof.preview.model import Capture, Resource
from spotproof.preview.project import load_project
from spotproof.preview.run import Configuration, Target, capture
from spotproof.settings import ENVIRONMENT_KEY
from spotproof.settings.providers import PROVIDERS
from tests.api_models import aws, azure, gcp
from tests.api_models.judge import Cloud
from tests.api_models.table_aws import AWS
from tests.api_models.table_azure import AZURE
from tests.api_models.table_gcp import GCP
from tests.stacks.runs import ROOT, STACKS, settings_of

MODELS: Final[Mapping[str, Cloud]] = {
    "aws": Cloud("aws", AWS, aws.load),
    "gcp": Cloud("gcp", GCP, gcp.load),
    "azure": Cloud("azure-native", AZURE, azure.load),
}
CLOUDS: Final = [name for name, provider in PROVIDERS.items() if provider.package]
"""Clouds whose resources an environment makes; each has models, or the tests fail for want of them."""


_AKS_POOL: Final = {"autoscaler": "cluster-autoscaler", "instanceTypes": ["Standard_NC4as_T4_v3"], "maxNodes": 4}
VARIANTS: Final[Sequence[tuple[str, Mapping[str, Any]]]] = (
    ("aws-dev", {"spotServiceLinkedRole": "create"}),
    (
        "azure-dev",
        {
            "pools": [
                {"name": "t4spot", "capacity": "spot"} | _AKS_POOL,
                {"name": "t4", "capacity": "on-demand"} | _AKS_POOL,
            ]
        }
        | {"fallbackPolicies": []},
    ),
)
"""Changes to a stack file that make resources which no stack file makes."""


def resources(cloud: str) -> Iterator[Resource]:
    """Yield a cloud's resources in its stacks and variants, each of which is run when its turn comes."""
    own = [stack for stack in STACKS if settings_of(stack)["provider"]["cloud"] == cloud]
    for stack in own:
        yield from MODELS[cloud].resources(_stack(stack))
    for number, (stack, _) in enumerate(VARIANTS):
        if stack in own:
            yield from MODELS[cloud].resources(_variant(number))


@cache
def _stack(stack: str) -> Capture:
    project = load_project(ROOT)
    return capture(project.program, project.target(stack))


@cache
def _variant(number: int) -> Capture:
    stack, change = VARIANTS[number]
    environment = Configuration({ENVIRONMENT_KEY: json.dumps({**settings_of(stack), **change})})
    return capture(ROOT / "infra", Target("spotproof", "variant", root=ROOT, configuration=environment))
