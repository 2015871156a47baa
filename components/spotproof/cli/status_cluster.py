"""A cluster looked at once, or as it changes; every failure is one sentence with what helps."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from spotproof.cli.status_connect import Cluster, NotSeen, Watching
from spotproof.controller.kinds import RUN, Kind
from spotproof.kube.errors import Refused, Stranger, Unreachable, Untrusted
from spotproof.status.reading import Object
from spotproof.status.world import CLAIM_EVENTS, EVENT, LOOKED, Looked, Store, World

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
ANONYMOUS: Final = "system:anonymous"
"""Who a request without a login comes from."""
CLAIM_NAMESPACE: Final = "default"
BURST_SECONDS: Final = 0.2
"""Changes that come this close together are shown together."""
TICK_SECONDS: Final = 1.0
"""How often times are told anew while nothing changes: nothing is asked for that."""
SETTLED_SECONDS: Final = 10.0
FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 30.0
ALL: Final = "all namespaces"


class Look(NamedTuple):
    """What was found, and where: a namespace, or all of them."""

    world: World
    namespace: str | None
    kinds: tuple[Looked, ...]

    @property
    def where(self) -> str:
        """As people read it."""
        return f"namespace {self.namespace}" if self.namespace else ALL


def look(cluster: Cluster, namespace: str | None, clock: Callable[[], float] = time.time) -> Look:
    """Everything that is looked at, once, in a namespace or in all.

    Raises:
        NotSeen: the server does not answer, does not know who asks, or lets nothing be read.
    """
    notes: list[str] = []
    try:
        runs, namespace = _runs(cluster, namespace, notes)
        store, kinds = _rest(cluster, namespace, runs, notes)
    except (Refused, Unreachable) as error:
        raise NotSeen(sentence(error, cluster)) from error
    return Look(store.world(int(clock())), namespace, kinds)


def follow(
    cluster: Cluster,
    first: Look,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[World]:
    """What there is after every burst of changes, and again every second, until nobody asks any more.

    A watch that breaks off is made again, with a note meanwhile, after 1 s, 2 s and so on up to 30 s.
    """
    found, shown, pause, lost = first, first.world, FIRST_PAUSE_SECONDS, ""
    while True:
        try:
            for shown in _watched(cluster, found, clock):
                pause = FIRST_PAUSE_SECONDS
                yield shown
        except (NotSeen, Refused, Unreachable, RuntimeError) as error:
            # RuntimeError: the server ended the watch, as it does when its history is too short
            lost = f"not up to date, the watch broke off: {sentence(error, cluster)}"
        yield World(shown.objects, int(clock()), (*found.world.notes, lost), shown.unseen, shown.refusals)
        sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        with suppress(NotSeen):  # the watch will say it again
            found = look(cluster, first.namespace, clock)


def sentence(error: Exception, cluster: Cluster) -> str:
    """What went wrong, and what helps."""
    match error:
        case Untrusted():
            return (
                f"what answers for the cluster of context {cluster.context} is not trusted; give the kubeconfig the "
                f"cluster's own certificate-authority-data and server, or have it written anew ({error})"
            )
        case Unreachable() if not isinstance(error, Stranger):
            return (
                f"the cluster of context {cluster.context} does not answer; is it there, and is this machine in a "
                f"network that reaches it? ({error})"
            )
        case Refused() if error.status == UNAUTHORIZED or ANONYMOUS in error.message:
            return (
                f"the cluster of context {cluster.context} does not accept the login, which has expired or was never "
                f"made; {cluster.login}, then try again"
            )
        case Refused() if error.status == FORBIDDEN:
            return (
                f"not allowed: {error.message}; a member of a workspace may look into its namespace: name it with "
                "--namespace"
            )
        case Refused() if error.status != NOT_FOUND and error.reason:
            return str(error)
        case _:
            return _broken_off(error, cluster)


def _broken_off(error: Exception, cluster: Cluster) -> str:
    """A server that gives no reason in Kubernetes' form is none, unless it is only the watch that it has ended."""
    if not isinstance(error, (Refused, Stranger)):
        return str(error)
    return (
        f"what answers for the cluster of context {cluster.context} is no API server; look at `server` in the "
        f"kubeconfig, and at what stands between this machine and it ({error})"
    )


