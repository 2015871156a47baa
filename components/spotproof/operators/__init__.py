"""Operators: charts on a cluster of any cloud. `registry.OPERATORS` lists them."""

from spotproof.operators.registry import install

__all__ = ["install"]
