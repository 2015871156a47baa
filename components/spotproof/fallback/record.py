"""TrainingRun: what a job has lived through, as its owner reads it and as a new process goes on from it.

One for each job that names a fallback policy, with the job's name, made and written by the controller alone. The CRD is
made from these classes. Everything the rule is told of a job's past stands in the status, so that a process that has
just started decides as the one before it would have.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, PlainSerializer, StringConstraints, WithJsonSchema

from spotproof.fallback.run import Instant
from spotproof.settings.base import ListOf, PoolName, Settings
from spotproof.vocabulary import Capacity

KIND: Final = "TrainingRun"
PLURAL: Final = "trainingruns"
PROGRESS_PATTERN: Final = "[0-9]{1,10}"
"""What a trainer may report as progress: up to 300 years in seconds, since more is no time of work."""

KEPT_FAILURES: Final = 1024
"""More than the largest maxFailures."""
MOST_JOBS: Final = 4096
"""Child Jobs of one JobSet; a uid is 36 characters, so that many are a tenth of what etcd takes of one object."""
KEPT_HISTORY: Final = 64
KEPT_RESTARTS: Final = 32
REMEMBERED: Final = 4096
"""Times read and written last: a look at a job reads and writes some thirty, nearly all of which the last one had. That
was a tenth of its time."""


def parse_instant(value: object) -> Instant:
    """Whole seconds since 1970 from RFC 3339 text with a zone.

    Raises:
        ValueError: the text is no such time.
    """
    if isinstance(value, int):
        return value
    if not isinstance(value, str):
        raise ValueError("a time is RFC 3339 text, as in 2026-11-21T10:00:00Z")  # noqa: TRY004 - as pydantic wants it
    return _parsed(value)


@lru_cache(maxsize=REMEMBERED)
def _parsed(text: str) -> Instant:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError("a time names its zone, as in 2026-11-21T10:00:00Z")
    return int(found.timestamp())


@lru_cache(maxsize=REMEMBERED)
def render_instant(at: Instant) -> str:
    """RFC 3339 in UTC, whole seconds, as Kubernetes writes times."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


