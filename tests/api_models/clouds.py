"""The clouds whose API models are on the package index, and what of our stacks is theirs."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from spotproof.preview.model import Capture, Resource
from spotproof.preview.project import load_project
from spotproof.preview.run import capture
from tests.api_models import aws, azure, gcp
from tests.api_models.judge import Cloud
from tests.api_models.programs import PROGRAMS
from tests.api_models.table_aws import AWS
from tests.api_models.table_azure import AZURE
from tests.api_models.table_gcp import GCP
from tests.stacks.runs import ROOT, STACKS

CLOUDS: Final[Mapping[str, Cloud]] = {
    "aws": Cloud("aws", AWS, aws.load),
    "gcp": Cloud("gcp", GCP, gcp.load),
    "azure": Cloud("azure-native", AZURE, azure.load),
}


@cache
def resources(cloud: str) -> tuple[Resource, ...]:
    """Return a cloud's resources in all stacks; of a cloud without a stack those of a small program."""
    found = tuple(one for stack in STACKS for one in CLOUDS[cloud].resources(_capture(stack)))
    return found or tuple(CLOUDS[cloud].resources(capture(PROGRAMS[cloud])))


@cache
def _capture(stack: str) -> Capture:
    project = load_project(ROOT)
    return capture(project.program, project.target(stack))
