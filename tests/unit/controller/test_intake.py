"""What is taken in first has parts of its own, and shares them with others once there is time; nobody sees that."""

import pytest

from spotproof.controller import intake as of_intake
from spotproof.controller.cache import Cache
from spotproof.controller.intake import Intake
from spotproof.controller.kinds import JOBSET, POD, Kind, Object
from spotproof.controller.watched import WATCHED
from tests.unit.controller.objects import A, jobset, of_jobset, pod


class Woken:
    """Counts how often somebody was told of jobs."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, keys: object, *, urgent: bool = False) -> None:
        del urgent
        self.times += bool(keys)


def intake(kind: Kind, cache: Cache, woken: Woken | None = None) -> Intake:
    return Intake(next(each for each in WATCHED if each.kind == kind), cache, woken or Woken())


def a_pod(name: str, at: int = 1, node: str = "n1") -> Object:
    return pod(of_jobset("a"), name, at, node) | {"status": {"phase": "Running"}}


def gang(cache: Cache) -> list[Object]:
    return sorted(cache.pods(A), key=lambda each: each["metadata"]["name"])


def test_objects_share_their_parts_once_there_is_time() -> None:
    cache = Cache()
    pods = intake(POD, cache)
    for name in ("p", "q"):
        pods.take(a_pod(name), deleted=False)
    before = gang(cache)
    assert before[0]["spec"] is not before[1]["spec"]

    assert pods.share(10) == 2

    assert gang(cache) == before
    assert gang(cache)[0]["spec"] is gang(cache)[1]["spec"]
    assert cache.get(POD, "team", "p") is gang(cache)[0]
    assert pods.share(10) == 0


def test_of_many_versions_only_the_last_is_shared_and_nobody_is_woken_by_that() -> None:
    cache, woken = Cache(), Woken()
    pods = intake(POD, cache, woken)
    for at in range(1, 6):
        pods.take(a_pod("p", at, node=f"n{at}"), deleted=False)
    pods.take(a_pod("q"), deleted=False)
    pods.take(a_pod("q", 7), deleted=True)
    told = woken.times

    assert pods.share(10) == 1

    assert [each["spec"]["nodeName"] for each in gang(cache)] == ["n5"]
    assert woken.times == told


def test_no_more_than_so_many_have_parts_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_intake, "MOST_APART", 3)
    cache = Cache()
    pods = intake(POD, cache)
    for number in range(9):
        pods.take(a_pod(f"p{number}"), deleted=False)

    kept = gang(cache)
    assert all(each["spec"] is kept[0]["spec"] for each in kept[:6])
    assert pods.share(10) == 3


def test_of_a_renewed_object_the_version_is_new_and_nothing_else() -> None:
    cache, woken = Cache(), Woken()
    jobs = intake(JOBSET, cache, woken)
    jobs.take(jobset(at=1, spec={"suspend": False}), deleted=False)
    told = woken.times

    jobs.renew("team", "a", "5")
    jobs.renew("team", "unknown", "6")
    jobs.renew("team", "a", "4")

    assert cache.job(A) == jobset(at=5, spec={"suspend": False})
    assert woken.times == told
    assert cache.keys() == [A]
