"""Jobs that could never resume are refused as they are submitted: in CEL, with no webhook to keep alive.

Only what would be noticed too late is looked at: hours later, when the first node is taken away. What may be right,
as a program that knows by itself where to save, is only warned about. Everything `spotproof render` makes is accepted
without a word. Written without optional fields (`.?`), so that an evaluator outside the API server can run the very
same expressions in the tests.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from spotproof.manifests.validating import Rule, Writes, validating
from spotproof.settings.environment import Environment
from spotproof.settings.pools import Pool
from spotproof.vocabulary import (
    CHECKPOINT_URI_ENV,
    FALLBACK_POLICY_LABEL,
    POOL_LABEL,
    QUEUE_LABEL,
    SPOT_SELECTORS,
    Manifest,
)

Action: TypeAlias = Literal["deny", "warn", "audit"]
ACTIONS: Final[dict[Action, str]] = {"deny": "Deny", "warn": "Warn", "audit": "Audit"}


@dataclass(frozen=True)
class Kind:
    """One kind of job: its resource, what is read from it, and its rules in order."""

    name: str
    group: str
    version: str
    resource: str
    variables: tuple[tuple[str, str], ...]
    rules: tuple[Rule, ...]


LABELS: Final = ("labels", "has(object.metadata.labels) ? object.metadata.labels : {}")
HAS_POLICY: Final = ("moves", f"'{FALLBACK_POLICY_LABEL}' in variables.labels")

NO_QUEUE: Final = Rule(
    f"!variables.moves || !('{QUEUE_LABEL}' in variables.labels)",
    f"A job with the label {QUEUE_LABEL} is suspended and resumed by Kueue, and two that suspend one job undo each "
    f"other. Remove that label, or {FALLBACK_POLICY_LABEL}.",
)


def _selects_spot(pod: str) -> str:
    """Whether a pod's nodeSelector names spot, by any key in use for it or as a spot pool."""
    return (
        f"has({pod}.nodeSelector) && ({pod}.nodeSelector.exists(key,"
        f" key in variables.spot && {pod}.nodeSelector[key] == variables.spot[key])"
        f" || {_selects_one_of('variables.spotPools', pod)})"
    )


def _selects_one_of(pools: str, pod: str) -> str:
    """Whether a nodeSelector, which must be there, has all labels of one of the pools."""
    selector = f"{pod}.nodeSelector"
    return f"{pools}.exists(pool, pool.all(key, key in {selector} && {selector}[key] == pool[key]))"


def _tolerates(pod: str, taint: str) -> str:
    """As the scheduler reads tolerations: no key with Exists is every key, no effect is every effect."""
    return (
        f"has({pod}.tolerations) && {pod}.tolerations.exists(each,"
        f" (!has(each.key) || each.key == '' || each.key == '{taint}')"
        " && (!has(each.effect) || each.effect == '' || each.effect == 'NoSchedule'))"
    )


def _tiered(pod: str) -> str:
    return f"has({pod}.nodeSelector) && {_selects_one_of('variables.pools', pod)}"


def _jobset(env: Environment) -> Kind:
    pod = "each.template.spec.template.spec"
    job = "each.template.spec"
    policy = "object.spec.failurePolicy"
    all_of = "!variables.moves || object.spec.replicatedJobs.all(each, {})"
    return Kind(
        "spotproof-jobsets",
        "jobset.x-k8s.io",
        "v1alpha2",
        "jobsets",
        (
            LABELS,
            HAS_POLICY,
            *_known_labels(env),
            ("pools", _lines(_selector(pool) for pool in env.pools)),
            ("onSpot", f"object.spec.replicatedJobs.exists(each, {_selects_spot(pod)})"),
        ),
        (
            NO_QUEUE,
            Rule(
                f"!variables.onSpot || (has({policy}) && has({policy}.maxRestarts) && {policy}.maxRestarts > 0)"
                " || variables.moves",
                "Without restarts the first eviction ends the JobSet, whatever it has computed. Write "
                "spec.failurePolicy.maxRestarts, as in 5, or name a fallback policy.",
            ),
            Rule(
                f"!variables.moves || object.spec.replicatedJobs.exists(each, {_tiered(pod)})",
                "No replicated job selects a pool of this stack, so there is nothing to move. Write nodeSelector "
                f"{POOL_LABEL} with the first tier's pool into the templates that are to move.",
            ),
            Rule(
                all_of.format(f"has({pod}.restartPolicy) && {pod}.restartPolicy == 'Never'"),
                "A pod that restarts in place joins a gang that has gone on without it. Write restartPolicy: Never in "
                "every replicated job's pod template.",
            ),
            Rule(
                all_of.format(f"has({job}.backoffLimit) && {job}.backoffLimit == 0"),
                "A Job that replaces one pod by itself leaves the other ranks hanging, and JobSet never hears of it. "
                "Write backoffLimit: 0 in every replicated job's template.",
            ),
            Rule(
                all_of.format(f"has({job}.podReplacementPolicy) && {job}.podReplacementPolicy == 'Failed'"),
                "A replacement that starts before the old pod is gone writes to the same checkpoint. Write "
                "podReplacementPolicy: Failed in every replicated job's template.",
            ),
            Rule(
                all_of.format(
                    f"has({job}.podFailurePolicy) && {job}.podFailurePolicy.rules.exists(rule,"
                    " rule.action == 'FailJob' && has(rule.onPodConditions) && rule.onPodConditions.exists(condition,"
                    " condition.type == 'DisruptionTarget'))"
                ),
                "An eviction could not be told from an error. Write a podFailurePolicy rule into every replicated "
                "job's template: action FailJob, onPodConditions [{type: DisruptionTarget}].",
            ),
            Rule(
                f"!variables.moves || (has({policy}) && has({policy}.rules) && {policy}.rules.exists(rule,"
                " rule.action == 'RestartJobSetAndIgnoreMaxRestarts' && (!has(rule.onJobFailureReasons)"
                " || 'PodFailurePolicy' in rule.onJobFailureReasons)))",
                "Evictions would use up maxRestarts, and a JobSet that has failed cannot be revived. Write a "
                "spec.failurePolicy rule: action RestartJobSetAndIgnoreMaxRestarts, onJobFailureReasons "
                "[PodFailurePolicy].",
            ),
            Rule(
                f"!variables.moves || (has({policy}) && has({policy}.restartStrategy)"
                f" && {policy}.restartStrategy == 'BlockingRecreate')",
                "A gang that starts before the old one is gone writes to the same checkpoint. Write "
                "spec.failurePolicy.restartStrategy: BlockingRecreate.",
            ),
            *_tolerated(env, f"object.spec.replicatedJobs.all(each, !({_tiered(pod)}) || ({{}}))", pod),
        ),
    )


