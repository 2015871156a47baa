"""Which component builds which cloud. A cloud's SDK is imported when that cloud is built, and never before."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final, Protocol, cast

import pulumi

from spotproof.clouds.contract import Cluster
from spotproof.prices import Prices
from spotproof.settings import Environment

CLOUDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "aws": "spotproof.clouds.aws.environment:build",
    }
)
"""Value of `provider.cloud` -> module and function, imported on use."""


class Build(Protocol):
    """Makes an environment's resources and hands over the cluster."""

    def __call__(self, name: str, environment: Environment, prices: Prices) -> Cluster:
        """Build the environment called `name`."""
        ...


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
    module, _, function = CLOUDS[cloud].partition(":")
    try:
        build = cast("Build", getattr(import_module(module), function))
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("pulumi_"):
            raise
        raise pulumi.RunError(
            f"provider.cloud is {cloud}, and {error.name} is not installed, so nothing can be built. "
            f"Run `pip install 'spotproof[{cloud}]'` in this environment."
        ) from error
    return build(name, environment, prices)
