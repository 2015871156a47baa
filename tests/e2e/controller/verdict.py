"""What a job is to have lived through, held against a recording: tiers, counts, and what its pods say of the counts."""

from dataclasses import dataclass

from spotproof.rehearsal.recording import Recording
from tests.e2e.controller import interruptions, judge


@dataclass(frozen=True)
class Lived:
    """What a test has caused.

    Args:
        job: The job's name.
        tiers: Pools on which the gang was whole, each time it came to another one.
        evictions: How many.
        errors: How many.
        voluntary: Interruptions on spot that are nobody's: a drain of a node that stays, a person who restarts a pod.
    """

    job: str
    tiers: tuple[str, ...]
    evictions: int
    errors: int = 0
    voluntary: int = 0

    def wrong(self, recording: Recording) -> list[str]:
        """What is otherwise in a recording, in sentences; empty where all of it is so.

        The controller's counts are held against interruptions of the pods and the operator's own counters, so that it
        is not asked whether it counted well.
        """
        return [
            *self._tiers(recording),
            *self._counts(recording),
            *self._pods(recording),
            *interruptions.unseen_by_operator(recording, self.job),
        ]

    def _tiers(self, recording: Recording) -> list[str]:
        if judge.tiers(recording, self.job) == [*self.tiers]:
            return []
        return [f"whole on {judge.stretches(recording, self.job)}, where {self.tiers} were meant"]

    def _counts(self, recording: Recording) -> list[str]:
        told = judge.said(recording, self.job)
        if not told:
            return ["no TrainingRun said anything"]
        found = [f"miscounted: {told}"] if judge.miscounts(recording, self.job) else []
        counted = told[-1].evictions, told[-1].errors
        if counted != (self.evictions, self.errors):
            found.append(f"evictions and errors are {counted}, {(self.evictions, self.errors)} were caused: {told}")
        return found

    def _pods(self, recording: Recording) -> list[str]:
        seen = interruptions.charged(recording, self.job)
        found: list[str] = []
        if len(seen) != self.evictions + self.errors + self.voluntary:
            nobodys = f" and {self.voluntary} are nobody's" if self.voluntary else ""
            counted = f"{self.evictions + self.errors} are counted{nobodys}"
            found.append(f"the gang was interrupted {len(seen)} times, {counted}: {seen}")
        if (errors := interruptions.errors_of_operator(recording, self.job)) > self.errors:
            found.append(f"its operator counts {errors} errors, {self.errors} were caused")
        return found
