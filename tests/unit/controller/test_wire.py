"""What the watching process tells the other arrives there as if that one had watched itself."""

import socket
import threading
from multiprocessing.connection import Connection
from typing import TypeAlias

import pytest

from spotproof.controller.access import Access
from spotproof.controller.cache import Cache, Key
from spotproof.controller.intake import Intake
from spotproof.controller.kinds import JOBSET, NODE, Kind, Object
from spotproof.controller.logs import Saying
from spotproof.controller.metrics import Unobserved, WatchEnd
from spotproof.controller.projecting import Watched
from spotproof.controller.reflector import Store
from spotproof.controller.watch_process import LIVES_SECONDS, MOST, Outbox, Told
from spotproof.controller.watched import WATCHED, project_node
from spotproof.controller.watches import SILENT_SECONDS, Watches, hear, listen
from spotproof.controller.wire import DECODER, ENCODER, Ended, Lives, Paged, Taken
from spotproof.rehearsal.recording import Version, load
from tests.conftest import ROOT
from tests.unit.controller.objects import jobset, thing_of

RECORDINGS = sorted((ROOT / "tests" / "recordings").glob("*.json"))

Heard: TypeAlias = list[tuple[object, ...]]


TAINT = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}


def node(at: int, taints: list[dict[str, str]]) -> Object:
    """One version of a node, as the watch projects it."""
    return project_node({**thing_of(NODE, "", "n1", at), "spec": {"taints": taints}, "status": {"phase": str(at)}})


class Keeper(Unobserved):
    """A cache, and what was said when something was put into it."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.cache = Cache()
        self.heard: Heard = []
        self.intake = Intake(watched, self.cache, self.changed)

    def changed(self, keys: set[Key], *, urgent: bool = False) -> None:
        self.heard.append((sorted(keys), urgent))

    def listed(self, kind: Kind, objects: int, seconds: float) -> None:
        self.heard.append((kind, objects, seconds))

    def watch_ended(self, kind: Kind, why: WatchEnd) -> None:
        self.heard.append((kind, why))

    def hear(self, outbox: Outbox) -> None:
        """What waits there, as it is after it went from process to process."""
        for message in DECODER.decode(ENCODER.encode(outbox.take())):
            hear(message, self.intake, self)

    @property
    def kept(self) -> object:
        return self.cache.all(self.watched.kind), self.heard


def play(versions: list[Version], watched: Watched, store: Store) -> None:
    """One of a recording's objects each, as a watch hears of them."""
    for each in versions:
        thing = watched.project({**each.object, "metadata": dict(each.object["metadata"])})
        store.take(thing, deleted=each.change == "deleted")


@pytest.mark.parametrize(
    "rank", range(len(WATCHED)), ids=lambda rank: f"{WATCHED[rank].kind.kind} {WATCHED[rank].labels}"
)
def test_every_recorded_version_arrives_as_it_was(rank: int) -> None:
    watched, outbox = WATCHED[rank], Outbox()
    here, there = Keeper(watched), Keeper(watched)
    for recording in map(load, RECORDINGS):
        versions = [each for each in recording.versions if each.kind == watched.kind.kind]
        play(versions, watched, here.intake)
        for version in versions:
            play([version], watched, Told(rank, outbox))
            there.hear(outbox)
    assert there.kept == here.kept


def test_a_list_arrives_page_by_page_and_is_counted() -> None:
    versions = [each for each in load(RECORDINGS[0]).versions if each.kind == "Pod"]
    rank = next(rank for rank, each in enumerate(WATCHED) if each.kind.kind == "Pod")
    watched, outbox = WATCHED[rank], Outbox()
    pods = [watched.project(each.object) for each in {each.uid: each for each in versions}.values()]
    told, there = Told(rank, outbox), Keeper(watched)
    told.begin()
    told.page(pods[:1])
    told.begin()  # the first one was not ended
    told.page(pods[1:2])
    told.page(pods[2:])
    told.end(10_000_000)
    there.hear(outbox)
    assert not there.intake.listed.is_set()
    told.listed(watched.kind, len(pods), 0.5)
    there.hear(outbox)
    assert there.intake.listed.is_set()
    assert there.cache.all(watched.kind) == pods[1:]
    assert there.heard[-1] == (watched.kind, len(pods), 0.5)


def test_a_kind_that_is_not_there_and_a_watch_that_ends_are_told() -> None:
    outbox = Outbox()
    told, there = Told(0, outbox), Keeper(WATCHED[0])
    told.withdraw()
    told.watch_ended(WATCHED[0].kind, "not served")
    there.hear(outbox)
    assert there.intake.listed.is_set()
    assert there.heard == [([], False), (WATCHED[0].kind, "not served")]


def test_who_has_more_to_tell_waits_until_what_waits_is_passed_on() -> None:
    outbox, told = Outbox(), list[int]()
    told_all = threading.Event()

    def tell() -> None:
        for number in range(3):
            outbox.put(Paged(9, [{"metadata": {}}] * MOST))
            told.append(number)
        outbox.emptied()
        told_all.set()

    threading.Thread(target=tell, daemon=True).start()
    for number in range(3):
        assert [len(each.things) for each in outbox.take() if isinstance(each, Paged)] == [MOST]
        assert len(told) <= number + 2
    assert told_all.wait(10)


