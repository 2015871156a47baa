"""The AWS provider: identity, region, node image."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from spotproof.settings.base import Settings

# isolated regions have partitions and service domains of their own, which nothing here knows
REGION = (
    r"^(af|ap|ca|cn|eu|il|me|mx|sa|us)(-gov)?"
    r"-(central|east|north|northeast|northwest|south|southeast|southwest|west)-[0-9]$"
)
AMI_ALIAS = r"^(al2023@v20[0-9]{6}|bottlerocket@v?[0-9]+\.[0-9]+\.[0-9]+)$"

ZONE_LETTERS = {"ap-northeast-1": "acd", "ca-central-1": "abd", "us-west-1": "ac"}
"""Regions where new accounts do not see the zones a, b, c; everywhere else they do (EC2 user guide, zones)."""


def partition(region: str) -> str:
    """The part of an ARN after `arn:`, which the region decides."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


class Aws(Settings):
    """An EKS cluster in one account and region, its nodes made by Karpenter."""

    cloud: Literal["aws"] = Field(description="Which cloud: `aws`.", examples=["aws"])
    region: Annotated[str, StringConstraints(pattern=REGION)] = Field(
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

    def zone_names(self, count: int) -> tuple[str, ...]:
        """The first `count` zones of the region."""
        letters = ZONE_LETTERS.get(self.region, "abcdef")
        return tuple(f"{self.region}{letter}" for letter in letters[:count])
