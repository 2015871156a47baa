"""What a cluster that somebody else made would refuse or quietly ignore: labels, taints, people, the store."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Final

from spotproof.settings.errors import Problem, shown
from spotproof.vocabulary import CAPACITY_LABEL, POOL_LABEL, SPOT

if TYPE_CHECKING:
    from spotproof.settings.environment import Environment
    from spotproof.settings.existing.model import Existing
    from spotproof.settings.pools import Pool

CLAIM: Final = "pvc://"
"""Scheme of a checkpoint store that is a volume claim."""

MAX_LABELS, MAX_TAINTS = 8, 16
"""As many as a tier of a FallbackPolicy can name."""

PERSON: Final = re.compile(r"(?P<kind>user|group):(?P<name>\S(.*\S)?)")
"""A member: `user:` or `group:` with the name Kubernetes knows them by."""


def check(existing: "Existing", env: "Environment") -> Iterator[Problem]:
    """Every problem of such a cluster."""
    for one in CHECKS:
        yield from one(env)
    for another in CHECKS_OF_LABELS:
        yield from another(env, f"kubectl --context {shlex.quote(existing.context)} label nodes")


def instance_types_name_a_price(env: "Environment") -> Iterator[Problem]:
    """Without a prices file of the cluster's owner there is nothing they could name."""
    for index, pool in enumerate(env.pools):
        if pool.instance_types and env.prices is None:
            yield Problem(
                f"pools[{index}].instanceTypes",
                f"is {shown(list(pool.instance_types))}, without a prices file",
                "it would do nothing: the nodes are there already, and no table has prices of this cluster",
                "Write `prices: prices.yaml`, a file with `cloud: existing` and a line for each type; or remove it",
            )


def labels_fit_a_policy(env: "Environment") -> Iterator[Problem]:
    """A pool is told by at least one label, and by no more labels and taints than a policy can name."""
    for index, pool in enumerate(env.pools):
        if pool.node_labels is not None and not 1 <= len(pool.node_labels) <= MAX_LABELS:
            yield Problem(
                f"pools[{index}].nodeLabels",
                f"has {len(pool.node_labels)} labels" if pool.node_labels else "is empty",
                f"a fallback policy names {MAX_LABELS} at most"
                if pool.node_labels
                else "jobs for this pool would land on any node",
                f"Keep those that set the pool apart, or leave it out and label the nodes {POOL_LABEL}={pool.name}",
            )
        if pool.taints is not None and len(pool.taints) > MAX_TAINTS:
            yield Problem(
                f"pools[{index}].taints",
                f"has {len(pool.taints)} taints",
                f"a fallback policy names {MAX_TAINTS} at most",
                "Give the nodes one taint for all of them",
            )


def checkpoints_have_a_place(env: "Environment") -> Iterator[Problem]:
    """Nothing here makes a bucket, so the store is named; and pods reach it in one way."""
    store = env.checkpoints
    if store.uri is None:
        yield Problem(
            "checkpoints.uri",
            "is missing",
            "training would have nowhere to save, and no bucket is made on a cluster somebody else made",
            "Write `checkpoints: {uri: s3://team-checkpoints/kind-dev}`, or `pvc://<claim>` for a ReadWriteMany claim "
            "of that name in every workspace",
        )
    elif store.uri.startswith(CLAIM) and store.secret is not None:
        yield Problem(
            "checkpoints.secret",
            f"is {store.secret}, beside {store.uri}",
            "a claim is mounted and needs no keys, so pods would carry keys they have no use for",
            "Remove it, or write the uri of a bucket",
        )


def people_are_kubernetes_own(env: "Environment") -> Iterator[Problem]:
    """Members are users and groups as the cluster's own authentication names them."""
    for index, workspace in enumerate(env.workspaces):
        for number, member in enumerate(workspace.members):
            key, found = f"workspaces[{index}].members[{number}]", PERSON.fullmatch(member)
            if found is None:
                yield Problem(
                    key,
                    f"is {shown(member)}, which does not say who Kubernetes would know by it",
                    "the binding would give nobody any right",
                    "Write `user:ada` or `group:research`, with the name that `kubectl auth whoami` shows them",
                )
            elif found["kind"] == "group" and found["name"].startswith("system:"):
                yield Problem(
                    key,
                    f"is {found['name']}, a group of Kubernetes itself",
                    "everybody in it, or every pod, could change this workspace's jobs",
                    "Write a group of the team's own, as in `group:research`",
                )


