"""Candidates for one lease, each with a clock of its own."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from kubernetes.client.exceptions import ApiException
from kubernetes.leaderelection.leaderelectionrecord import LeaderElectionRecord
from urllib3.exceptions import ProtocolError

from spotproof.controller.election import LEASE_SECONDS, RENEW_SECONDS, Candidate
from tests.clock import Clock

START = datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC)
LATER = START + timedelta(seconds=1.5)


class Stored:
    """The lease as the server has it, its resource version, and how its calls fail."""

    def __init__(self) -> None:
        self.record: LeaderElectionRecord | None = None
        self.version = 0
        self.trouble: Exception | None = None


class Lock:
    """What LeaseLock does, over something that is stored here."""

    def __init__(self, stored: Stored, identity: str) -> None:
        self.name, self.namespace, self.identity = "lease", "system", identity
        self._stored = stored
        self._read = -1

    def get(self, name: str, namespace: str) -> tuple[bool, Any]:
        assert (name, namespace) == (self.name, self.namespace)
        self._fail()
        self._read = self._stored.version
        if self._stored.record is None:
            return False, ApiException(status=404, reason="Not Found")
        copy = LeaderElectionRecord(**vars(self._stored.record))
        copy.holder_identity = copy.holder_identity or None
        return True, copy

    def create(self, name: str, namespace: str, election_record: Any) -> bool:
        assert (name, namespace) == (self.name, self.namespace)
        return self._write(election_record)

    def update(self, name: str, namespace: str, updated_record: Any) -> bool:
        assert (name, namespace) == (self.name, self.namespace)
        return self._write(updated_record)

    def _write(self, record: Any) -> bool:
        if any(datetime.fromisoformat(each).microsecond == 0 for each in (record.acquire_time, record.renew_time)):
            return False  # the client leaves a fraction of nothing out, and the API server refuses that (status 400)
        self._fail()
        if self._read != self._stored.version:
            return False
        self._stored.record, self._stored.version = record, self._stored.version + 1
        return True

    def _fail(self) -> None:
        if self._stored.trouble is not None:
            raise self._stored.trouble


class Play:
    """A lease and two candidates."""

    def __init__(self) -> None:
        self.stored = Stored()
        self.clocks = {"a": Clock(), "b": Clock()}
        self.locks = {name: Lock(self.stored, name) for name in "ab"}
        self.a, self.b = (self._candidate(name) for name in "ab")

    def _candidate(self, name: str) -> Candidate:
        clock = self.clocks[name]
        return Candidate(self.locks[name], seconds=clock, now=lambda: START + timedelta(seconds=clock.now))

    def wait(self, seconds: float) -> None:
        for clock in self.clocks.values():
            clock.now += seconds

    @property
    def holder(self) -> str | None:
        return None if self.stored.record is None else self.stored.record.holder_identity


@pytest.fixture
def play() -> Play:
    return Play()


def test_the_first_has_it_and_the_second_waits(play: Play) -> None:
    for _ in range(20):
        play.a.turn()
        play.b.turn()
        play.wait(2)
    assert (play.a.leads, play.b.leads, play.holder) == (True, False, "a")


def test_one_that_is_killed_is_followed_after_the_length_of_the_lease(play: Play) -> None:
    play.a.turn()
    play.b.turn()
    play.wait(LEASE_SECONDS - 0.1)
    play.b.turn()
    assert not play.b.leads
    play.wait(0.1)
    play.b.turn()
    assert play.b.leads


def test_whoever_cannot_renew_stops_before_anybody_takes_over(play: Play) -> None:
    play.a.turn()
    play.b.turn()
    play.stored.trouble = ProtocolError("no route")
    play.wait(RENEW_SECONDS - 0.1)
    play.a.turn()
    assert play.a.leads
    play.wait(0.1)
    assert not play.a.leads
    assert play.a.lost
    play.stored.trouble = None
    play.b.turn()
    assert not play.b.leads, "its own wait is longer"


def test_what_was_lost_is_not_taken_again_by_the_same_process(play: Play) -> None:
    play.a.turn()
    play.wait(RENEW_SECONDS)
    play.a.turn()
    assert play.a.lost
    assert not play.a.leads


def test_one_that_gives_it_back_is_followed_at_once_and_stays_out(play: Play) -> None:
    play.a.turn()
    play.b.turn()
    play.a.release()
    play.a.turn()
    assert play.holder == ""
    play.b.turn()
    assert (play.b.leads, play.holder) == (True, "b")
    assert play.a.over
    assert not play.a.lost, "it was not taken from it"


def test_a_lease_that_somebody_else_took_is_lost_at_the_next_look(play: Play) -> None:
    play.a.turn()
    play.stored.record = LeaderElectionRecord("b", "15", str(LATER), str(LATER))
    play.a.turn()
    assert play.a.lost


def test_of_two_that_take_it_at_once_one_gets_it(play: Play) -> None:
    play.a.turn()
    play.b.turn()
    play.wait(LEASE_SECONDS)
    third = Lock(play.stored, "c")
    third.get("lease", "system")
    play.b.turn()
    assert not third.update("lease", "system", LeaderElectionRecord("c", "15", str(LATER), str(LATER)))
    assert play.holder == "b"


def test_a_replica_does_not_go_by_what_another_ones_clock_says(play: Play) -> None:
    play.clocks["a"].now = -1_000_000
    play.a.turn()
    play.b.turn()
    assert play.a.leads
    assert not play.b.leads


def test_a_lease_that_cannot_be_read_is_nobodys_new_one(play: Play) -> None:
    play.stored.trouble = ApiException(status=403, reason="Forbidden")
    play.a.turn()
    assert not play.a.leads
    assert play.stored.record is None
