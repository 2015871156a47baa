import random
import socket

import pytest

from spotproof.rehearsal import ports
from spotproof.rehearsal.ports import Ports


@pytest.fixture
def handed_out() -> Ports:
    return Ports(random.Random(7))  # noqa: S311  # a test's chance is a known one


def test_a_name_keeps_its_port_until_it_is_renewed(handed_out: Ports) -> None:
    first = handed_out["kwok"]
    assert handed_out["kwok"] == first
    handed_out.renew("kwok")
    assert handed_out["kwok"] != first


def test_no_port_is_handed_out_twice(handed_out: Ports) -> None:
    assert len({handed_out[str(number)] for number in range(50)}) == 50
    assert len(handed_out.taken()) == 50


def test_ports_are_none_of_those_that_connections_go_out_from(handed_out: Ports) -> None:
    assert all(1024 < handed_out[str(number)] < 32768 for number in range(50))


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])  # noqa: S104  # as Karpenter listens
def test_a_port_that_somebody_listens_on_is_not_picked(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((address, 0))
        taken.listen()
        monkeypatch.setattr(ports, "RANGE", range(taken.getsockname()[1], taken.getsockname()[1] + 1))
        with pytest.raises(OSError, match="no free port found"):
            Ports(random.Random(7))["kwok"]  # noqa: S311  # a test's chance is a known one
