"""Random worlds: whatever happens to jobs, cluster, controller and clock, in any order, the same things must hold.

`SPOTPROOF_WORLDS` is how many are tried, 2,000 where it is not set; each test takes its share, from a seed of its own.
Hypothesis draws from the constants of what is imported too, so that the whole suite and this file alone play different
worlds; `SPOTPROOF_WORLDS_SEED=2` tries others. A failure prints the steps that lead to it, the fewest that were found.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from spotproof.controller.kinds import NAMESPACE, NODE, NODE_CLAIM, POLICY, Object
from spotproof.controller.watched import WATCHED
from spotproof.vocabulary import (
    DEADLINE_ANNOTATION,
    FALLBACK_POLICY_LABEL,
    MANUAL_LABEL,
    PAUSED_LABEL,
    PROBE_LABEL,
    SYSTEM_NAMESPACE,
    WORK_ANNOTATION,
)
from tests.world.jobs import Tier, jobset, policy, rayjob
from tests.world.kubelet import ON_TERM
from tests.world.line import TROUBLES, Trouble
from tests.world.managed import POLICY_NAME, Managed
from tests.world.things import ended, is_true, labels, leaves, name, node_of
from tests.world.verdict import judge, left_of_ours
from tests.world.world import NAMESPACE as RESEARCH

SHARES: Final = 8
WORLDS: Final = int(os.environ.get("SPOTPROOF_WORLDS", "2000"))
SEED: Final = int(os.environ.get("SPOTPROOF_WORLDS_SEED", "0"))
STEPS: Final = 20
LEFT_SECONDS: Final = 2.0
"""How long the controller may take to leave a job alone."""
RESUMED_SECONDS: Final = 20.0
"""How much longer where nothing runs any more of a job that it has suspended."""
JOB: Final = "train"
LOSSES: Final = ("reclaim", "vanish", "drain", "silence")
RULE: Final[Mapping[str, st.SearchStrategy[Any]]] = {
    "return": st.just({"minStay": "15m"}),
    "countErrors": st.just(value=True),
    "failureWindow": st.just("30m"),
    "maxMovesPerHour": st.integers(1, 2),
}


class Beginning(NamedTuple):
    """How a world begins: the job, its policy, and the chance in it."""

    make: Callable[..., Object]
    pods: int
    roles: int
    failures: tuple[int, int]
    three: bool
    equal: bool
    deadline: str
    within: str
    rule: Mapping[str, Any]
    chance: int


class RandomWorld(RuleBasedStateMachine):
    """One job, of either kind, under one policy, in a world in which anything happens to it."""

    world: Managed
    tiers: tuple[Tier, ...]
    beginning: Beginning
    policy: Mapping[str, Any]

    @initialize(
        beginning=st.builds(
            Beginning,
            make=st.sampled_from([jobset, rayjob]),
            pods=st.integers(1, 3),
            roles=st.integers(1, 2),
            failures=st.tuples(st.integers(0, 3), st.integers(0, 3)),
            three=st.booleans(),
            equal=st.booleans(),
            deadline=st.sampled_from(["off", "guard", "pace"]),
            within=st.sampled_from(["6h", "3h"]),
            rule=st.fixed_dictionaries({}, optional=RULE),
            chance=st.integers(0, 3),
        )
    )
    def begin(self, beginning: Beginning) -> None:
        self.beginning, mode = beginning, beginning.deadline
        other = Tier("spot-b", beginning.failures[1], usd=10.0 if beginning.equal else 15.0)
        last = Tier("on-demand", -1, capacity="on-demand", usd=30.0)
        self.tiers = (Tier("spot-a", beginning.failures[0]), *((other,) if beginning.three else ()), last)
        self.policy = {**beginning.rule, **({"deadline": {"mode": mode}} if mode != "off" else {})}
        self.world = Managed(self.tiers, seed=beginning.chance, judged=True, **self.policy)
        self._submit()
        self.world.run(20)

    def _submit(self) -> None:
        make, pods = self.beginning.make, self.beginning.pods
        within = {DEADLINE_ANNOTATION: self.beginning.within, WORK_ANNOTATION: "2"}
        notes = within if self.beginning.deadline != "off" else {}
        size = {"pods": pods, "roles": self.beginning.roles} if make is jobset else {"workers": pods}
        self.world.submit(make(JOB, POLICY_NAME, self.tiers[0].pool, annotations=notes, **size))

    def _settled(self) -> None:
        if self.world.job(JOB) and self.world.is_calm(JOB):
            self.world.ledger(JOB).settle()

    def _disturb(self, what: str) -> None:
        """Something that may hide from the controller what is going on."""
        if self.world.job(JOB) and not self.world.is_calm(JOB):
            self.world.ledger(JOB).disturb(what)

    @property
    def there(self) -> bool:
        return bool(self.world.job(JOB)) and not self.world.is_over(JOB)

    # time

    @rule(seconds=st.sampled_from([0.3, 2.0, 7.0, 30.0, 200.0, 1000.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.run(seconds)
        self._settled()
        assert self.world.moves is not None
        self.world.moves.overdue(JOB)

    @rule(seconds=st.sampled_from([-60.0, -5.0, 30.0, 600.0]))
    def the_clock_jumps(self, seconds: float) -> None:
        self._disturb("clock")
        self.world.process.skew += seconds

    # what happens to the gang

    @precondition(lambda self: self.there)
    @rule(how=st.sampled_from(LOSSES), count=st.integers(1, 3))
    def nodes_are_lost(self, how: str, count: int) -> None:
        self._settled()
        self.world.lose(JOB, how, count)

    @precondition(lambda self: self.there)
    @rule()
    def a_pod_saves_and_leaves_with_zero(self) -> None:
        self._settled()
        for pod in self.world.gang(JOB):
            self.world.annotate(pod, {ON_TERM: "0"})
        self.world.lose(JOB, "reclaim")

    @precondition(lambda self: self.there)
    @rule(how=st.sampled_from([(1, ""), (137, "OOMKilled"), (137, "")]))
    def a_program_fails(self, how: tuple[int, str]) -> None:
        self._settled()
        self.world.fail(JOB, *how)

    @precondition(lambda self: self.there)
    @rule()
    def a_pod_is_deleted(self) -> None:
        self._settled()
        self.world.delete_pod(JOB)

    @precondition(lambda self: self.there and self.world.job(JOB)["kind"] == "RayJob")
    @rule()
    def the_program_of_a_rayjob_fails(self) -> None:
        self._settled()
        if self.world.job(JOB).get("status", {}).get("jobStatus") == "RUNNING":
            self.world.note(JOB, "error")
            self.world.finish(JOB, "FAILED")

    @precondition(lambda self: self.there and self.world.is_whole(JOB) and len(self.world.roles(JOB)) > 1)
    @rule()
    def a_role_is_done(self) -> None:
        self._settled()
        self.world.finish_role(JOB)

    @precondition(lambda self: self.there and self.world.roles(JOB, done=True))
    @rule()
    def the_node_of_a_role_that_is_done_is_taken_away(self) -> None:
        self._settled()
        self.world.lose_done(JOB)

    @precondition(lambda self: self.there)
    @rule()
    def the_work_is_done(self) -> None:
        if not self.world.is_whole(JOB):
            return
        self.world.ledger(JOB).disturb("done", self.world.now)
        if self.world.job(JOB)["kind"] == "RayJob":
            self.world.finish(JOB, "SUCCEEDED")
        else:
            self.world.finish_roles(JOB)

    # what happens to the market

    @rule(place=st.integers(0, 2), dry=st.booleans())
    def a_market_changes(self, place: int, dry: bool) -> None:  # noqa: FBT001  # drawn
        self.world.pools[self.tiers[place % len(self.tiers)].pool].dry = dry

    @rule(place=st.integers(0, 2), count=st.integers(1, 2))
    def nodes_come_that_nobody_asked_for(self, place: int, count: int) -> None:
        self.world.add_nodes(self.tiers[place % len(self.tiers)].pool, count)

    # what people do

    @precondition(lambda self: self.there)
    @rule(suspend=st.booleans())
    def somebody_suspends_or_resumes(self, suspend: bool) -> None:  # noqa: FBT001  # drawn
        self._disturb("foreign")
        self.world.ledger(JOB).disturb("foreign")
        (self.world.suspend if suspend else self.world.resume)(JOB)

    @precondition(lambda self: self.there)
    @rule(on=st.booleans())
    def somebody_freezes_the_job(self, on: bool) -> None:  # noqa: FBT001  # drawn
        self._disturb("manual")
        self.world.label(self.world.job(JOB), MANUAL_LABEL, "true" if on else None)

    @rule(on=st.booleans(), where=st.sampled_from([RESEARCH, SYSTEM_NAMESPACE]))
    def somebody_pauses(self, on: bool, where: str) -> None:  # noqa: FBT001  # drawn
        self._disturb("pause")
        space = self.world.get(NAMESPACE, where, "")
        assert space is not None
        self.world.label(space, PAUSED_LABEL, "true" if on else None)

    @rule(failures=st.integers(0, 3), without=st.integers(-1, 1))
    def somebody_edits_the_policy(self, failures: int, without: int) -> None:
        self._disturb("policy")
        edited = [each._replace(max_failures=failures) if each.max_failures >= 0 else each for each in self.tiers]
        kept = [each for place, each in enumerate(edited) if place != without or len(edited) == 2]
        change = {"spec": policy(POLICY_NAME, kept, **self.policy)["spec"]}
        self.world.server.patch(*POLICY, POLICY_NAME, change)

    @precondition(lambda self: self.there)
    @rule()
    def the_job_is_made_again(self) -> None:
        job = self.world.job(JOB)
        self.world.server.delete(job["apiVersion"], job["kind"], JOB, RESEARCH)
        self.world.run(10)
        self._submit()
        self.world.run(1)

    @precondition(lambda self: self.there)
    @rule(on=st.booleans())
    def somebody_takes_the_job_out_or_in(self, on: bool) -> None:  # noqa: FBT001  # drawn
        self._disturb("out")
        (self.world.take_in if on else self.world.take_out)(JOB)
        self.world.run(LEFT_SECONDS)
        if on or self._waits_for_pods():
            return
        within = RESUMED_SECONDS if self.world.suspended_by_us(JOB) else 0.0  # a move is carried to its end
        self.world.run(within)
        if self.world.process.was_watching(LEFT_SECONDS + within):
            assert left_of_ours(self.world, JOB, record=True) == []

    def _waits_for_pods(self) -> bool:
        """Whether a job that was let go is suspended until the last pod ends, as those of a silent node do late.

        Pods of a job that was there before it under its name are waited for too: they save to the same place.
        """
        pods = [pod for pod in self.world.pods() if PROBE_LABEL not in labels(pod)]
        return bool(self.world.suspended_by_us(JOB)) and not all(map(ended, pods))

    # what happens to the controller

    @rule()
    def the_controller_dies(self) -> None:
        self._disturb("killed")
        self.world.process.kill()

    @rule()
    def the_controller_comes_back(self) -> None:
        if not self.world.process.up:
            self._disturb("started")
            self.world.process.start()

    @rule(troubles=st.dictionaries(st.integers(0, 12), st.sampled_from(TROUBLES), min_size=1, max_size=3))
    def calls_are_to_go_wrong(self, troubles: dict[int, Trouble]) -> None:
        self._disturb("troubles")
        self.world.process.line.troubles = dict(troubles)

    @rule(place=st.integers(0, len(WATCHED) - 1), how=st.sampled_from(["hold", "expire"]))
    def a_watch_is_late_or_lost(self, place: int, how: str) -> None:
        self._disturb(how)
        if (WATCHED[place].kind, how) == (NODE_CLAIM, "hold"):
            self.world.ledger(JOB).blind()
        getattr(self.world.process, how)(place)

    @rule()
    def what_was_late_arrives(self) -> None:
        self._disturb("release")
        self.world.process.release()

    # the end

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        world = self.world
        world.process.line.troubles = {}
        world.process.release()
        if not world.process.up:
            world.process.start()
        for pool in world.pools.values():
            pool.dry = False
        self._wake_all()
        for where in (RESEARCH, SYSTEM_NAMESPACE):
            space = world.get(NAMESPACE, where, "")
            if space and labels(space).get(PAUSED_LABEL):
                world.label(space, PAUSED_LABEL, None)
        if FALLBACK_POLICY_LABEL not in labels(world.job(JOB)):
            world.take_in(JOB)
        if not world.is_over(JOB):
            self._give_back()
        judge(world, JOB)

    def _give_back(self) -> None:
        """The job is given into the controller's hands, whoever has it."""
        world = self.world
        if labels(world.job(JOB)).get(MANUAL_LABEL):
            world.label(world.job(JOB), MANUAL_LABEL, None)
        world.run(60)
        if world.job(JOB)["spec"].get("suspend") and not world.suspended_by_us(JOB):
            world.resume(JOB)

    def _wake_all(self) -> None:
        staying = {node_of(pod) for pod in self.world.gang(JOB) if not leaves(pod)}
        for node in self.world.all(NODE):
            if not is_true(node, "Ready") and name(node) in staying:
                self._disturb("woken")  # before its pods were taken from it
            self.world.wake(name(node))


@pytest.mark.parametrize("share", range(SHARES))
def test_whatever_happens_to_a_job_in_a_world(share: int) -> None:
    shared = settings(
        max_examples=max(WORLDS // SHARES, 1),
        stateful_step_count=STEPS,
        database=None,
        print_blob=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    run_state_machine_as_test(
        seed(SEED * SHARES + share)(type(f"RandomWorld{share}", (RandomWorld,), {})), settings=shared
    )