def _runs(cluster: Cluster, namespace: str | None, notes: list[str]) -> tuple[list[Object] | None, str | None]:
    """The TrainingRuns, None where the cluster knows no such kind, and the namespace that could be looked into."""
    try:
        return cluster.kube.list(*RUN, namespace), namespace
    except Refused as refused:
        if refused.status == NOT_FOUND:
            notes.append(
                "this cluster has no TrainingRuns: the fallback controller is not installed (operators.fallback.mode)"
            )
            return None, _allowed(cluster, namespace, notes)
        if refused.status != FORBIDDEN or namespace is not None or ANONYMOUS in refused.message:
            raise
    notes.append(_fallen_back(cluster))
    return cluster.kube.list(*RUN, cluster.namespace), cluster.namespace


def _allowed(cluster: Cluster, namespace: str | None, notes: list[str]) -> str | None:
    """Where pods may be listed: there, or in the context's namespace."""
    try:
        cluster.kube.list("v1", "Pod", namespace, fields="status.phase=Pending")
    except Refused as refused:
        if refused.status != FORBIDDEN or namespace is not None or ANONYMOUS in refused.message:
            raise
        notes.append(_fallen_back(cluster))
        return cluster.namespace
    return namespace


def _fallen_back(cluster: Cluster) -> str:
    return f"not allowed to look into all namespaces: this is {cluster.namespace} alone, the namespace of the context"


def _rest(
    cluster: Cluster, namespace: str | None, runs: list[Object] | None, notes: list[str]
) -> tuple[Store, tuple[Looked, ...]]:
    found: dict[Looked, list[Object]] = {}
    unseen: set[Kind] = {RUN} if runs is None else set()
    for each in LOOKED:
        try:
            if each.kind != RUN:
                found[each] = cluster.kube.list(*each.kind, namespace if each.namespaced else None, fields=each.fields)
            elif runs is not None:
                found[each] = runs
        except Refused as refused:
            if refused.status == FORBIDDEN:
                unseen.add(each.kind)
                if each.lost:
                    notes.append(f"not allowed to list {each.kind.kind} objects, so {each.lost}")
            elif refused.status != NOT_FOUND:
                raise
    store = Store(tuple(notes), frozenset(unseen))
    for each, things in found.items():
        store.replace(each.kind, things)
    store.refusals = _refusals(cluster)
    return store, tuple(found)


def _refusals(cluster: Cluster) -> tuple[Object, ...]:
    """What Karpenter's NodeClaims were refused with; nothing for whoever may not see it."""
    try:
        return tuple(cluster.kube.list(*EVENT, CLAIM_NAMESPACE, fields=CLAIM_EVENTS))
    except Refused:
        return ()


def _watched(cluster: Cluster, found: Look, clock: Callable[[], float]) -> Iterator[World]:
    """What was found, until the watch has delivered as much; then what it has delivered.

    What was deleted in between is in the first and not in the second: after SETTLED_SECONDS the watch is believed.
    """
    listed = Store.of(found.world)
    store = Store(found.world.notes, found.world.unseen)
    store.refusals = found.world.refusals
    fields = {each.kind.kind: each.fields for each in found.kinds if each.fields}
    watch = cluster.kube.watch([each.kind for each in found.kinds], "0", found.namespace, fields=fields)
    believed_at, settled = clock() + SETTLED_SECONDS, False
    try:
        while True:
            if _take(watch, store):
                store.refusals = _refusals(cluster)
            settled = settled or store.has_all(listed) or clock() >= believed_at
            yield (store if settled else listed).world(int(clock()))
    finally:
        watch.close()


def _take(watch: Watching, store: Store) -> bool:
    """A burst of changes, or a second without any; whether anything is new."""
    changed, change = False, watch.next(TICK_SECONDS)
    while change is not None:
        changed = store.take(change.type, change.object) or changed
        change = watch.next(BURST_SECONDS)
    return changed
