"""A process that previews a copy of the project begins with the SDKs, and with nothing of ours."""

import sys
from types import ModuleType

from tests.stacks.apart import PROCESSES
from tests.stacks.sdks import SDKS


def begins_with() -> set[str]:
    """The modules that are loaded: a lazy one, as Pulumi's parts are at first, is of another class."""
    return {name for name, module in sys.modules.items() if object.__getattribute__(module, "__class__") is ModuleType}


def test_a_process_begins_with_the_sdks_and_nothing_of_ours() -> None:
    with PROCESSES.Pool(1) as one:
        found = one.apply(begins_with)

    assert {f"{sdk}.{part}" for sdk, parts in SDKS.items() for part in parts} - found == set()
    assert [name for name in found if name.startswith("spotproof")] == []
