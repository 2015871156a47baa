"""What a rehearsal comes to, in sentences: what was lost, what came back, what waits, and who moved it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.rehearsal.forecast import Seen, Step, after, forecast, tolerance
from spotproof.rehearsal.history import DISRUPTED, History, Job, Life, exit_code, is_true, node_of, phase
from spotproof.rehearsal.marks import CLOSES, OPENS, RECLAIM
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.story.jobs import is_over, whole
from spotproof.rehearsal.story.moment import count, listed, seconds, times
from spotproof.rehearsal.story.pods import holding, waits_of


@dataclass(frozen=True)
class Account:
    """The figures of one job's rehearsal."""

    history: History
    job: Job

    @property
    def reclaims(self) -> int:
        """Nodes that were taken away."""
        return sum(mark.did == RECLAIM for mark in self.history.recording.marks)

    @property
    def is_dry(self) -> bool:
        """Whether spot is to be had no more."""
        said = [mark.did for mark in self.history.recording.marks if mark.did in {CLOSES, OPENS}]
        return bool(said) and said[-1] == CLOSES

    @cached_property
    def interruptions(self) -> list[tuple[float, float | None]]:
        """From when to when the gang was not whole, after it had been; to None where it still is not."""
        up = whole(self.job)
        after = [since for since, _ in up[1:]]
        downs = [until for _, until in up if until is not None]
        return [(at, after[number] if number < len(after) else None) for number, at in enumerate(downs)]

    @property
    def suspended(self) -> int:
        """How many of the interruptions are a suspension of the whole job, as a move is: none of its pods was lost."""
        off = list(self.job.life.stretches(lambda thing: thing.get("spec", {}).get("suspend")))
        return sum(
            any(since <= at and (until is None or at < until) for since, until in off) for at, _ in self.interruptions
        )

    @property
    def evicted(self) -> list[Life]:
        """Pods that went with their nodes."""
        return [pod for pod in self.job.pods if pod.when(lambda thing: is_true(thing, DISRUPTED)) is not None]

    @property
    def ended(self) -> list[Life]:
        """Pods that ran, were healthy, and had to go with the others."""
        lost = {pod.uid for pod in self.evicted}
        return [pod for pod in self.job.pods if pod.uid not in lost and pod.gone is not None and node_of(pod.last)]

    @property
    def exit_codes(self) -> list[int]:
        """With which they ended, each once."""
        codes = {exit_code(pod.last) for pod in (*self.evicted, *self.ended)}
        return sorted(code for code in codes if code is not None)

    @property
    def restarts(self) -> int:
        """Of the whole gang, by JobSet."""
        return int(self.job.life.last.get("status", {}).get("restarts", 0))

    @property
    def restarts_counted(self) -> int:
        """Those that count towards maxRestarts."""
        return int(self.job.life.last.get("status", {}).get("restartsCountTowardsMax", 0))

    @property
    def most_restarts(self) -> int | None:
        """After so many that count the job fails; None for a job that is none of JobSet's."""
        found = self.job.life.last["spec"].get("failurePolicy", {}).get("maxRestarts")
        return None if found is None else int(found)

    @property
    def seen(self) -> Seen:
        """What the rule is told of it."""
        since = self.waiting_since
        return Seen(
            interruptions=[int(at) for at, _ in self.interruptions],
            waiting_since=None if since is None else int(since),
            now=int(self.history.seconds),
            dry=self.is_dry,
            nodes=self.job.size,
            held=self.held,
        )

    @property
    def run(self) -> Json | None:
        """The job's TrainingRun as it was last; None where no controller acted."""
        runs = (each.last for each in self.history.of("TrainingRun"))
        return next((each for each in runs if each["metadata"]["name"] == self.job.life.name), None)

    @property
    def held(self) -> int:
        """Nodes that pods of the job hold at the end."""
        return len({node_of(pod.last) for pod in holding(self.job, self.history.seconds)})

    @property
    def waiting_since(self) -> float | None:
        """Since when pods find no node; None where none does so now."""
        waits = waits_of(self.job)
        return waits[-1][0] if waits and waits[-1][1] is None else None


def verdict(account: Account, policy: ResolvedPolicy | None) -> list[str]:
    """The sentences, in the order in which one would ask.

    Args:
        account: The figures.
        policy: The fallback policy that the job names, if it names one.
    """
    return [*_lost(account), *_back(account), *_counted(account), *_now(account), *_rule(account, policy)]


def _lost(account: Account) -> Iterator[str]:
    if not account.reclaims:
        yield "No node was taken away."
        return
    evicted, ended = len(account.evicted), len(account.ended)
    them = "it" if account.reclaims == 1 else "them"
    text = f"{_nodes(account.reclaims)} taken away: {count(evicted, 'pod')} of {account.job.life.name} went with {them}"
    text += f", and {count(ended, 'healthy pod')} had to go with the others" if ended else ""
    codes = [str(code) for code in account.exit_codes]
    yield f"{text}; all ended with exit code {listed(codes)}." if codes else f"{text}."
    if any(phase(pod.last) == "Succeeded" for pod in account.evicted):
        yield "Evicted pods ended with exit code 0: they are counted as done and never run again, and the rest hangs."


