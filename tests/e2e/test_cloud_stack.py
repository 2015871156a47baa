"""A whole cloud's stack by the real engine: its cloud is played by the stand-in, its Kubernetes objects are real.

Charts are recorded only. gcp-dev, since GKE's pools are the cloud's own and no kind of Karpenter's is needed.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.rehearsal.tools import Tools
from tests.e2e.cluster import OnTheControlPlane, everything
from tests.e2e.stacks import KUBERNETES, RELEASE, objects_of, resources_of, settings_for
from tests.engine.driver import Engine
from tests.engine.life import Life
from tests.engine.standin.provider import StandIn
from tests.engine.standin.serving import served

NAME: Final = "gcp-dev"
SECONDS: Final = 60
MADE_BY_THE_CRD: Final = ("APIService", "", "v1alpha1.spotproof.dev")


@pytest.fixture(scope="module")
def life(plane: ControlPlane, tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """The stack on the engine, its cluster the real control plane."""
    store = OnTheControlPlane(plane.kube)
    standin = StandIn(lambda _: store)
    with served(standin) as providers:
        found = Life(Engine(tools.folder, tmp_path_factory.mktemp("engine"), standin, providers), NAME)
        found.settings = settings_for(NAME)
        yield found


def test_it_comes_up_stays_as_it_is_and_leaves_only_what_goes_with_its_cluster(plane: ControlPlane, life: Life) -> None:
    before = everything(plane)

    assert life.up
    assert {_name(one) for one in objects_of(NAME)} <= everything(plane) - before
    assert life.unchanged.error == ""

    _, in_the_state = life.destroyed
    assert in_the_state == []
    # the stand-in's cluster is gone and the real one is not, so what is deleted with it is still there
    with_it = [one for one in resources_of(NAME) if one.deleted_with and one.type.startswith(KUBERNETES)]
    expected = frozenset((*(_name(one.inputs) for one in with_it if one.type != RELEASE), MADE_BY_THE_CRD))
    plane.kube.wait(
        lambda: everything(plane) - before == expected,
        "the rest to go",
        SECONDS,
        seen=lambda: everything(plane) - before,
    )
    assert {kind for kind, *_ in expected} >= {"ClusterRole", "CustomResourceDefinition"}
    assert not {kind for kind, *_ in expected} & {"Namespace", "ServiceAccount", "RoleBinding"}


def _name(one: Any) -> tuple[str, str, str]:
    return one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]
