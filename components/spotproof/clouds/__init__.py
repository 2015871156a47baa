"""Clouds: each fulfils `contract.Cluster`, and `registry` finds them."""

from spotproof.clouds.contract import Cluster
from spotproof.clouds.registry import provision

__all__ = ["Cluster", "provision"]