def test_of_a_job_of_which_only_the_version_is_new_only_that_is_told() -> None:
    rank, outbox = [each.kind for each in WATCHED].index(JOBSET), Outbox()
    told = Told(rank, outbox)
    told.take(jobset(at=1), deleted=False)
    told.take(jobset(at=2), deleted=False)
    told.take(jobset(at=3, policy="other"), deleted=False)
    told.take(jobset(at=4, policy="other"), deleted=True)
    told.take(jobset(at=5, policy="other"), deleted=False)
    told.begin()
    told.take(jobset(at=6, policy="other"), deleted=False)
    told.page([jobset("b", at=6)])
    told.take(jobset("b", at=7), deleted=False)
    kinds = [type(each).__name__ for each in outbox.take()]
    assert kinds == ["Taken", "Renewed", "Taken", "Taken", "Taken", "Begun", "Taken", "Paged", "Renewed"]


def test_of_a_node_that_reports_that_nothing_has_changed_nothing_is_told() -> None:
    rank, outbox = [each.kind for each in WATCHED].index(NODE), Outbox()
    told = Told(rank, outbox)
    for at, taints in ((1, []), (2, []), (3, [TAINT]), (4, [TAINT]), (5, [])):
        told.take(node(at, taints), deleted=False)
    told.take(node(6, []), deleted=True)
    told.take(node(7, []), deleted=False)
    messages = outbox.take()
    heard = [each.thing["metadata"]["resourceVersion"] for each in messages if isinstance(each, Taken)]
    assert (heard, len(messages)) == (["1", "3", "5", "6", "7"], 5)


def test_what_waits_is_passed_on_together_and_in_its_order() -> None:
    outbox, there = Outbox(), Keeper(WATCHED[0])
    told = Told(0, outbox)
    ends: tuple[WatchEnd, ...] = ("silent", "ended", "expired")
    for why in ends:
        told.watch_ended(WATCHED[0].kind, why)
    assert len(ends) < MOST
    there.hear(outbox)
    assert there.heard == [(WATCHED[0].kind, why) for why in ends]


class Asking(Keeper):
    """Notes whether everything had been taken in, whenever it is told of something."""

    def __init__(self, watched: Watched, caught_up: threading.Event) -> None:
        super().__init__(watched)
        self.caught_up = caught_up

    def watch_ended(self, kind: Kind, why: WatchEnd) -> None:  # noqa: ARG002  # the protocol's
        self.heard.append((kind, self.caught_up.is_set()))


class Signs:
    """Counts how often something was heard."""

    count = 0

    def __call__(self) -> None:
        self.count += 1


def test_a_sign_of_life_is_heard_and_is_no_news() -> None:
    ours, theirs = (Connection(each.detach()) for each in socket.socketpair())
    keeper, signs = Keeper(WATCHED[0]), Signs()
    theirs.send_bytes(ENCODER.encode([Lives(0)]))
    theirs.close()
    listen(ours, [keeper.intake], keeper, threading.Event(), signs)
    assert (signs.count, keeper.heard) == (1, [])


def test_the_other_process_is_silent_once_ten_signs_of_life_have_not_come() -> None:
    at = [0.0]
    watches = Watches(Access(), Saying("info", "json"), seconds=lambda: at[0])
    at[0] = SILENT_SECONDS
    assert not watches.silent()
    at[0] += 1
    assert watches.silent()
    watches.heard()
    assert not watches.silent()
    assert SILENT_SECONDS == 10 * LIVES_SECONDS


def test_while_news_is_taken_in_the_process_has_not_caught_up() -> None:
    ours, theirs = (Connection(each.detach()) for each in socket.socketpair())
    asking = Asking(WATCHED[0], caught_up := threading.Event())
    listening = threading.Thread(target=lambda: listen(ours, [asking.intake], asking, caught_up, Signs()))
    listening.start()
    assert caught_up.wait(10)
    theirs.send_bytes(ENCODER.encode([Ended(0, "ended")]))
    theirs.close()
    listening.join(10)
    assert asking.heard == [(WATCHED[0].kind, False)]


def test_what_cannot_be_kept_is_asked_for_again_and_holds_nothing_up() -> None:
    keepers = [Keeper(watched) for watched in WATCHED]
    ours, theirs = (Connection(each.detach()) for each in socket.socketpair())
    well = {"metadata": {"name": "a", "resourceVersion": "1"}}
    messages = [Taken(2, {"metadata": "none"}, deleted=False), Taken(2, well, deleted=False)]
    theirs.send_bytes(ENCODER.encode(messages))
    theirs.send_bytes(ENCODER.encode([Ended(0, "ended")]))
    caught_up = threading.Event()
    intakes = [each.intake for each in keepers]
    asked = threading.Thread(target=lambda: listen(ours, intakes, keepers[0], caught_up, Signs()))
    asked.start()
    assert theirs.recv_bytes() == b"2"
    assert caught_up.wait(10)
    theirs.close()
    asked.join(10)
    assert keepers[2].cache.all(WATCHED[2].kind) == [well]
    assert keepers[0].heard == [(WATCHED[0].kind, "ended")]
