"""Which folder builds which cloud: the one called like `provider.cloud`, for every line of settings' PROVIDERS.

A folder's `environment.build` makes the environment, its `names.checkpoint_store` says where training saves. A cloud's
SDK is imported when that cloud is built, and never before.
"""

from importlib import import_module
from typing import Protocol, cast

import pulumi

from spotproof.clouds.contract import Cluster
from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.prices import Prices
from spotproof.settings import Environment


class Build(Protocol):
    """Makes an environment's resources and hands over the cluster."""

    def __call__(self, name: str, environment: Environment, prices: Prices) -> Cluster:
        """Build the environment called `name`."""
        ...


class Store(Protocol):
    """Says where an environment's training saves."""

    def __call__(self, name: str, environment: Environment) -> CheckpointStore:
        """The store of the environment called `name`, from its settings alone."""
        ...


def checkpoint_store(name: str, environment: Environment) -> CheckpointStore:
    """Where training of a stack saves. Needs no SDK: jobs are rendered where none is installed."""
    names = import_module(f"spotproof.clouds.{environment.provider.cloud}.names")
    return cast("Store", names.checkpoint_store)(name, environment)


def provision(name: str, environment: Environment, prices: Prices) -> Cluster:
    """Build the environment in its cloud.

    Args:
        name: Name of the stack; every name in the cloud holds it, so that environments share an account.
        environment: The validated settings.
        prices: What nodes cost; shown on pools and written into fallback policies.

    Raises:
        pulumi.RunError: the cloud's SDK is not installed.
    """
    cloud = environment.provider.cloud
    try:
        build = cast("Build", import_module(f"spotproof.clouds.{cloud}.environment").build)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("pulumi_"):
            raise
        raise pulumi.RunError(
            f"provider.cloud is {cloud}, and {error.name} is not installed, so nothing can be built. "
            f"Run `pip install 'spotproof[{cloud}]'` in this environment."
        ) from error
    return build(name, environment, prices)
