"""A cloud's SDK is loaded when that cloud is built, and its absence says what to install."""

import subprocess
import sys

import pulumi
import pytest

from spotproof.clouds import registry
from spotproof.prices import load_prices
from spotproof.settings import clock, load_environment
from tests.stacks.runs import ROOT, STACKS, settings_of

SMALLEST = {"provider": {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}}


def test_no_cloud_is_loaded_before_it_is_built() -> None:
    code = "import sys, spotproof.clouds, spotproof.operators; print([m for m in sys.modules if m == 'pulumi_aws'])"

    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert seen.stdout.strip() == "[]"


SDKS = {"aws": "pulumi_aws", "gcp": "pulumi_gcp", "azure": "pulumi_azure_native"}


LARGEST = [stack for stack in STACKS if stack.endswith("-prod")]
"""One of each cloud: a process of its own has to load that cloud's SDK."""


@pytest.mark.parametrize("stack", LARGEST)
def test_a_stack_loads_no_sdk_but_its_own_clouds(stack: str) -> None:
    code = (
        "import sys; from tests.stacks.runs import preview_of; "
        f"preview_of({stack!r}); print(sorted(set(sys.modules) & {set(SDKS.values())!r}))"
    )

    seen = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    own = SDKS.get(load_environment(settings_of(stack), today=clock.today()).provider.cloud)
    assert seen.stdout.strip() == str([own] if own else [])


def missing(name: str) -> object:
    def importing(_module: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    return importing


def test_a_missing_sdk_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "import_module", missing("pulumi_aws"))

    with pytest.raises(pulumi.RunError, match=r"pip install 'spotproof\[aws\]'"):
        registry.provision("dev", load_environment(SMALLEST, today=clock.today()), load_prices())


def test_another_missing_module_is_a_fault_of_ours_and_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "import_module", missing("spotproof.clouds.aws.nowhere"))

    with pytest.raises(ModuleNotFoundError):
        registry.provision("dev", load_environment(SMALLEST, today=clock.today()), load_prices())
