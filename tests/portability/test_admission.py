"""The imitation of admission; tests/e2e/test_mutated.py holds the same cases against a real API server."""

from typing import Any

import pytest

from spotproof.settings import Environment, clock, load_environment
from spotproof.vocabulary import GPU_TOLERATION, SPOT_TOLERATIONS
from tests.portability.admission import admitted
from tests.portability.documents import DOCUMENTS, raw_pod
from tests.portability.landing import stack
from tests.stacks.runs import settings_of

LAB = {"group": "lab", "market": "spot"}
LAB_TOLERATION = {"key": "lab", "operator": "Exists", "effect": "NoSchedule"}


def lab() -> Environment:
    """The stack of somebody else's cluster with labels and a taint of the nodes' own."""
    settings: dict[str, Any] = settings_of("kind-dev")
    settings["pools"][0] |= {"nodeLabels": LAB, "taints": [{"key": "lab", "effect": "NoSchedule"}]}
    settings["pools"][1] |= {"nodeLabels": {"group": "lab", "market": "firm"}}
    return load_environment(settings, today=clock.today())


@pytest.mark.parametrize(
    ("selector", "added"), [(LAB, [LAB_TOLERATION]), ({"group": "lab"}, []), ({**LAB, "market": "firm"}, [])]
)
def test_a_pool_of_somebody_elses_labels_is_known_by_all_of_them(selector: dict[str, str], added: list[Any]) -> None:
    assert admitted({"nodeSelector": selector}, lab())["tolerations"] == added


def test_what_the_policies_and_the_cloud_both_add_is_there_once() -> None:
    pod = admitted(raw_pod(DOCUMENTS[0], gpus=1), stack("gcp-dev").env)
    assert pod["tolerations"] == [*SPOT_TOLERATIONS, GPU_TOLERATION]