Time: TypeAlias = Annotated[
    int,
    BeforeValidator(parse_instant),
    PlainSerializer(render_instant, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""Whole seconds since 1970 here, RFC 3339 in the object."""
Text: TypeAlias = Annotated[str, StringConstraints(max_length=1024)]
Word: TypeAlias = Annotated[str, StringConstraints(max_length=253)]
Number: TypeAlias = Annotated[int, Field(ge=0)]

RunPhase: TypeAlias = Literal[
    "Pending", "Waiting", "Running", "Restarting", "Moving", "Parked",
    "Suspended", "HandedBack", "Manual", "Refused", "Succeeded", "Failed",
]  # fmt: skip
"""Pending: being placed or started. Waiting: no room on its tier. Restarting: interrupted, coming back on its tier.
Moving: suspended by the controller, on its way to a tier. Parked: suspended by the controller after it has given half a
gang's nodes back. Suspended: by somebody else. HandedBack: somebody else resumed it in the middle of a move. Manual:
frozen by the label, or paused. The rest as they say."""

Cause: TypeAlias = Literal["eviction", "error", "voluntary", "undecided"]
"""Of an interruption. `voluntary` is charged to nobody; `undecided` waits for evidence, charged to nobody so far."""

Step: TypeAlias = Literal["Suspending", "Draining", "Rebuilding", "Resuming"]
"""What is done next, written before it is begun: suspend and select; wait for the last pod; make the child Jobs anew
(JobSet alone); resume."""


class JobReference(Settings):
    """The job a TrainingRun is of."""

    api_version: Word = Field(description="apiVersion of the job.")
    kind: Word = Field(description="`JobSet` or `RayJob`.")
    name: Word = Field(description="Its name.")
    uid: Word = Field(description="Its uid: another job of the same name starts afresh.")


class TrainingRunSpec(Settings):
    """Which job, under which policy; written once by the controller, and again where the job names another policy."""

    job: JobReference = Field(description="The job.")
    policy: Word = Field(description="Name of its FallbackPolicy.")


class RunTier(Settings):
    """What the job knows of one tier."""

    pool: PoolName = Field(description="The tier's pool.")
    evictions: Number = Field(default=0, description="Evictions the job has had here, in all.")
    errors: Number = Field(default=0, description="Errors it has had here, in all.")
    there: bool = Field(default=False, description="Whether the tier's newest answer was that it has room.")
    up: Time | None = Field(default=None, description="When it was last seen with room.")
    down: Time | None = Field(default=None, description="When it was last seen without.")
    asked: Time | None = Field(default=None, description="When it last answered a probe.")
    asking_since: Time | None = Field(default=None, description="Since when a probe is out; absent without one.")


class RunFailure(Settings):
    """One interruption that counts, on the tiers of the present price."""

    at: Time = Field(description="When it began.")
    pool: PoolName = Field(description="The tier it happened on.")
    kind: Literal["eviction", "error"] = Field(description="What counts it: maxFailures, or the job's own limit.")


class Interruption(Settings):
    """From the first pod lost until the whole gang is ready again, however many pods it takes."""

    attempt: Word = Field(description="The attempt that lost the pod.")
    pool: PoolName = Field(description="The tier it was on.")
    restarts: Number = Field(description="The operator's restarts once it has replaced that attempt.")
    errors: Number = Field(description="The operator's errors once it has, at most.")
    since: Time = Field(description="When the first pod was lost.")
    cause: Cause = Field(description="What it is taken for, so far.")
    finding: Literal["eviction", "voluntary", "undecided", "error", "killed", "unexplained"] = Field(
        default="unexplained", description="The strongest sign so far."
    )
    evidence: Text = Field(description="What was seen.")
    nodes: Annotated[ListOf[Word], Field(max_length=64)] = Field(
        default=(), description="Spot nodes whose pods were lost: if one of them goes, it was an eviction."
    )
    over: Time | None = Field(default=None, description="When the gang was whole again; kept until the cause is known.")
    again: Number = Field(default=0, description="Restarts since that one, none of which got the gang whole.")


class Move(Settings):
    """A move that is under way. A restart by the controller is one to the same tier."""

    id: Word = Field(description="Also on the job, as long as it is suspended for this move.")
    from_: PoolName = Field(validation_alias="from", serialization_alias="from", description="The tier it leaves.")
    to: PoolName = Field(description="The tier it goes to.")
    selector: Annotated[dict[str, Word], Field(max_length=8)] = Field(
        default={},
        description="Labels of the nodes of the tier it goes to, should its policy lose that tier meanwhile.",
    )
    capacity: Capacity | None = Field(default=None, description="Whether that tier is spot.")
    reason: Word = Field(description="Why, in a word.")
    message: Text = Field(description="Why, in a sentence.")
    step: Step = Field(description="What is done next.")
    since: Time = Field(description="When it was decided.")
    cluster: Word | None = Field(default=None, description="The Ray cluster that goes.")
    jobs: Annotated[ListOf[Word], Field(max_length=MOST_JOBS)] = Field(
        default=(), description="Uids of the child Jobs that go."
    )
    resume_at: Time | None = Field(default=None, description="Not to be resumed before; absent where at once.")


class Past(Settings):
    """Something that happened to the job, for its owner."""

    at: Time = Field(description="When.")
    what: Literal["Moved", "Restarted", "Evicted", "Failed", "Disrupted", "Parked", "HandedBack"] = Field(
        description="What, in a word."
    )
    from_: PoolName | None = Field(
        default=None, validation_alias="from", serialization_alias="from", description="The tier it was on."
    )
    to: PoolName | None = Field(default=None, description="The tier it went to.")
    reason: Word = Field(description="Why, in a word.")
    message: Text = Field(description="Why, in a sentence.")
    seconds: Number | None = Field(default=None, description="How long it took until the job had its places again.")


class Outlook(Settings):
    """What becomes of the deadline, as it looks now."""

    at: Time = Field(description="The deadline.")
    work_seconds: Number = Field(description="Useful running the job needs in all.")
    done_seconds: Number = Field(description="Of that, what is saved.")
    spare_seconds: int = Field(description="What is over if the rest runs from now on without a break; below 0: late.")
    progress: Literal["reported", "assumed"] = Field(description="Whether the trainer says what is saved.")


class Counted(Settings):
    """The operator's own counters, as far as they have been accounted for."""

    attempt: Word = Field(default="", description="JobSet: restarts at the attempt's start. Ray: the cluster's name.")
    restarts: Number = Field(default=0, description="JobSet: status.restarts. RayJob: status.failed.")
    errors: Number = Field(default=0, description="JobSet: status.restartsCountTowardsMax. RayJob: status.failed.")
    whole_since: Time | None = Field(default=None, description="Since when the gang is whole; absent while it is not.")


class RunCondition(Settings):
    """A condition in Kubernetes' conventions."""

    type: Word
    status: Literal["True", "False", "Unknown"]
    observed_generation: Number | None = None
    last_transition_time: Time
    reason: Word
    message: Annotated[str, StringConstraints(max_length=4096)]


class TrainingRunStatus(Settings):
    """Where the job is, why, and what it has lived through."""

    observed_generation: Number = Field(default=0, description="Generation of the spec that was acted on.")
    phase: RunPhase = Field(default="Pending", description="Where the job is, in a word.")
    tier: PoolName | None = Field(default=None, description="The tier it is on, by the name of its pool.")
    selector: Annotated[dict[str, Word], Field(max_length=8)] = Field(
        default={}, description="Labels of that tier's nodes, for when its policy has it no more."
    )
    capacity: Capacity | None = Field(default=None, description="Whether that tier is spot.")
    attempt: Number = Field(default=0, description="Continuous runs so far, the present one included.")
    evictions: Number = Field(default=0, description="Evictions in all.")
    errors: Number = Field(default=0, description="Errors in all.")
    waiting_since: Time | None = Field(default=None, description="Since when it waits.")
    waiting_paused: Time | None = Field(
        default=None, description="Since when none of its pods is without a node, though others are not made yet."
    )
    waiting_for: Text | None = Field(default=None, description="For what.")
    reason: Word = Field(default="", description="Why it is where it is, in a word.")
    message: Text = Field(default="", description="Why it is where it is, in a sentence.")
    next_decision_time: Time | None = Field(
        default=None, description="When it is looked at again if nothing happens; a parked job comes again then."
    )
    deadline: Outlook | None = Field(default=None, description="How the deadline looks.")
    since: Time | None = Field(default=None, description="Since when it waits or runs without a break.")
    arrived: Time | None = Field(default=None, description="When it came to the tiers of the present price.")
    nodes: Number = Field(default=0, description="Nodes of the whole gang, as far as is known.")
    nodes_held: Number = Field(default=0, description="Nodes that are billed for it now.")
    done_seconds: Number = Field(default=0, description="Work that attempts which have ended are taken to have saved.")
    restart_seconds: Annotated[ListOf[Number], Field(max_length=KEPT_RESTARTS)] = Field(
        default=(), description="How long its newest restarts took."
    )
    tiers: Annotated[ListOf[RunTier], Field(max_length=32)] = Field(default=(), description="Its tiers.")
    failures: Annotated[ListOf[RunFailure], Field(max_length=KEPT_FAILURES)] = Field(
        default=(), description="Interruptions that count on the tiers of the present price, oldest first."
    )
    waited: Annotated[ListOf[PoolName], Field(max_length=32)] = Field(
        default=(), description="Pools of the present price that the job has left since it last ran."
    )
    moves: Annotated[ListOf[Time], Field(max_length=64)] = Field(
        default=(), description="Its moves of the last hour, for maxMovesPerHour."
    )
    stalled_restarts: Number = Field(default=0, description="Restarts in a row without new progress.")
    progress_seconds: Number = Field(default=0, description="Work that was saved when it was last interrupted.")
    counted: Counted = Field(default=Counted(), description="What of the operator's counters is accounted for.")
    interruption: Interruption | None = Field(default=None, description="The interruption that is not over.")
    in_other_hands: bool = Field(
        default=False,
        description="Whether it was Suspended or Refused when it was frozen: what was lost by then counts for nobody.",
    )
    move: Move | None = Field(default=None, description="The move that is under way.")
    history: Annotated[ListOf[Past], Field(max_length=KEPT_HISTORY)] = Field(
        default=(), description="What happened, oldest first; the newest are kept."
    )
    conditions: Annotated[ListOf[RunCondition], Field(max_length=16)] = Field(default=(), description="Conditions.")
