"""The time a job has, in whole seconds, and the comparisons on it that a deadline needs.

Integers throughout: with hours as floats a threshold was crossed one tick apart in 1 of 132 runs.
"""

from typing import NamedTuple

from spotproof.fallback.policy import Policy
from spotproof.fallback.run import NEVER, Instant, Observation, Phase, RunState


class Budget(NamedTuple):
    """What a deadline leaves, in seconds.

    `left` to the deadline less the margin, useful `work` to do, `debt` that the running attempt still owes before it
    trains, `risk` what an eviction now would take from the work, `restart` what a start costs, `stall` how long time
    will pass from now without any work that counts, `tick` how long an answer binds.
    """

    left: int
    work: int
    debt: int
    risk: int
    restart: int
    stall: int
    tick: int

    @property
    def spare(self) -> int:
        """What is over if the job leaves on-demand and comes back once: negative where time is short."""
        return self.left - self.work - 2 * self.restart

    @property
    def whole(self) -> int:
        """What is left in whole ticks after the one that is being decided."""
        return self.left - self.left % self.tick - self.tick if self.tick else self.left

    def may_wait(self) -> bool:
        """Whether on-demand could still be started after this tick and end in time."""
        return self.work + self.restart <= self.whole

    def may_start(self) -> bool:
        """Whether spot could be started now, be lost at once, and on-demand still end in time."""
        return self._may_run(self.restart, 0)

    def may_stay(self) -> bool:
        """Whether spot could be kept, be lost at once, and on-demand still end in time."""
        return self._may_run(self.debt, self.risk)

    def _may_run(self, debt: int, risk: int) -> bool:
        work = self.work - max(self.tick - debt, 0)
        return work <= 0 or work + risk + self.restart <= self.whole

    def until_short(self) -> int:
        """Seconds after which one of the three may turn from yes to no; NEVER where it cannot.

        Once a running attempt trains, work falls as fast as time passes, and nothing gets shorter.
        """
        room = self.whole - self.work - self.restart - self.risk
        return NEVER if room >= self.stall else max(room, 0) + 1


def budget(policy: Policy, state: RunState, seen: Observation, now: Instant, *, spot: bool) -> Budget | None:
    """The budget of a job that names deadline and work; None for one that does not.

    A job that does not report progress is taken to have saved its running time less its restarts, and less one
    checkpoint interval an eviction.

    Args:
        policy: The policy.
        state: The job's history.
        seen: The job now.
        now: The moment of the decision.
        spot: Whether the job's tier can be reclaimed.
    """
    if state.deadline is None or state.work is None:
        return None
    restart = max(policy.restart, state.restart_seen)
    left = state.deadline - policy.margin - now
    running = seen.phase is Phase.RUNNING
    ran = now - seen.since if running else 0
    debt = max(restart - ran, 0) if running else 0
    if seen.progress is not None:
        return Budget(left, max(state.work - seen.progress, 0), debt, 0, restart, NEVER, seen.tick)
    trained = max(ran - restart, 0)
    at_risk = policy.checkpoint_every if spot and running else 0
    risk = min(at_risk, trained)
    stall = debt + at_risk - risk if running else NEVER
    return Budget(left, max(state.work - state.done - trained, 0), debt, risk, restart, stall, seen.tick)
