"""How many pods a node holds: never more than any cloud's kubelet leaves, and a word where it may be fewer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.settings.experiment.landing import tight, zones_apart
from spotproof.settings.experiment.parts import parts_of
from spotproof.settings.experiment.room import Room, at_most, likely, nodes_needed
from spotproof.settings.machines import Machine
from tests.unit.settings.experiment.experiments import asks, experiment, load, problems, stack

DEV = stack("aws-dev")
CPU = DEV.pool("cpu")
"""m7i.2xlarge: 8 vCPUs, 32 GiB, four nodes at most."""

# node allocatable in the documents of GKE (CPUs of a machine with so many vCPUs)
ALLOCATABLE = [(1, 0.94), (2, 1.93), (4, 3.92), (8, 7.91), (16, 15.89), (32, 31.85), (64, 63.77), (96, 95.69)]


@pytest.mark.parametrize(("vcpus", "allocatable"), ALLOCATABLE)
def test_the_kubelets_share_of_cpus_is_the_documents(vcpus: int, allocatable: float) -> None:
    assert at_most(Machine(vcpus, 32.0)).vcpus == pytest.approx(allocatable, abs=0.006)


def test_the_kubelets_share_of_memory_is_the_documents() -> None:
    # 15 GiB on GKE: 1 + 0.8 + 0.7 GiB and 100 MiB for eviction; our 0.75 GiB of agents beside it
    assert likely(Machine(4, 15.0)).memory_gib == pytest.approx(15 - 2.5 - 100 / 1024 - 0.75)


@given(vcpus=st.integers(1, 448), gib=st.floats(1, 24_576))
def test_what_is_likely_is_less_than_what_is_possible_and_that_less_than_the_machine(vcpus: int, gib: float) -> None:
    machine = Machine(vcpus, gib)
    possible, expected = at_most(machine), likely(machine)
    assert expected.vcpus is not None
    assert possible.vcpus is not None
    assert expected.vcpus < possible.vcpus < vcpus
    assert expected.memory_gib is not None
    assert possible.memory_gib is not None
    assert expected.memory_gib < possible.memory_gib < gib


def test_of_an_unknown_machine_nothing_is_known() -> None:
    assert at_most(Machine(None, None)) == Room(None, None)


@pytest.mark.parametrize(("cpus", "count", "nodes"), [(7.9, 1, 1), (4, 2, 2), (3.9, 2, 1), (3, 5, 3)])
def test_nodes_hold_what_the_kubelet_leaves(cpus: float, count: int, nodes: int) -> None:
    raw = experiment(asks(cpus=cpus, ramRatio=0.5) | {"count": count})
    assert nodes_needed(DEV, parts_of(load(raw).experiment), CPU) == nodes


def test_a_pod_of_a_nodes_size_less_a_hundredth_fits_on_none() -> None:
    said = problems(experiment(asks(cpus=7.92, ramRatio=0.5), pool="cpu"))
    assert "7.91 for pods" in said["spec.types.Worker.resources.cpus"]


@pytest.mark.parametrize(
    ("cpus", "count", "says"),
    [(7.6, 1, "one pod fills it"), (3.8, 7, "comes to 7 of them"), (7, 4, None), (3.5, 8, None)],
)
def test_what_fits_on_paper_alone_is_said(cpus: float, count: int, says: str | None) -> None:
    case = load(experiment(asks(cpus=cpus, ramRatio=1) | {"count": count}, pool="cpu"))
    said = list(tight(DEV, case.landed))
    assert [says in each for each in said if says] == ([True] if says else [])


@pytest.mark.parametrize(
    ("name", "count", "said"), [("aws-dev", 4, True), ("aws-dev", 3, False), ("gcp-dev", 4, False)]
)
def test_a_gang_that_fills_a_pool_of_several_zones_is_told_what_karpenter_may_do(
    name: str, count: int, *, said: bool
) -> None:
    env = stack(name)
    raw = experiment(asks(cpus=7, ramRatio=1) | {"count": count}, pool="cpu")
    found = list(zones_apart(env, load(raw, env).landed))
    assert any("a maxNodes of 5 leaves it room" in each for each in found) is said
