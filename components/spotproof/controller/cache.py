"""What the watches have delivered, as plain mappings, with the few looks from one object to another that are needed.

Thread-safe by one lock; what it hands out is never changed in place, so a reader needs none. Taking a version in costs
the same however many objects there are; what comes back from that is who has to look again.
"""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Final

from spotproof.controller.claims import came_to_nothing, is_refused, pool_of
from spotproof.controller.departed import Departed
from spotproof.controller.kinds import NAMESPACE, NODE, NODE_CLAIM, POD, POLICY, RUN, Kind, Object
from spotproof.controller.relations import (
    CHILDREN,
    MANAGED,
    OWNERS,
    Index,
    Key,
    Link,
    Owners,
    Place,
    Relation,
    job_of_owner,
    job_of_probe,
    labels,
    links,
    place,
)
from spotproof.controller.rivals import Rivals
from spotproof.vocabulary import PROBE_LABEL, SYSTEM_NAMESPACE

__all__ = ["MANAGED", "Cache", "Key", "Place", "labels", "place", "version"]

BY_LINKS: Final = frozenset({POD, NODE_CLAIM, *CHILDREN})
"""Kinds whose links alone say which jobs they concern."""
OF_A_JOB: Final = frozenset({Relation.POD_OF, Relation.CHILD_OF})
GRAVES: Final = 20_000
"""How many versions of objects that are gone are remembered: those of several minutes in a large cluster. The answer
to a write of ours can come after the watch has said that its object is gone, and must not bring it back."""


def version(thing: Object) -> int:
    """Its resourceVersion, which ranks the writes of one API server (KEP-5504)."""
    return int(thing["metadata"].get("resourceVersion", "0"))


