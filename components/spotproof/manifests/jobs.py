"""A job's object by its operator, and what its author should know of it."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from spotproof.manifests.gang import Job
from spotproof.manifests.jobset import jobset
from spotproof.manifests.rayjob import rayjob
from spotproof.settings.experiment.landing import Landing, policy_of, tight, zones_apart
from spotproof.settings.experiment.model import JOBSET, KUBERAY
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, MAX_FAILURES_ENV, MAX_PREEMPTION_FAILURES_ENV, Manifest

RENDERERS: Final[Mapping[str, Callable[[Job], Manifest]]] = MappingProxyType({JOBSET: jobset, KUBERAY: rayjob})

OBJECT_STORE_SHARE: Final = 0.3
"""Of a pod's memory (Ray 2.60, DEFAULT_OBJECT_STORE_MEMORY_PROPORTION)."""
OBJECT_STORE_SHRINKS_TO_GIB: Final = 10**10 / 2**30
"""Down to this size Ray makes its store as small as shared memory is (REQUIRE_SHM_SIZE_THRESHOLD)."""


def render(job: Job) -> Manifest:
    """The object of a job."""
    return RENDERERS[job.experiment.spec.operator](job)


def notes(job: Job) -> Iterator[str]:
    """What was decided or replaced, in the order in which one would ask."""
    kind = "JobSet" if job.experiment.spec.operator == JOBSET else "RayJob"
    yield f"{kind} {job.name} in {job.workspace.namespace}, as service account {job.workspace.service_account}"
    for landing in job.case.landed:
        yield _lands(job, landing)
        yield from landing.notes
        yield from _replaced(landing)
        if job.experiment.spec.operator == KUBERAY:
            yield from _object_store(landing)
    yield from tight(job.env, job.case.landed)
    yield from zones_apart(job.env, job.case.landed)
    yield from _restarts(job)
    yield f"checkpoints: {job.checkpoint_uri}; the same name resumes there"
    if not job.store.way_in_is_known and any(pool.is_spot for landing in job.case.landed for pool in landing.pools):
        yield (
            "nothing here lets the pods write there: checkpoints.secret and checkpoints.serviceAccountAnnotations are "
            "left out; unless the nodes themselves may, nothing is saved, and the first eviction loses all of it"
        )


def _lands(job: Job, landing: Landing) -> str:
    count = landing.part.role.count
    pods = f"{landing.part.name}: {count} pod{'' if count == 1 else 's'}"
    if not landing.moves:
        return f"{pods} on {landing.pool.name} ({landing.pool.capacity})"
    tiers = ", then ".join(f"{pool.name} ({pool.capacity})" for pool in landing.pools)
    return f"{pods} on {tiers}, as fallback policy {job.experiment.spec.fallback_policy} says"


def _replaced(landing: Landing) -> Iterator[str]:
    said = [said for said, _ in landing.part.capacity_selectors.values()]
    if said:
        instead = "the tier key" if landing.moves else f"pool {landing.pool.name}"
        yield f"{landing.part.name}: {', '.join(said)} replaced by {instead}"


def _object_store(landing: Landing) -> Iterator[str]:
    asked = landing.part.role.resources
    store = min(asked.memory_gib * OBJECT_STORE_SHARE, OBJECT_STORE_SHRINKS_TO_GIB)
    if 0 < asked.shm_size_gb < store:
        yield (
            f"{landing.part.name}: shmSizeGB is {asked.shm_size_gb:g}, and Ray's object store takes {store:.3g} GiB; "
            "as it does not fit, Ray keeps all of it on disk"
        )


def _restarts(job: Job) -> Iterator[str]:
    count = job.backoff_limit
    if not job.has_policy:
        yield f"backoffLimit: {count} restarts, evictions included; failure {count + 1} ends the job"
    elif job.has_controller:
        policy = policy_of(job.experiment, job.env)
        assert policy is not None  # noqa: S101 - for the type checker: has_policy
        limits = ", ".join(f"{tier.pool} {tier.max_failures}" for tier in policy.tiers)
        yield f"evictions count against the policy ({limits}), software errors against backoffLimit ({count})"
    else:
        yield (
            f"operators.fallback is off in this stack, so nobody carries out {FALLBACK_POLICY_LABEL}: the job stays on "
            f"its first tier, evictions with a notice restart it without limit, everything else up to {count} times"
        )
    if job.experiment.spec.operator == KUBERAY:
        yield (
            f"Ray Train keeps to these counts if the program gives {MAX_FAILURES_ENV} and "
            f"{MAX_PREEMPTION_FAILURES_ENV} to its FailureConfig (docs/how-to/jobs.md)"
        )
