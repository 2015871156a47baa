"""What watches deliver comes to be what is there."""

from typing import Any

from spotproof.controller.kinds import RUN
from spotproof.status.world import LOOKED, Store
from tests.unit.status.worlds import NOW, Object, run


def _version(version: int, **status: Any) -> Object:
    thing = run("x", **status)
    thing["metadata"]["resourceVersion"] = str(version)
    return thing


def test_the_newest_version_of_an_object_is_kept_whatever_comes_after() -> None:
    store = Store()
    assert store.take("ADDED", _version(5, attempt=2))
    assert not store.take("ADDED", _version(5, attempt=2))
    assert not store.take("MODIFIED", _version(4, attempt=1))
    assert store.world(NOW).all(RUN)[0]["status"]["attempt"] == 2
    assert store.take("MODIFIED", _version(6, attempt=3))
    assert store.world(NOW).all(RUN)[0]["status"]["attempt"] == 3


def test_an_object_that_is_gone_is_gone_once() -> None:
    store = Store()
    store.replace(RUN, [_version(5)])
    assert store.take("DELETED", _version(6))
    assert not store.take("DELETED", _version(7))
    assert store.world(NOW).all(RUN) == ()


def test_a_world_is_as_it_was_when_it_was_asked_for() -> None:
    store = Store(("a note",), frozenset({RUN}))
    before = store.world(NOW)
    store.take("ADDED", _version(1))
    assert (before.all(RUN), before.at, before.notes, before.unseen) == ((), NOW, ("a note",), {RUN})


def test_every_kind_that_is_looked_at_says_what_is_missing_without_it_but_for_two_that_help() -> None:
    assert {each.kind.kind for each in LOOKED if not each.lost} == {"Node", "NodePool"}
    assert len({each.kind for each in LOOKED}) == len(LOOKED)