def _rayjob(env: Environment) -> Kind:
    worker = "each.template.spec"
    cluster = "object.spec.rayClusterSpec"
    workers = f"(has({cluster}) && has({cluster}.workerGroupSpecs) ? {cluster}.workerGroupSpecs : [])"
    head = f"{cluster}.headGroupSpec.template.spec"
    submitter = "object.spec.submitterPodTemplate.spec"
    return Kind(
        "spotproof-rayjobs",
        "ray.io",
        "v1",
        "rayjobs",
        (
            LABELS,
            HAS_POLICY,
            *_known_labels(env),
            ("pools", _lines(_selector(pool) for pool in env.pools)),
            ("workers", workers),
            ("onSpot", f"variables.workers.exists(each, {_selects_spot(worker)})"),
            ("headOnSpot", f"has({cluster}) && {_selects_spot(head)}"),
            ("submitterOnSpot", f"has(object.spec.submitterPodTemplate) && {_selects_spot(submitter)}"),
        ),
        (
            NO_QUEUE,
            Rule(
                "!variables.headOnSpot",
                "A head that is not back within 5 minutes fails the RayJob for good, and KubeRay does not retry that. "
                "Select an on-demand pool in spec.rayClusterSpec.headGroupSpec.template.",
            ),
            Rule(
                "!variables.submitterOnSpot",
                "The job is lost to KubeRay with its submitter. Select an on-demand pool in spec.submitterPodTemplate.",
            ),
            Rule(
                "!variables.onSpot || variables.moves || (has(object.spec.backoffLimit)"
                " && object.spec.backoffLimit > 0)",
                "Without retries the first eviction that Ray does not ride out ends the job. Write spec.backoffLimit, "
                "as in 5, or name a fallback policy.",
            ),
            Rule(
                "!variables.moves || !has(object.spec.clusterSelector)",
                "KubeRay cannot suspend a job on a cluster of somebody else's, so it could never move. Write "
                "rayClusterSpec in place of spec.clusterSelector.",
            ),
            Rule(
                "!variables.moves || (has(object.spec.shutdownAfterJobFinishes)"
                " && object.spec.shutdownAfterJobFinishes)",
                "KubeRay suspends only a job that shuts its cluster down; any other ends in ValidationFailed, from "
                "which nothing leads back. Write spec.shutdownAfterJobFinishes: true.",
            ),
            Rule(
                "!variables.moves || !has(object.spec.deletionStrategy)"
                " || !has(object.spec.deletionStrategy.deletionRules)",
                "Deletion rules exclude shutdownAfterJobFinishes, without which the job cannot be suspended. Remove "
                "spec.deletionStrategy.deletionRules.",
            ),
            Rule(
                f"!variables.moves || variables.workers.exists(each, {_tiered(worker)})",
                "No worker group selects a pool of this stack, so there is nothing to move. Write nodeSelector "
                f"{POOL_LABEL} with the first tier's pool into the templates of the workers.",
            ),
            *_tolerated(env, f"variables.workers.all(each, !({_tiered(worker)}) || ({{}}))", worker),
        ),
    )


