"""Spot GPU training environments in one `pulumi up`."""