class Cache:
    """Every watched object, the newest that was seen of each."""

    def __init__(self) -> None:
        self.departed: Final = Departed()
        """What is gone and may still have to be looked at: pods of jobs, and nodes."""
        self._lock = threading.RLock()
        self._objects: dict[Kind, dict[Place, Object]] = defaultdict(dict)
        self._index = Index()
        self._rivals = Rivals(self._index, self._objects)
        self._graves: OrderedDict[tuple[Kind, Place], int] = OrderedDict()
        self._owners = Owners()
        self._served: set[Kind] = set()
        self._concerning: Mapping[Kind, Callable[[Object], Iterator[Key]]] = {
            **dict.fromkeys(MANAGED.values(), self._by_itself),
            **{kind: partial(self._by_links, kind) for kind in CHILDREN},
            **dict.fromkeys(OWNERS.values(), self._by_owner),
            RUN: self._by_run,
            POD: self._by_pod,
            NODE: self._by_node,
            NODE_CLAIM: self._by_claim,
            POLICY: self._by_policy,
            NAMESPACE: self._by_namespace,
        }

    def put(self, kind: Kind, thing: Object) -> set[Key]:
        """Take a version of an object; an older one than is there, or than went, changes nothing.

        Returns the jobs it may concern: none where nothing but the version is new, as with a node's heartbeat.
        """
        where = place(thing)
        with self._lock:
            self._served.add(kind)
            known = self._objects[kind].get(where)
            if version(thing) < self._oldest(kind, where, known):
                return set()
            if kind == RUN and thing == known:
                # what a look has written is the end of that look, and was a sixth of what woke a job that is reclaimed
                others = self._concerned(kind, thing) - {Key(str(thing["spec"]["job"]["kind"]), *where)}
                return others.union(self._rivals.heard(thing))
            said = tuple(links(kind, thing))
            if known is not None and version(thing) > version(known) and _says_the_same(thing, known):
                self._objects[kind][where] = thing
                self._index.link(said, where, thing)
                return set()
            if kind == POLICY and known is not None and thing.get("spec") == known.get("spec"):
                # what the controller makes of it: of 10,000 jobs that name it none has to look again for that
                self._objects[kind][where] = thing
                return {_key_of_policy(thing)}
            was = () if known is None else tuple(links(kind, known))
            coming = self._coming(*was, *said) if kind == NODE_CLAIM else {}
            concerned: set[Key] = set()
            if known is not None and (was != said or kind not in BY_LINKS):
                concerned = self._concerned(kind, known)
            if was != said:
                self._index.unlink(was, where)
            self._graves.pop((kind, where), None)
            self._objects[kind][where] = thing
            self._index.link(said, where, thing)
            if kind.kind in OWNERS:
                self._owners.made_for((kind.kind, *where), job_of_owner(thing))
            elif was != said:
                self._settle(was)
            concerned.update(self._rivals.met(kind, known, thing, was, said))
            return concerned | self._concerned(kind, thing) | self._turned(coming)

    def exchange(self, kind: Kind, thing: Object, equal: Object) -> None:
        """Keep an equal object in place of this very one, unless another version has come meanwhile."""
        where = place(thing)
        with self._lock:
            if self._objects[kind].get(where) is thing:
                self._objects[kind][where] = equal
                self._index.link(links(kind, equal), where, equal)

    def drop(self, kind: Kind, thing: Object) -> set[Key]:
        """An object is gone; where a newer one of its name is there, that stays. Returns the jobs it may concern."""
        with self._lock:
            return self._drop(kind, place(thing), version(thing), thing)

    def replace(self, kind: Kind, things: Iterable[Object], selected: str = "", listed_at: int = 0) -> set[Key]:
        """A list of everything there is of one watch; what is not in it is gone. Returns the jobs it may concern.

        Args:
            kind: The kind.
            things: Its objects.
            selected: The label that every object of this watch has, where several watches share a kind.
            listed_at: The list's resourceVersion. What is newer was written meanwhile, and stays; 0 if not known.
        """
        with self._lock:
            self._served.add(kind)
            listed = {place(thing): thing for thing in things}
            gone = [
                (where, thing)
                for where, thing in self._objects[kind].items()
                if where not in listed
                and (not selected or selected in labels(thing))
                and (not listed_at or version(thing) <= listed_at)
            ]
            concerned: set[Key] = set()
            for where, thing in gone:
                concerned |= self._drop(kind, where, max(listed_at, version(thing)), thing)
            for thing in listed.values():
                concerned |= self.put(kind, thing)
            return concerned

    def withdraw(self, kind: Kind) -> set[Key]:
        """The API server does not have this kind, or not any more. Returns the jobs it may concern."""
        with self._lock:
            concerned = self.replace(kind, ())
            self._served.discard(kind)
            return concerned

    def serves(self, kind: Kind) -> bool:
        """Whether the API server has the kind, as far as it was listed."""
        with self._lock:
            return kind in self._served

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """An object, or None where none was seen."""
        with self._lock:
            return self._objects[kind].get((namespace, name))

    def all(self, kind: Kind) -> list[Object]:
        """All objects of a kind."""
        with self._lock:
            return list(self._objects[kind].values())

    def job(self, key: Key) -> Object | None:
        """A managed job."""
        return self.get(MANAGED[key.kind], key.namespace, key.name)

    def run(self, key: Key) -> Object | None:
        """The TrainingRun of that name, whichever job it is of."""
        return self.get(RUN, key.namespace, key.name)

    def policy(self, name: str) -> Object | None:
        """A FallbackPolicy."""
        return self.get(POLICY, "", name)

    def keys(self) -> list[Key]:
        """All jobs with the label."""
        with self._lock:
            return [Key(kind, *where) for kind in MANAGED for where in self._objects[MANAGED[kind]]]

    def pods(self, key: Key) -> list[Object]:
        """Pods of a job's gang: of its JobSet, or of its Ray clusters, heads included.

        Those of a cluster that has just been deleted are its job's as long as they are there.
        """
        return self._of(key, Relation.POD_OF)

    def children(self, key: Key) -> list[Object]:
        """What its operator has made of its templates: child Jobs of a JobSet."""
        return self._of(key, Relation.CHILD_OF)

    def everything(self) -> set[Key]:
        """All that who begins to act looks at once: of a job that is not here its record or a probe may be left."""
        with self._lock:
            runs = (self._by_run(run) for run in self._objects[RUN].values())
            probes = (job_of_probe(pod) for pod in self._objects[POD].values() if PROBE_LABEL in labels(pod))
            policies = (_key_of_policy(policy) for policy in self._objects[POLICY].values())
            return {*self.keys(), *chain.from_iterable(runs), *filter(None, probes), *policies}

    def _of(self, key: Key, relation: Relation) -> list[Object]:
        with self._lock:
            return [thing for owner in self._owners.of(key) for thing in self._index.at(relation, *owner).values()]

    def node(self, name: str) -> Object | None:
        """A node."""
        return self.get(NODE, "", name)

    def claim_of(self, node: str) -> Object | None:
        """The NodeClaim that became a node, whether the node is there or not; the newest, should there be two."""
        with self._lock:
            return max(self._index.at(Relation.CLAIM_OF_NODE, node).values(), key=version, default=None)

    def probes(self, pool: str) -> list[Object]:
        """Probe pods of a pool."""
        with self._lock:
            return list(self._index.at(Relation.PROBE_OF_POOL, pool).values())

    def probes_of(self, key: Key) -> list[Object]:
        """Probe pods that a job has sent out."""
        with self._lock:
            return list(self._index.at(Relation.PROBE_OF_JOB, *key).values())

    def rivals(self, key: Key, held: Iterable[Link]) -> list[Object]:
        """The other managed jobs, of any kind, that have a job's name or something of what it has to itself."""
        with self._lock:
            return [self._objects[MANAGED[each.kind]][each[1:]] for each in self._rivals.of(key, held)]

    @property
    def encounters(self) -> int:
        """How often a job has become a rival of another, as one, or no longer: while it is the same, so are rivals."""
        with self._lock:
            return self._rivals.encounters

    def claims(self, pool: str) -> list[Object]:
        """NodeClaims of a pool."""
        with self._lock:
            return list(self._index.at(Relation.CLAIM_OF_POOL, pool).values())

    def coming(self, pool: str) -> list[Object]:
        """Those of them that are no nodes yet, and are to be."""
        with self._lock:
            return list(self._index.at(Relation.CLAIM_COMING_TO_POOL, pool).values())

    def waiting(self, pool: str) -> list[Object]:
        """TrainingRuns whose jobs wait for a pool."""
        with self._lock:
            return list(self._index.at(Relation.RUN_WAITING_FOR_POOL, pool).values())

    def half_placed(self, pool: str) -> list[Object]:
        """Those of them that hold nodes of it."""
        with self._lock:
            return list(self._index.at(Relation.RUN_HALF_PLACED_ON_POOL, pool).values())

    def links(self) -> int:
        """How many links from object to object are kept: none where nothing is left."""
        with self._lock:
            return len(self._index) + len(self._owners)

    def _oldest(self, kind: Kind, where: Place, known: Object | None) -> int:
        """The lowest version that is news."""
        return self._graves.get((kind, where), -1) + 1 if known is None else version(known)

    def _drop(self, kind: Kind, where: Place, at: int, last: Object) -> set[Key]:
        known = self._objects[kind].get(where)
        if known is not None and version(known) > at:
            return set()
        self._graves[kind, where] = max(at, self._graves.pop((kind, where), 0))
        if len(self._graves) > GRAVES:
            self._graves.popitem(last=False)
        if known is None:
            return set()
        concerned, was = self._concerned(kind, known), tuple(links(kind, known))
        coming = self._coming(*was)
        if kind == NODE:
            self.departed.node(known)
        elif kind == NODE_CLAIM:
            self.departed.claim(last)
            concerned.update(self._waiting(pool_of(last)) if came_to_nothing(last) else ())
        elif kind == POD:
            for key in self._by_links(POD, known):
                self.departed.pod(key, last)
        self._index.unlink(was, where)
        del self._objects[kind][where]
        self._settle([(Relation.POD_OF, (kind.kind, *where))] if kind.kind in OWNERS else was)
        return concerned.union(self._rivals.met(kind, known, None, was, ())) | self._turned(coming)

    def _settle(self, was: Iterable[Link]) -> None:
        """Forget whose a Ray cluster was, once it and the last of its pods are gone."""
        for kind, namespace, name in (to for relation, to in was if relation == Relation.POD_OF and to[0] in OWNERS):
            gone = (namespace, name) not in self._objects[OWNERS[kind]]
            if gone and not self._index.at(Relation.POD_OF, kind, namespace, name):
                self._owners.forget((kind, namespace, name))

    def _coming(self, *said: Link) -> Mapping[str, bool]:
        """Of the pools that are named, whether a node is coming to them."""
        pools = {to[0] for relation, to in said if relation == Relation.CLAIM_OF_POOL}
        return {pool: self._comes(pool) for pool in pools}

    def _turned(self, before: Mapping[str, bool]) -> set[Key]:
        """Who waits for a pool to which the first node is coming, or none any more."""
        return {key for pool, was in before.items() if was != self._comes(pool) for key in self._waiting(pool)}

    def _comes(self, pool: str) -> bool:
        """Whether one is; of 25 launches a second hundreds are coming, and to list them was 4 % of what they took."""
        return bool(self._index.at(Relation.CLAIM_COMING_TO_POOL, pool))

    def _concerned(self, kind: Kind, thing: Object) -> set[Key]:
        return set(self._concerning[kind](thing)) if kind in self._concerning else set()

    def _by_itself(self, job: Object) -> Iterator[Key]:
        yield Key(job["kind"], *place(job))

    def _by_run(self, run: Object) -> Iterator[Key]:
        """The job it is of, and any other of its name, which may be refused because of it."""
        namespace, name = place(run)
        job = run.get("spec", {}).get("job", {})
        kinds = {kind for kind in MANAGED if (namespace, name) in self._objects[MANAGED[kind]]}
        yield from (Key(kind, namespace, name) for kind in kinds | ({job.get("kind")} & MANAGED.keys()))

    def _by_pod(self, pod: Object) -> Iterator[Key]:
        if (asking := job_of_probe(pod)) is not None:
            yield asking
        yield from self._by_links(POD, pod)

    def _by_links(self, kind: Kind, thing: Object) -> Iterator[Key]:
        """The job that a pod or a child is of; nobody's, for a probe and a Ray cluster that somebody made by hand."""
        for relation, to in links(kind, thing):
            if relation in OF_A_JOB and (job := self._owners.job(*to)) is not None:
                yield job

    def _by_owner(self, thing: Object) -> Iterator[Key]:
        yield from filter(None, [job_of_owner(thing)])

    def _by_node(self, node: Object) -> Iterator[Key]:
        yield from self._on(node["metadata"]["name"])

    def _by_claim(self, claim: Object) -> Iterator[Key]:
        """Those on the node that it became; those that ask its pool; and those that wait for it, where it says why.

        Of the launches of others, who waits for a pool learns nothing else: woken by each, 200 jobs that wait at a time
        were looked at 5 times a second.
        """
        yield from self._on(claim.get("status", {}).get("nodeName", ""))
        pool = pool_of(claim)
        yield from filter(None, map(job_of_probe, self._index.at(Relation.PROBE_OF_POOL, pool).values()))
        if is_refused(claim):
            yield from self._waiting(pool)

    def _waiting(self, pool: str) -> Iterator[Key]:
        for run in self._index.at(Relation.RUN_WAITING_FOR_POOL, pool).values():
            yield from self._by_run(run)

    def _on(self, node: str) -> Iterator[Key]:
        for pod in self._index.at(Relation.POD_ON_NODE, node).values():
            yield from self._by_pod(pod)
        for run in self._index.at(Relation.RUN_NAMING_NODE, node).values():
            yield from self._by_run(run)

    def _by_policy(self, policy: Object) -> Iterator[Key]:
        yield _key_of_policy(policy)
        yield from self._linked(Relation.JOB_UNDER_POLICY, policy["metadata"]["name"])

    def _by_namespace(self, namespace: Object) -> Iterator[Key]:
        name = namespace["metadata"]["name"]
        yield from self.keys() if name == SYSTEM_NAMESPACE else self._linked(Relation.JOB_IN_NAMESPACE, name)

    def _linked(self, relation: Relation, to: str) -> Iterator[Key]:
        return (Key(kind, *where) for kind in MANAGED for where in self._index.at(relation, kind, to))


def _key_of_policy(policy: Object) -> Key:
    return Key(POLICY.kind, *place(policy))


def _says_the_same(thing: Object, known: Object) -> bool:
    """Whether nothing but the version is new; most often the status is."""
    return {**thing, "metadata": None} == {**known, "metadata": None} and _named(thing) == _named(known)


def _named(thing: Object) -> Object:
    return {**thing["metadata"], "resourceVersion": None}
