"""The controller as a process beside the control plane of a module."""

from collections.abc import Iterator
from itertools import count

import pytest

from spotproof.rehearsal.control_plane import ControlPlane
from tests.e2e.controller.fault_proxy import FaultProxy
from tests.e2e.controller.installed import install
from tests.e2e.controller.process import Controller, fault_proxy
from tests.e2e.controller.stage import Controlled

_numbers = count(1)


@pytest.fixture(scope="module")
def installed(prepared: ControlPlane) -> ControlPlane:
    """The module's control plane with the controller's kinds and rights."""
    install(prepared)
    return prepared


@pytest.fixture(scope="module")
def controller(installed: ControlPlane) -> Iterator[Controller]:
    """The controller, running. A test that ends it starts it again."""
    with Controller(installed) as controller:
        yield controller


@pytest.fixture(scope="module")
def proxy(installed: ControlPlane) -> Iterator[FaultProxy]:
    """Between the API server and the controller of a module that has it ask through this: it knows every call."""
    with fault_proxy(installed) as proxy:
        yield proxy


@pytest.fixture
def here(controller: Controller, installed: ControlPlane) -> Iterator[Controlled]:
    """A workspace of the test's own under the controller. Whatever happens in it, no job ever has two writers."""
    with Controlled(installed, f"run-{next(_numbers)}") as stage:
        yield stage
        stage.has_seen()
        stage.has_one_writer()
    assert controller.is_running, controller.tail()
