"""What the controller needs to know of an operator's kind of job. Another kind costs a file and a line in the table."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from spotproof.controller.api import Api
from spotproof.controller.jobs.template import Template
from spotproof.controller.kinds import Kind, Object
from spotproof.controller.projecting import Watched
from spotproof.fallback.record import Counted, Move
from spotproof.fallback.run import Instant

Find = Callable[[Kind, str, str], Object | None]
"""An object as the cache has it, by kind, namespace and name."""


class JobState(NamedTuple):
    """Where a job is, in words that both operators share.

    `attempt` is what tells the pods of one attempt from another's. `restarts` are attempts that have ended, `errors`
    those of them that the operator holds against the job's own limit. `retrying`: the next attempt is about to be made
    from the spec as it is now. `can_suspend`: the operator would heed `suspend` at this moment. `heeded` is when it
    last suspended or resumed an attempt that goes on, where it says so.
    """

    attempt: str
    restarts: int = 0
    errors: int = 0
    suspended: bool = False
    retrying: bool = False
    can_suspend: bool = True
    heeded: Instant | None = None
    over: Literal["Succeeded", "Failed"] | None = None
    message: str = ""


class Members(NamedTuple):
    """Which pods are a job's, by what they carry.

    `label` is on every pod of the gang, and names its `owner`: the job itself, or what the operator makes for an
    attempt and the job owns. `children` are what the operator makes of the job's templates and keeps, if it does: they
    carry the same label. `read` are other labels of the pods that are read.
    """

    owner: Kind
    label: str
    children: Kind | None = None
    read: frozenset[str] = frozenset()


class JobKind(Protocol):
    """One operator's kind of job. Nothing here decides; what acts does one idempotent thing."""

    @property
    def kind(self) -> Kind:
        """The kind of object."""
        ...

    @property
    def watched(self) -> Sequence[Watched]:
        """The jobs that name a policy, and the owners and children of their pods."""
        ...

    @property
    def members(self) -> Members:
        """Whose a pod is."""
        ...

    @property
    def manager(self) -> str:
        """What `spec.managedBy` is where nobody wrote it: the operator itself."""
        ...

    @property
    def roles(self) -> str:
        """The field with the templates that may move, as an error names it."""
        ...

    @property
    def suspend(self) -> str:
        """The field that suspends a job, as a JSON pointer."""
        ...

    @property
    def replaces_alone(self) -> bool:
        """Whether the operator makes a lost pod again, by itself and whatever its exit code, within an attempt."""
        ...

    def templates(self, spec: Mapping[str, Any]) -> Iterator[Template]:
        """All pod templates of a job's spec, in its order."""
        ...

    def has_ended(self, job: Object) -> bool:
        """Whether the job will write nothing more: not the same as `over`, which nothing of it may have ended yet."""
        ...

    def state(self, job: Object) -> JobState:
        """Where the job is, from its spec and status alone."""
        ...

    def first_whole(self, job: Object, find: Find) -> Instant | None:
        """When the present attempt was whole first, as its operator says; None where it does not."""
        ...

    def attempt_of(self, pod: Object) -> str:
        """The attempt a pod belongs to, or a child."""
        ...

    def stays(self, pod: Object) -> bool:
        """Whether no move touches a pod, whatever it selects."""
        ...

    def size(self, job: Object) -> int:
        """Pods of the whole gang, submitters not counted."""
        ...

    def leftovers(self, api: Api, job: Object, move: Move) -> Sequence[Object]:
        """Pods of the job that are there now, asked of the API server: a new attempt may not begin while one is."""
        ...

    def is_quiet(self, job: Object, children: Iterable[Object]) -> bool:
        """Whether the operator has done what `suspend` asks for, as far as its own objects tell."""
        ...

    def old_children(self, children: Iterable[Object]) -> Sequence[Object]:
        """What is made anew from the changed templates, and must go before the job is resumed."""
        ...

    def is_awaited(self, job: Object, child: Object) -> bool:
        """Whether another part of the job begins only once this child is complete."""
        ...

    def is_outdated(self, job: Object, child: Object) -> bool:
        """Whether a child was made from other templates than the job has now, and must go like the old ones."""
        ...

    def is_rebuilt(self, job: Object, children: Sequence[Object], move: Move) -> bool:
        """Whether all of that has been made anew."""
        ...

    def baseline(self, job: Object) -> Counted:
        """The operator's counters as they are before the next attempt."""
        ...


class Childless:
    """What a kind answers whose operator keeps nothing that it makes of a job's templates."""

    def old_children(self, children: Iterable[Object]) -> Sequence[Object]:  # noqa: ARG002 - the contract's
        """None: the next attempt is made from the spec."""
        return []

    def is_awaited(self, job: Object, child: Object) -> bool:  # noqa: ARG002 - the contract's
        """No child, nothing to wait for."""
        return False

    def is_outdated(self, job: Object, child: Object) -> bool:  # noqa: ARG002 - the contract's
        """No child, none that is old."""
        return False

    def is_rebuilt(self, job: Object, children: Sequence[Object], move: Move) -> bool:  # noqa: ARG002 - the contract's
        """Nothing has to be."""
        return True