def _batch_job(env: Environment) -> Kind:
    """Plain Jobs, which only retry; those that an operator made are the operator's."""
    return Kind(
        "spotproof-batch-jobs",
        "batch",
        "v1",
        "jobs",
        (
            *_known_labels(env),
            ("isOwned", "has(object.metadata.ownerReferences) && size(object.metadata.ownerReferences) > 0"),
        ),
        (
            Rule(
                f"variables.isOwned || !({_selects_spot('object.spec.template.spec')})"
                " || !has(object.spec.backoffLimit) || object.spec.backoffLimit > 0",
                "A Job on spot with backoffLimit 0 ends with the first eviction. Leave backoffLimit out, or write how "
                "often it may start again.",
            ),
        ),
    )


NO_CHECKPOINT: Final = (
    f"The job tells no program a {CHECKPOINT_URI_ENV}: it may start afresh after every eviction, and nobody here can "
    f"see whether two jobs save to one place. Write {CHECKPOINT_URI_ENV} into env of a container, with a place of the "
    "job's own."
)


def _is_told(pod: str) -> str:
    """Whether a program in a pod is told where to save; what a ConfigMap or a Secret tells it is not known here."""
    env = "container.env"
    return (
        f"has({pod}.containers) && {pod}.containers.exists(container,"
        f" has({env}) && {env}.exists(one, one.name == '{CHECKPOINT_URI_ENV}'))"
    )


_READ: Final = ("labels", "moves", "spot", "spotPools", "workers", "onSpot")
"""Variables of the refusing rules that the warning reads too."""


def _saving(kind: Kind, *is_told: str) -> Kind:
    """The rule of a kind that warns: of what may run on spot, any template tells, as rank 0 alone may save."""
    told = " || ".join(f"({each})" for each in is_told)
    rule = Rule(f"!(variables.onSpot || variables.moves) || {told}", NO_CHECKPOINT)
    variables = tuple((name, expression) for name, expression in kind.variables if name in _READ)
    return replace(kind, name=f"{kind.name}-checkpoints", variables=variables, rules=(rule,))


def warned(env: Environment) -> tuple[Kind, ...]:
    """The kinds again, with what is warned about."""
    spec = "object.spec"
    cluster = f"{spec}.rayClusterSpec"
    return (
        _saving(_jobset(env), f"{spec}.replicatedJobs.exists(each, {_is_told('each.template.spec.template.spec')})"),
        _saving(
            _rayjob(env),
            f"has({spec}.runtimeEnvYAML) && {spec}.runtimeEnvYAML.contains('{CHECKPOINT_URI_ENV}')",
            f"has({cluster}) && {_is_told(f'{cluster}.headGroupSpec.template.spec')}",
            f"variables.workers.exists(each, {_is_told('each.template.spec')})",
            f"has({spec}.submitterPodTemplate) && {_is_told(f'{spec}.submitterPodTemplate.spec')}",
        ),
    )


def _tolerated(env: Environment, of_all: str, pod: str) -> Sequence[Rule]:
    """What moves can land on spot; where the pools' taints are somebody else's, nobody here knows them."""
    if not env.spot_pools or any(pool.taints is not None for pool in env.spot_pools):
        return ()
    taint = env.provider.spot_taint["key"]
    return (
        Rule(
            f"!variables.moves || {of_all.format(_tolerates(pod, taint))}",
            f"Spot nodes carry the taint {taint}, so the pods would wait there for ever. Write a toleration of it "
            "into the templates that are to move; as only that of a suspended job can change, into all of them now.",
        ),
    )


def _known_labels(env: Environment) -> Sequence[tuple[str, str]]:
    """What selects spot: node labels of any cloud, and the selectors of this environment's own spot pools."""
    return (
        ("spot", json.dumps(SPOT_SELECTORS, indent=2)),
        ("spotPools", _lines(_selector(pool) for pool in env.spot_pools)),
    )


def _selector(pool: Pool) -> Mapping[str, str]:
    return pool.node_labels or {POOL_LABEL: pool.name}


def _lines(each: Iterable[Mapping[str, str]]) -> str:
    """A CEL list of maps, which JSON is; one a line, so that a diff shows one."""
    return "[\n" + ",\n".join(f"  {json.dumps(one)}" for one in each) + "\n]"


def kinds(env: Environment) -> tuple[Kind, ...]:
    """The kinds that are looked at, with the rules in this environment that refuse."""
    return (_jobset(env), _rayjob(env), _batch_job(env))


def job_admission(env: Environment, action: Action = "deny") -> list[Manifest]:
    """The admission policies of jobs with their bindings, for namespaces that are workspaces.

    Args:
        env: The environment; its spot pools and the taint of its cloud are part of the rules.
        action: `deny` refuses, `warn` tells whoever submits, `audit` writes it into the audit log. What is only warned
            about is never refused.
    """
    mildly: Action = "warn" if action == "deny" else action
    refused = (made for kind in kinds(env) for made in _judging(kind, action))
    return [*refused, *(made for kind in warned(env) for made in _judging(kind, mildly))]


def _judging(kind: Kind, action: Action) -> list[Manifest]:
    # at submit only: a job that runs must be free to lose its finalizer, and to be moved
    submits = Writes(kind.group, kind.version, kind.resource, "CREATE")
    return validating(
        kind.name, submits, kind.rules, variables=kind.variables, reason="Invalid", action=ACTIONS[action]
    )
