"""Azure: an AKS cluster whose nodes node auto-provisioning makes, or AKS's own node pools."""

from spotproof.settings.azure.model import Azure

__all__ = ["Azure"]
