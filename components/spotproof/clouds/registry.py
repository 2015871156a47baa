"""Which component builds which cloud. A cloud's SDK is imported when that cloud is built, and never before."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final, Protocol, cast

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
    """
    module, _, function = CLOUDS[environment.provider.cloud].partition(":")
    return cast("Build", getattr(import_module(module), function))(name, environment, prices)
