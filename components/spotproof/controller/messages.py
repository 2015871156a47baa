"""Everything the controller says as an event or a condition: word, sentence, what it means and what to do.

Data, so that docs/messages.md is the whole of it. Why a job moves or waits is said by fallback/reasons.py, where else
it is by phases.py, and what is wrong with a job by controller/preflight. A Warning is for what somebody should look at;
the rest is Normal.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from spotproof.fallback.reasons import phrase
from spotproof.vocabulary import (
    CHECKPOINT_URI_ENV,
    DEADLINE_ANNOTATION,
    MANUAL_LABEL,
    PAUSED_LABEL,
    PROGRESS_ANNOTATION,
    SYSTEM_NAMESPACE,
    WORK_ANNOTATION,
)

Kind: TypeAlias = Literal["Normal", "Warning"]
Status: TypeAlias = Literal["True", "False"]

FINDING: Final = "Refused"
"""Of a job that is not accepted, where no finding's own word stands as the reason."""
WARNING: Final = "Finding"
"""Of a job that is managed all the same, where no finding's own word stands as the reason."""
LONGEST_NOTE: Final = 1024
"""Of an event (events.k8s.io/v1, `note`)."""
LONGEST_MESSAGE: Final = 4096
"""Of a condition, as the TrainingRun's definition has it."""

NOTHING: Final = "Nothing."
GIVE_BACK: Final = (
    f"To give it back to the controller, freeze and release it: `kubectl label <kind> <name> {MANUAL_LABEL}=true`, "
    f"then `kubectl label <kind> <name> {MANUAL_LABEL}-`."
)
READ_THE_LOG: Final = "Read the log of the attempt that failed, mend the program, delete the job and apply it again."


class Message(NamedTuple):
    """An event: its type, its sentence with named values, what it means, and what its reader does."""

    type: Kind
    sentence: str
    meaning: str
    remedy: str = NOTHING


EVENTS: Final[Mapping[str, Message]] = MappingProxyType(
    {
        "Refused": Message(
            "Warning",
            "not managed: {message}. {remedy}",
            "The job is left as it is: it runs as if it named no policy, and nobody moves it.",
            "Mend each field as it is said. Where the operator lets nobody change it, delete the job and apply it "
            "again; the checkpoints stay.",
        ),
        "Warned": Message(
            "Warning",
            "managed, and yet {message}. {remedy}",
            "The job is managed and moved. What is said costs money or time, or does not do what its author may think.",
            "Mend the field as it is said, if that is not meant.",
        ),
        "Evicted": Message(
            "Normal",
            "eviction {count} on {tier}: {message}",
            "The gang lost a node to the market. It is counted once, however many pods it took, and comes back by "
            "itself.",
        ),
        "Disrupted": Message(
            "Normal",
            "interrupted on {tier}, charged to nobody: {message}",
            "The gang lost a pod by somebody's choice: a drain, an upgrade, Karpenter's consolidation, a pod of higher "
            "priority. It comes back by itself, and counts neither as an eviction nor as an error.",
        ),
        "Error": Message(
            "Warning",
            "error {count} on {tier}: {message}",
            "The program failed by itself, or ran out of memory: nothing was taken from it. It restarts, and counts "
            "against the job's own limit.",
            "Read the log of that attempt.",
        ),
        "Moving": Message(
            "Normal",
            "moving to {tier}: {message}",
            "The whole job is suspended, and resumed on the other tier once its last pod is gone.",
        ),
        "Moved": Message(
            "Normal",
            "moved to {tier}: {message}",
            "The job is on the new tier, and its gang is being placed there. The controller has resumed it, or the "
            "message says who else has put it there.",
        ),
        "Restarting": Message(
            "Normal",
            "starting again on {tier}: {message}",
            "The whole job is suspended, and resumed on its own tier once its last pod is gone.",
        ),
        "Restarted": Message(
            "Normal",
            "started again on {tier}: {message}",
            "The controller suspended and resumed the job on its own tier, as its operator would not have: a pod that "
            "left with 0 after its eviction, for example, leaves the others hanging.",
            "If the reason names exit status 0, let the program leave with another status after SIGTERM.",
        ),
        "Parked": Message(
            "Normal",
            "gave its nodes on {tier} back: {message}",
            "Half a gang held nodes that another half may need. The job is suspended, and tries again in a while.",
            "If it happens often, the pool is smaller than the jobs that wait for it: raise its maxNodes.",
        ),
        "Unparked": Message(
            "Normal",
            "tries again on {tier}, after it {message}",
            "The job is resumed on its tier, and its gang is being placed there.",
        ),
        "HandedBack": Message(
            "Warning",
            "resumed by somebody else on the way to {tier}: left alone from here on",
            "Two that suspend one job undo each other, so the controller gives way.",
            GIVE_BACK,
        ),
        "NoProgress": Message(
            "Warning",
            "{count} restarts in a row without a newer checkpoint",
            "Each attempt ends before its first new checkpoint, so the job pays without getting further. It is not "
            "ended.",
            f"Save more often, and look whether checkpoints are found at the start; {PROGRESS_ANNOTATION} on the "
            "TrainingRun tells the controller how far it is.",
        ),
        "Failed": Message(
            "Warning",
            "suspended for good: {message}",
            "The program failed by itself more often than its backoffLimit allows. Evictions are not among them.",
            READ_THE_LOG,
        ),
        "LastTierWaits": Message(
            "Warning",
            "{message}",
            "The job has waited out the pendingTimeout of its last tier. It goes on waiting, and is never failed for "
            "that; a gang that got only part of its nodes gives them back for a while.",
            "Nothing, or give it another tier: more zones, another machine type, a larger maxNodes or quota.",
        ),
        "NodeGone": Message(
            "Normal",
            "node {node} is gone: its pods are ended now, as Kubernetes would up to 75 s later",
            "The node is no longer there, nor is its NodeClaim. Until its pods are ended the rest of the gang idles.",
        ),
    }
)
"""By reason: what is written on the job."""


