"""GCP: a GKE cluster with node pools of its own."""

from spotproof.settings.gcp.model import Gcp

__all__ = ["Gcp"]
