"""What the environment components of all clouds are given."""

from typing import Any, NotRequired, TypedDict

from spotproof.settings import Environment, clock, load_environment


class EnvironmentArgs(TypedDict):
    """Settings of an environment."""

    environment: Any
    """What a stack file holds under `spotproof:environment`: a mapping with the same keys, or an `Environment`."""
    prices: NotRequired[Any]
    """A `Prices`. Default: the dated table of this release."""
    today: NotRequired[Any]
    """The `date` against which Kubernetes support is judged where `environment` is a mapping. Default: today."""


def environment_of(args: EnvironmentArgs) -> Environment:
    """The settings, complete and checked.

    Raises:
        SettingsError: `environment` is a mapping that has problems; the text has all of them.
    """
    given = args["environment"]
    if isinstance(given, Environment):
        return given
    return load_environment(given, today=args.get("today") or clock.today())