NAME_TAKEN: Final = Message(
    "Warning",
    "metadata.name: a {kind} of the same name has the TrainingRun {name}",
    "Of two jobs of one name the older has the TrainingRun, which `kubectl` shows for both; where it is managed, event "
    "Refused is all that the newer one gets.",
    "Give one of the two another name.",
)
"""What event `Refused` says of a job that has no TrainingRun to say it."""
BEGINS: Final[Mapping[str, str]] = MappingProxyType({"Moved": "Moving", "Restarted": "Restarting", "Parked": "Parked"})
ENDS: Final[Mapping[str, str]] = MappingProxyType({"Moved": "Moved", "Restarted": "Restarted", "Parked": "Unparked"})
"""By what a move is to the job's history: its event as it begins, and as the job is resumed."""


class State(NamedTuple):
    """What a condition can say: its status, its sentence, and what its reader does."""

    status: Status
    sentence: str
    remedy: str = NOTHING


class Condition(NamedTuple):
    """A condition: what it is about, and its states by reason."""

    of: Literal["TrainingRun", "FallbackPolicy"]
    meaning: str
    states: Mapping[str, State]


CONDITIONS: Final[Mapping[str, Condition]] = MappingProxyType(
    {
        "Accepted": Condition(
            "TrainingRun",
            "Whether the job is managed: it can be moved without harm.",
            {
                "Managed": State("True", "moves along the tiers of fallback policy {policy}"),
                FINDING: State("False", "{message}", EVENTS["Refused"].remedy),
            },
        ),
        "HandedBack": Condition(
            "TrainingRun",
            "Somebody else resumed the job in the middle of a move, and the controller gave way.",
            {
                "ResumedByOthers": State("True", EVENTS["HandedBack"].sentence, GIVE_BACK),
                "Released": State("False", "given back to the controller"),
            },
        ),
        "Paused": Condition(
            "TrainingRun",
            "Somebody asked that nothing be done.",
            {
                "Manual": State(
                    "True",
                    f"label {MANUAL_LABEL} is on the job: nothing is done to it",
                    f"`kubectl label <kind> <name> {MANUAL_LABEL}-` releases it.",
                ),
                "Paused": State(
                    "True",
                    f"label {PAUSED_LABEL} is on namespace {{namespace}}: nothing is moved until it is removed",
                    f"`kubectl label namespace <name> {PAUSED_LABEL}-` releases it; on {SYSTEM_NAMESPACE} it holds the "
                    "whole cluster.",
                ),
                "Released": State("False", "nobody holds it"),
            },
        ),
        "NoProgress": Condition(
            "TrainingRun",
            "Restarts in a row saved nothing new.",
            {
                "Stalled": State("True", EVENTS["NoProgress"].sentence, EVENTS["NoProgress"].remedy),
                "Progressing": State("False", "the newest attempt has saved something newer"),
            },
        ),
        "ProgressAssumed": Condition(
            "TrainingRun",
            "How far the job is is reckoned, as its trainer does not say it.",
            {
                "NotReported": State(
                    "True",
                    "the trainer does not say what it has saved: taken to be the time it ran, less what restarts and "
                    "evictions cost",
                    f"Let the trainer write {PROGRESS_ANNOTATION}, seconds of work in its newest checkpoint, on its "
                    "TrainingRun.",
                ),
                "Unreadable": State(
                    "True",
                    "{why}; until then it is reckoned",
                    "Write whole seconds of work, as in 5400.",
                ),
                "Reported": State("False", "the trainer says what it has saved"),
            },
        ),
        "DeadlineIncomplete": Condition(
            "TrainingRun",
            "The policy has a deadline mode, and the job does not say what it takes to keep a deadline.",
            {
                "AnnotationMissing": State(
                    "True",
                    "{missing} is not on the job, so deadline mode {mode} of its policy has no effect",
                    f"Write both {DEADLINE_ANNOTATION} and {WORK_ANNOTATION} on the job, or neither.",
                ),
                "Complete": State("False", "deadline and work are known, or the policy has no use for them"),
            },
        ),
        "CheckpointUnknown": Condition(
            "TrainingRun",
            "Nobody here can tell where the job saves, so two jobs may write to one place unseen.",
            {
                "NoCheckpointUri": State(
                    "True",
                    f"no container is told {CHECKPOINT_URI_ENV}, so the job may start afresh after every eviction",
                    f"Write {CHECKPOINT_URI_ENV} into the environment of its containers, and save there.",
                ),
                "Known": State("False", f"{CHECKPOINT_URI_ENV} says where it saves"),
            },
        ),
        "Warned": Condition(
            "TrainingRun",
            "Something else about the job is not as its author may think; it is managed all the same.",
            {
                WARNING: State("True", "{message}", EVENTS["Warned"].remedy),
                "Nothing": State("False", "there is nothing else to tell"),
            },
        ),
        "LastTierWaits": Condition(
            "TrainingRun",
            "The job has waited out the pendingTimeout of its last tier, with nowhere further to go, or nothing will "
            "ever come of its wait. It is never failed for that.",
            {
                "NoRoom": State("True", "{message}", EVENTS["LastTierWaits"].remedy),
                "SpotRoleMissing": State(
                    "True",
                    "EC2 starts no spot node for {tier}: this account lacks the service-linked role for spot",
                    "`aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`, once an account.",
                ),
                "Placed": State("False", "it has a place, or a tier that comes next"),
            },
        ),
        "PolicyInvalid": Condition(
            "TrainingRun",
            "The job's policy cannot be carried out, so the job stays where it is.",
            {
                "Unreadable": State(
                    "True",
                    "fallback policy {policy} cannot be carried out: {error}",
                    "Mend the FallbackPolicy, or let `pulumi up` write it again.",
                ),
                "Gone": State(
                    "True",
                    "there is no fallback policy {policy}",
                    "Make it again, or name another one in the job's label.",
                ),
                "Valid": State("False", "fallback policy {policy} can be carried out"),
            },
        ),
        "Valid": Condition(
            "FallbackPolicy",
            "Whether the controller can carry the policy out.",
            {
                "Valid": State("True", "the policy can be carried out"),
                "Unreadable": State("False", "{error}", "Mend the FallbackPolicy, or let `pulumi up` write it again."),
            },
        ),
    }
)
"""By type."""


def event(code: str, **values: object) -> tuple[Kind, str, str]:
    """Type, reason and note of an event.

    Raises:
        LookupError: there is no such event, or a value of its sentence is not given.
    """
    message = EVENTS[code]
    return message.type, code, _fitted(phrase(message.sentence, **values), LONGEST_NOTE)


def condition(kind: str, reason: str, **values: object) -> tuple[Status, str, str]:
    """Status, reason and message of a condition of a type.

    Raises:
        LookupError: there is no such condition or reason, or a value of its sentence is not given.
    """
    state = CONDITIONS[kind].states[reason]
    return state.status, reason, _fitted(phrase(state.sentence, **values), LONGEST_MESSAGE)


def _fitted(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