def pools_share_no_nodes(env: "Environment", kubectl: str) -> Iterator[Problem]:
    """A node that fits two pools' labels is a node of both."""
    told: set[frozenset[str]] = set()
    for (_, wide), (index, narrow) in permutations(enumerate(env.pools), 2):
        pair = frozenset({wide.name, narrow.name})
        if pair in told or not (wide.selector and wide.selector.items() <= narrow.selector.items()):
            continue
        told.add(pair)
        same = wide.selector == narrow.selector
        theirs, label = query(narrow.selector), f"{POOL_LABEL}={narrow.name}"
        rest = f"{query(wide.selector)},{POOL_LABEL}!={narrow.name}"
        yield Problem(
            f"pools[{index}].nodeLabels",
            f"is {theirs}, {'as' if same else 'which holds'} that of {wide.name} ({query(wide.selector)})",
            f"a job for {wide.name} could land on nodes of {narrow.name}",
            f"Give each pool's nodes their own label, `{kubectl.replace('nodes', 'node')} <name> {POOL_LABEL}=<pool>`, "
            "and leave nodeLabels out of both"
            if same
            else f"Run `{kubectl} -l {theirs} {label}` and then `{kubectl} -l {shlex.quote(rest)} "
            f"{POOL_LABEL}={wide.name}`, and leave nodeLabels out of both",
        )


def tiers_share_their_keys(env: "Environment", kubectl: str) -> Iterator[Problem]:
    """A job moves by new VALUES of the same labels: JobSet merges selectors, so a key left behind matches no node."""
    pools = {pool.name: pool for pool in env.pools}
    for index, policy in enumerate(env.fallback_policies):
        tiers = [pools[tier.pool] for tier in policy.tiers if tier.pool in pools]
        for number, pool in enumerate(tiers):
            if set(pool.selector) == set(tiers[0].selector):
                continue
            commands = [
                f"`{kubectl} -l {query(each.selector)} {POOL_LABEL}={each.name}`" for each in tiers if each.node_labels
            ]
            yield Problem(
                f"fallbackPolicies[{index}].tiers[{number}].pool",
                f"is {pool.name}, known by {_keys(pool)}, where {tiers[0].name} is known by {_keys(tiers[0])}",
                "a job that moved would keep the label of the tier it left, and fit no node at all",
                f"Run {' and '.join(commands)}, and leave nodeLabels out of "
                f"{'that pool' if len(commands) == 1 else 'those pools'}",
            )
            break


def spot_is_told_apart(env: "Environment", kubectl: str) -> Iterator[Problem]:
    """Operators keep off spot nodes by one label that no on-demand node carries."""
    for index, pool in enumerate(env.pools):
        if pool.is_spot and pool.selector and spot_mark(pool, env) is None:
            yield Problem(
                f"pools[{index}].nodeLabels",
                f"is {query(pool.selector)}, and on-demand pools carry each of these labels too",
                "operators could not be kept off these nodes, and would be reclaimed with the jobs they restart",
                f"Run `{kubectl} -l {query(pool.selector)} {POOL_LABEL}={pool.name}` and leave nodeLabels out, or add "
                f"a label that only these nodes have, as in {CAPACITY_LABEL}={SPOT}",
            )


def spot_mark(pool: "Pool", env: "Environment") -> tuple[str, str] | None:
    """A label of a spot pool that no on-demand pool carries; None where every one is shared."""
    stays = [other.selector.items() for other in env.pools if not other.is_spot]
    return next((label for label in pool.selector.items() if not any(label in other for other in stays)), None)


def query(labels: Mapping[str, str]) -> str:
    """Labels as `kubectl -l` takes them."""
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _keys(pool: "Pool") -> str:
    return " and ".join(pool.selector) or "nothing"


CHECKS: Final[tuple[Callable[["Environment"], Iterator[Problem]], ...]] = (
    instance_types_name_a_price,
    labels_fit_a_policy,
    checkpoints_have_a_place,
    people_are_kubernetes_own,
)
CHECKS_OF_LABELS: Final[tuple[Callable[["Environment", str], Iterator[Problem]], ...]] = (
    pools_share_no_nodes,
    tiers_share_their_keys,
    spot_is_told_apart,
)
