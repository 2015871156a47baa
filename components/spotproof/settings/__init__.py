"""What a user may write, and everything that is wrong with what they wrote."""

from spotproof.settings import clock
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, SettingsError
from spotproof.settings.load import load_environment, load_stack, warnings
from spotproof.settings.pools import Accelerator, Pool
from spotproof.settings.refuse import ENVIRONMENT_KEY
from spotproof.settings.stack_file import read_stack_file, read_yaml

__all__ = [
    "ENVIRONMENT_KEY",
    "Accelerator",
    "Environment",
    "Pool",
    "Problem",
    "SettingsError",
    "clock",
    "load_environment",
    "load_stack",
    "read_stack_file",
    "read_yaml",
    "warnings",
]
