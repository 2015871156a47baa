"""A cluster somebody else made: operators, fallback policies and workspaces on it, and nothing of a cloud."""

from spotproof.clouds.existing.environment import ExistingEnvironment, ExistingEnvironmentArgs

__all__ = ["ExistingEnvironment", "ExistingEnvironmentArgs"]
