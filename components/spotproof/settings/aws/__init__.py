"""AWS: an EKS cluster whose nodes Karpenter makes."""

from spotproof.settings.aws.model import Aws

__all__ = ["Aws"]
