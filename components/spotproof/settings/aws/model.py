"""The AWS provider: identity, region, node image."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator

from spotproof.settings.aws import checks, instances, quotas
from spotproof.settings.aws.regions import ZONE_LETTERS
from spotproof.settings.machines import Machine, Quota
from spotproof.settings.provider import Provider
from spotproof.settings.support import Support

if TYPE_CHECKING:
    from spotproof.settings.environment import Environment
    from spotproof.settings.errors import Problem

REGION_FORM = r"^[a-z]{2}(-[a-z]+)+-[0-9]$"
AMI_ALIAS = r"^(al2023@v20[0-9]{6}|bottlerocket@v?[0-9]+\.[0-9]+\.[0-9]+)$"


def partition(region: str) -> str:
    """The part of an ARN after `arn:`, which the region decides."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


EXTENDED = "the control plane then costs 0.60 instead of 0.10 USD per hour"


class Aws(Provider):
    """An EKS cluster in one account and region, its nodes made by Karpenter."""

    package: ClassVar[str] = "aws"
    node_class_group: ClassVar[str] = "karpenter.k8s.aws"
    grace_seconds: ClassVar[int] = 100
    """Of the two minutes' notice; the rest is for Karpenter to hear of it and to drain."""
    takes: ClassVar[frozenset[str]] = frozenset(
        {"spotServiceLinkedRole", "network.natGateways", "network.existing", "controlPlane.support"}
    )
    reserved_ranges: ClassVar[Mapping[str, str]] = {checks.SERVICE_CIDR: "Kubernetes services"}
    versions: ClassVar[Mapping[str, Support]] = {
        # EKS user guide, Kubernetes release calendar, as of April 2026; 1.36 was not listed yet
        "1.35": Support(date(2027, 3, 27), date(2028, 3, 27), EXTENDED),
        "1.36": Support(None, None),
    }
    default_types: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "cpu": ("m7i.2xlarge", "m7a.2xlarge", "m6i.2xlarge"),
        # one L4 of 24 GiB: the cheapest GPU node that trains in bfloat16; three sizes make spot easier to get
        "gpu": ("g6.xlarge", "g6.2xlarge", "g6.4xlarge"),
    }

    cloud: Literal["aws"] = Field(  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
        description="Which cloud: `aws`.", examples=["aws"]
    )
    region: Annotated[str, StringConstraints(pattern=REGION_FORM)] = Field(
        description="The AWS region everything lives in.", examples=["us-west-2"]
    )
    account_id: Annotated[str, StringConstraints(pattern=r"^[0-9]{12}$")] = Field(
        description="The 12 digits of the account, in quotes. The provider refuses any other account, so nothing can "
        "land in a wrong one, and every ARN and IAM document is known at the first preview.",
        examples=["123456789012"],
    )
    ami_alias: Annotated[str, StringConstraints(pattern=AMI_ALIAS, max_length=30)] = Field(
        default="al2023@v20260903",
        description="The node image, family@version. Pinned, because `@latest` makes nodes drift whenever AWS "
        "publishes an image. `al2023@vYYYYMMDD`, or `bottlerocket@X.Y.Z`, which brings its own GPU plugin.",
        examples=["al2023@v20260903"],
    )

    @field_validator("ami_alias", mode="before")
    @classmethod
    def _pinned(cls, value: object) -> object:
        if isinstance(value, str) and value.endswith("@latest"):
            raise ValueError(
                f"is {value}, which is another image whenever AWS publishes one; nodes would drift and be replaced, "
                "with a driver nobody tried; Write a dated one, as in `amiAlias: al2023@v20260903`"
            )
        return value

    @property
    def partition(self) -> str:
        """The part of this account's ARNs after `arn:`."""
        return partition(self.region)

    @property
    def place(self) -> str:
        """The region."""
        return self.region

    def zone_names(self, count: int) -> tuple[str, ...]:
        """The first `count` zones of the region."""
        letters = ZONE_LETTERS.get(self.region, "abcdef")
        return tuple(f"{self.region}{letter}" for letter in letters[:count])

    @classmethod
    def machine(cls, instance_type: str) -> Machine | None:
        """What an EC2 instance of this type offers."""
        return instances.machine(instance_type)

    def problems(self, env: "Environment") -> Iterator["Problem"]:
        """What AWS, EKS and Karpenter would refuse or quietly ignore."""
        return checks.check(self, env)

    def warnings(self, env: "Environment") -> Iterator["Problem"]:
        """What they would take and nobody wants."""
        return checks.warnings(env)

    def quotas(self, env: "Environment") -> Iterator[Quota]:
        """EC2's vCPU limits for spot and on-demand, by class of instance."""
        return quotas.quotas(self, env)
