"""What would make a later move impossible, looked for before a job is managed. Pure: no clock, no API.

>>> [str(each) for each in preflight(job, policy, others) if each.refuses]
['spec.shutdownAfterJobFinishes: is false; KubeRay suspends only ... Write `shutdownAfterJobFinishes: true`.']

Nothing is half-managed: a job with a finding that refuses is left as it is, and taken up once it is mended. The
admission policies (manifests/job_admission.py) refuse a part of the same at submit; this also sees jobs that were
there before, policies that have changed, and the other jobs of the namespace.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from spotproof.controller.kinds import JOBSET, RAYJOB, Object
from spotproof.controller.preflight.checkpoints import checkpoints
from spotproof.controller.preflight.deadline import deadline
from spotproof.controller.preflight.eviction import eviction
from spotproof.controller.preflight.finding import CHECKS, Check, Finding, finding
from spotproof.controller.preflight.gang import gang
from spotproof.controller.preflight.head import head
from spotproof.controller.preflight.killed import killed
from spotproof.controller.preflight.ownership import ownership
from spotproof.controller.preflight.placement import placement
from spotproof.controller.preflight.restarts import restarts
from spotproof.controller.preflight.retries import retries
from spotproof.controller.preflight.suspension import suspension
from spotproof.controller.preflight.tiers import tiers
from spotproof.controller.preflight.tolerance import tolerance
from spotproof.controller.preflight.view import Rule, View, label_field
from spotproof.controller.preflight.workers import workers
from spotproof.fallback.resolved import ResolvedPolicy, ResolvedTier
from spotproof.settings.errors import shown
from spotproof.settings.near import near, one_of
from spotproof.vocabulary import FALLBACK_POLICY_LABEL

__all__ = [
    "CHECKS",
    "EVERY_KIND",
    "RULES",
    "Check",
    "Finding",
    "invalid_policy",
    "no_workspace",
    "preflight",
    "unknown_policy",
]

EVERY_KIND: Final[tuple[Rule, ...]] = (ownership, tiers, placement, tolerance, checkpoints, deadline)
"""Of kinds that nothing of their own can harm."""
RULES: Final[Mapping[str, tuple[Rule, ...]]] = MappingProxyType(
    {
        JOBSET.kind: (
            *(ownership, tiers, placement, tolerance),
            *(gang, eviction, killed, restarts),
            *(checkpoints, deadline),
        ),
        RAYJOB.kind: (
            *(ownership, suspension, tiers, placement, tolerance),
            *(head, workers, retries),
            *(checkpoints, deadline),
        ),
    }
)
"""By kind, for those with rules of their own, in the order in which findings are told."""


def preflight(
    job: Object,
    policy: ResolvedPolicy,
    others: Sequence[Object],
    *,
    managed: Collection[str] = frozenset(),
    spot: Sequence[ResolvedTier] = (),
) -> tuple[Finding, ...]:
    """Everything that is wrong with a job, all at once.

    Args:
        job: A job as the API server has it.
        policy: The policy that it names.
        others: The other jobs under a policy, of any kind, that have its name or its run in its namespace, or may save
            where it does in any; more of its namespace do no harm.
        managed: The uids of those that are managed already, and the job's own where it is.
        spot: Spot tiers of other policies: pools that are known to be reclaimed.
    """
    view = View(job, policy, others, managed, spot)
    return tuple(each for rule in RULES.get(job["kind"], EVERY_KIND) for each in rule(view))


def no_workspace(namespace: str) -> Finding:
    """The finding of a job in a namespace where the controller has no rights over pods and child Jobs."""
    return finding("NoWorkspace", "metadata.namespace", namespace=shown(namespace))


def unknown_policy(name: str, known: Iterable[str]) -> Finding:
    """The finding of a job whose policy is not there."""
    words = sorted(known)
    guess = near(name, words)
    remedy = f"{FALLBACK_POLICY_LABEL}: {guess}" if guess else f"{one_of(words)}, or remove the label"
    return finding("UnknownPolicy", label_field(FALLBACK_POLICY_LABEL), policy=shown(name), remedy=remedy)


def invalid_policy(name: str, problem: str) -> Finding:
    """The finding of a job whose policy this version cannot carry out."""
    return finding("InvalidPolicy", label_field(FALLBACK_POLICY_LABEL), policy=shown(name), problem=problem)