def _nodes(number: int) -> str:
    return f"{count(number, 'spot node')} {'was' if number == 1 else 'were'}"


def _back(account: Account) -> Iterator[str]:
    found = account.interruptions
    if not found:
        return
    took = [until - since for since, until in found if until is not None]
    text = f"The job was interrupted {times(len(found))}"
    if took:
        each = f"{seconds(min(took))} to {seconds(max(took))}" if len(took) > 1 else seconds(took[0])
        text += f"; it ran again {each} after its first pod was lost"
        text += ", and once not at all" if len(took) < len(found) else ""
    yield f"{text}."


def _counted(account: Account) -> Iterator[str]:
    job = account.job
    if job.life.kind == "RayJob":
        failed = int(job.life.last.get("status", {}).get("failed", 0))
        if account.evicted:
            yield (
                f"KubeRay replaces lost workers by itself, and {job.said} shows nothing of it: its count of failures "
                f"is {failed}, so no backoffLimit ends the job and nothing in it tells how often it was evicted."
            )
        return
    most = account.most_restarts
    if not account.restarts or most is None:
        return
    used = account.restarts_counted
    if used < most:
        left = f"so {most - used} {'is' if most - used == 1 else 'are'} left"
    else:
        left = "and one failure more has ended the job" if is_over(job) else "and one failure more ends the job"
    verb = "counts" if used == 1 else "count"
    yield (
        f"JobSet restarted the whole gang {times(account.restarts)}; {used} of these {verb} towards "
        f"maxRestarts {most}, {left}."
    )


def _now(account: Account) -> Iterator[str]:
    if is_over(account.job):
        yield "The job has come to its end; nothing brings it back."
        return
    since = account.waiting_since
    if since is None:
        if (up := whole(account.job)) and up[-1][1] is None:
            yield "At the end it runs."
        return
    held = account.held
    text = f"At the end it has waited for nodes for {seconds(account.history.seconds - since)}"
    nodes = f", while {count(held, 'node')} {'is' if held == 1 else 'are'} held and paid for" if held else ""
    refused = ": the spot market is closed, and Karpenter's requests are refused" if account.is_dry else ""
    yield f"{text}{nodes}{refused}."


def _rule(account: Account, policy: ResolvedPolicy | None) -> Iterator[str]:
    if policy is None:
        yield (
            "The job names no fallback policy, so every eviction counts as a failure of its own."
            if is_over(account.job)
            else "The job names no fallback policy, so it would wait for spot for as long as there is none."
        )
        return
    if account.run is not None:
        yield from _acted(account, account.run)
        return
    counted = tolerance(policy, len(account.interruptions))
    yield (
        "Nothing moves the job to another tier: this rehearsal ran without the fallback controller. "
        f"What it would do is what the rule says of policy {policy.name}: {counted}."
    )
    if text := outlook(account, forecast(policy, account.seen)):
        yield text


def _acted(account: Account, run: Json) -> Iterator[str]:
    """What the controller counted and did, by the TrainingRun."""
    status = run.get("status", {})
    evictions, errors = int(status.get("evictions") or 0), int(status.get("errors") or 0)
    charged = f"{count(evictions, 'eviction')}" + (f" and {count(errors, 'error')}" if errors else "")
    own = account.suspended
    lost = f"The fallback controller counted {charged}, where the gang was interrupted "
    lost += times(len(account.interruptions) - own)
    also = f"; {times(own)} more it was ended by a move, which counts for nobody" if own else ""
    yield f"{lost} from outside{also}."
    for each in status.get("history", []):
        if each["what"] == "Moved":
            took = f", and it had its places again {seconds(each['seconds'])} later" if each.get("seconds") else ""
            yield f"It moved the job from {each['from']} to {each['to']}{took}: {each['message']}."
    if status.get("message") and not is_over(account.job):
        yield f"Where the job is now: {status['message']}."


def outlook(account: Account, steps: Sequence[Step]) -> str:
    """What the rule would do from here on, as a sentence; empty for a job that is over."""
    if is_over(account.job):
        return ""
    if account.waiting_since is None:
        return "As the job runs, the rule leaves it where it is."
    if not steps:
        return "If the market stayed as it is, the rule would go on waiting."
    moves = listed([f"to {step.to} {after(step)} after the wait began" for step in steps])
    asked = list(dict.fromkeys(tier for step in steps for tier in step.asked))
    sooner = f" It asks {listed(asked)} meanwhile, and takes the first that has room." if asked else ""
    return f"If the market stayed as it is, the rule would take the job {moves}.{sooner}"
