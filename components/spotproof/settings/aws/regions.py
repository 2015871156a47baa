"""Regions that have EKS, and the zones new accounts see in them. Facts, as of botocore 1.44.5 (November 2026)."""

from typing import Final

REGIONS: Final = frozenset(
    {
        *("af-south-1", "ap-east-1", "ap-east-2", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3"),
        *("ap-south-1", "ap-south-2", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4"),
        *("ap-southeast-5", "ap-southeast-6", "ap-southeast-7", "ca-central-1", "ca-west-1", "eu-central-1"),
        *("eu-central-2", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3"),
        *("il-central-1", "me-central-1", "me-south-1", "mx-central-1", "sa-east-1"),
        *("us-east-1", "us-east-2", "us-west-1", "us-west-2"),
        *("cn-north-1", "cn-northwest-1", "us-gov-east-1", "us-gov-west-1"),
    }
)
"""Not the isolated and the sovereign ones: they have partitions and service domains of their own, which nothing here
knows."""

ZONE_LETTERS: Final = {"ap-northeast-1": "acd", "ca-central-1": "abd", "us-west-1": "ac"}
"""Regions where new accounts do not see the zones a, b, c; everywhere else they do (EC2 user guide, zones)."""
