"""What holds for every component that a cloud's folder offers to somebody else's program."""

import inspect
from importlib import import_module
from typing import Any, get_type_hints

import pulumi
import pytest
from pulumi.provider.experimental.analyzer import Analyzer

from spotproof.clouds.arguments import EnvironmentArgs
from spotproof.settings.providers import PROVIDERS

LIBRARIES = {cloud: import_module(f"spotproof.clouds.{cloud}") for cloud in PROVIDERS}
NAMES = [(cloud, name) for cloud, library in LIBRARIES.items() for name in library.__all__]
COMPONENTS = [getattr(LIBRARIES[cloud], name) for cloud, name in NAMES if not name.endswith("Args")]
ARGUMENTS = [getattr(LIBRARIES[cloud], name) for cloud, name in NAMES if name.endswith("Args")]


def of(one: type) -> str:
    return f"{one.__module__.split('.')[2]}-{one.__name__}"


@pytest.mark.parametrize("component", COMPONENTS, ids=of)
def test_a_component_takes_name_args_and_opts_and_says_what_it_is(component: type[pulumi.ComponentResource]) -> None:
    parameters = list(inspect.signature(component.__init__).parameters)

    assert parameters == ["self", "name", "args", "opts"]
    assert component.__doc__


# the analyser leaves pulumi-plugin.json open (pulumi 3.272, provider/experimental/analyzer.py)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("component", COMPONENTS, ids=of)
def test_a_component_can_be_hosted_for_other_languages(component: type[pulumi.ComponentResource]) -> None:
    definition = Analyzer("spotproof").analyze_component(component)

    assert set(definition.inputs_mapping.values()) == set(get_type_hints(component.__init__)["args"].__annotations__)


@pytest.mark.parametrize("arguments", [EnvironmentArgs, *ARGUMENTS], ids=of)
def test_every_argument_is_described(arguments: Any) -> None:
    source = inspect.getsource(arguments)
    # a TypedDict takes over what its base describes, and before Python 3.12 forgets the base
    inherited = EnvironmentArgs.__annotations__ if "(EnvironmentArgs)" in source else {}

    assert source.count('"""') >= 2 * (1 + len(arguments.__annotations__) - len(inherited))
