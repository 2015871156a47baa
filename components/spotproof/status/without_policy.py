"""Jobs on spot that nobody moves: what they wait for, and the one line that would help."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from pydantic import ValidationError

from spotproof.controller.kinds import JOB, NODE, POLICY, RUN, Kind
from spotproof.controller.policies import spot_tiers
from spotproof.controller.preflight import preflight
from spotproof.controller.relations import MANAGED, Relation, holdings
from spotproof.controller.rivals import accepted
from spotproof.controller.said import said_first
from spotproof.controller.templates import moving
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.fallback.run import Instant
from spotproof.manifests.fallback_policy import read_policy
from spotproof.settings.near import one_of
from spotproof.status.jobs import KINDS, Selected, has_ended, is_part, spot_of
from spotproof.status.pods import Pods
from spotproof.status.reading import Object, mapping, name_of, text
from spotproof.status.world import NODE_POOL, World
from spotproof.vocabulary import CAPACITY_LABEL, FALLBACK_POLICY_LABEL, POOL_LABEL, QUEUE_LABEL, SPOT


class Unmanaged(NamedTuple):
    """One job on spot without a policy.

    `selects` is the label by which its pods select spot. `command` would put it under a policy; where that cannot be,
    it is empty and `why_not` says why.
    """

    namespace: str
    name: str
    kind: str
    selects: str
    suspended: bool
    pods_waiting: int
    since: Instant | None
    waits_for: str
    command: str
    why_not: str

    @property
    def place(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name


class _Around:
    """What a job is compared with, read once for all of them: policies, and the jobs that name one."""

    def __init__(self, world: World) -> None:
        self.policies: Final = readable(world)
        self._world = world

    @cached_property
    def managed(self) -> frozenset[str]:
        """The uids of jobs that are managed."""
        return frozenset(filter(None, map(accepted, self._world.all(RUN))))

    @cached_property
    def _named(self) -> Mapping[tuple[str, ...], Sequence[Object]]:
        """The jobs that name a policy, by their namespace and by where they save."""
        found: dict[tuple[str, ...], list[Object]] = {}
        for kind in MANAGED.values():
            for job in self._world.all(kind):
                if text(job, "metadata", "labels", FALLBACK_POLICY_LABEL):
                    whole = {**job, "kind": kind.kind, "apiVersion": kind.api_version}
                    for place in (("", name_of(job)[0]), *_places(whole)):
                        found.setdefault(place, []).append(whole)
        return found

    def beside(self, job: Object) -> list[Object]:
        """Those of its namespace, and those of others that save where it does."""
        here = name_of(job)[0]
        there = (each for place in _places(job) for each in self._named.get(place, ()) if name_of(each)[0] != here)
        return [*self._named.get(("", here), ()), *there]


def _places(job: Object) -> list[tuple[str, ...]]:
    return [tuple(to) for relation, (_, *to) in holdings(job) if relation == Relation.JOB_SAVING_TO]


def without_policy(world: World) -> tuple[Unmanaged, ...]:
    """All jobs on spot that name no policy and are not over, by namespace and name."""
    pods, around = Pods(world), _Around(world)
    tiers = _spot_labels(around.policies, world)
    found: list[Unmanaged] = []
    for kind in KINDS:
        for job in world.all(kind):
            if text(job, "metadata", "labels", FALLBACK_POLICY_LABEL) or is_part(job) or has_ended(kind, job):
                continue
            if selected := spot_of(kind, job, tiers):
                found.append(_unmanaged(kind, job, selected, pods, _help(kind, job, selected, world, around)))
    return tuple(sorted(found, key=lambda each: (each.place, each.kind)))


def readable(world: World) -> tuple[ResolvedPolicy, ...]:
    """The policies that this version can read."""
    found: list[ResolvedPolicy] = []
    for thing in world.all(POLICY):
        try:
            found.append(read_policy(thing))
        except ValidationError:
            continue
    return tuple(found)


def _spot_labels(policies: Sequence[ResolvedPolicy], world: World) -> dict[str, frozenset[str]]:
    """Labels of spot pools: of a policy's tiers, and of pools that no policy names, by their nodes and NodePools."""
    found: dict[str, set[str]] = {}
    for policy in policies:
        for tier in policy.tiers:
            if tier.capacity == SPOT:
                for key, value in tier.node_selector.items():
                    found.setdefault(key, set()).add(value)
    on_nodes = [mapping(node, "metadata", "labels") for node in world.all(NODE)]
    on_pools = [mapping(pool, "spec", "template", "metadata", "labels") for pool in world.all(NODE_POOL)]
    for labels in (*on_nodes, *on_pools):
        if labels.get(CAPACITY_LABEL) == SPOT and (pool := text(labels, POOL_LABEL)):
            found.setdefault(POOL_LABEL, set()).add(pool)
    return {key: frozenset(values) for key, values in found.items()}


def _unmanaged(kind: Kind, job: Object, selected: Selected, pods: Pods, helps: tuple[str, str]) -> Unmanaged:
    namespace, name = name_of(job)
    waiting = pods.of(kind.kind, namespace, name)
    pool = selected.value if selected.key == POOL_LABEL else ""
    words = [*pods.words(kind.kind, namespace, name), *pods.refusals(pool)]
    said = said_first(words, pool) if waiting else None
    return Unmanaged(
        namespace,
        name,
        kind.kind,
        str(selected),
        suspended=mapping(job, "spec").get("suspend") is True,
        pods_waiting=len(waiting),
        since=pods.since(kind.kind, namespace, name),
        waits_for=said.text if said else "",
        command=helps[0],
        why_not=helps[1],
    )


def _help(kind: Kind, job: Object, selected: Selected, world: World, around: _Around) -> tuple[str, str]:
    """The command that puts the job under a policy, or why none can."""
    policies = around.policies
    if kind == JOB:
        return "", f"it is a Job, and a policy moves a {one_of(MANAGED)}; `spotproof render` makes one"
    if queue := text(job, "metadata", "labels", QUEUE_LABEL):
        return "", f"it is in Kueue's queue {queue}, and `suspend` of such a job is Kueue's"
    if POLICY in world.unseen:
        return "", "FallbackPolicies cannot be read here, so which one would fit is not known"
    if not policies:
        return "", "there is no FallbackPolicy in this cluster; a stack's fallbackPolicies make them"
    whole = {**job, "kind": kind.kind}
    if fits := next((policy for policy in policies if moving(whole, policy)), None):
        return _under(fits, whole, around)
    first = policies[0].tiers[0]
    labels = ", ".join(f"{key}: {value}" for key, value in first.node_selector.items())
    return "", (
        f"its pods select {selected}, and a policy moves only pods that select one of its tiers; write "
        f"`{labels}` instead (first tier of policy {policies[0].name}), or let `spotproof render` write it"
    )


def _under(policy: ResolvedPolicy, job: Object, around: _Around) -> tuple[str, str]:
    """The command, unless the controller would refuse the job under this policy."""
    namespace, name = name_of(job)
    found = preflight(job, policy, around.beside(job), managed=around.managed, spot=spot_tiers(around.policies))
    wrong = [each for each in found if each.refuses]
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        return "", f"policy {policy.name} would refuse it: {wrong[0]}{more}"
    return f"kubectl label -n {namespace} {job['kind'].lower()} {name} {FALLBACK_POLICY_LABEL}={policy.name}", ""
