"""Whatever is delivered, in whatever order: the cache finds what a scan of everything would."""

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.controller.cache import MANAGED, Cache, Key, labels, place, version
from spotproof.controller.kinds import (
    JOB,
    JOBSET,
    JOBSET_NAME,
    NAMESPACE,
    NODE,
    NODE_CLAIM,
    POD,
    POLICY,
    RAY_CLUSTER,
    RAY_CLUSTER_NAME,
    RAYJOB,
    RUN,
    Kind,
    Object,
)
from spotproof.controller.relations import holdings
from spotproof.vocabulary import (
    FALLBACK_POLICY_LABEL,
    POOL_LABEL,
    PROBE_LABEL,
    PROBE_OF_ANNOTATION,
    RUN_LABEL,
    SYSTEM_NAMESPACE,
)
from tests.unit.controller.objects import (
    NAMES,
    NODES,
    POOLS,
    SPACES,
    claim,
    cluster,
    of_cluster,
    of_jobset,
    pod,
    probe,
    thing_of,
)

RUNS = ("", "r")
URIS = ("", "s3://x", "/mnt/x")


def job(kind: Kind, name: str, policy: str, run: str, uri: str, *, ended: bool) -> Object:  # noqa: PLR0913 - what jobs differ in
    """One that has its run and its checkpoint to itself, or has not."""
    carried = {FALLBACK_POLICY_LABEL: policy, **({RUN_LABEL: run} if run else {})}
    made = thing_of(kind, "team", name, 0, labels=carried)
    if kind == RAYJOB:
        spec: Object = {"runtimeEnvYAML": f"env_vars: {{CHECKPOINT_URI: '{uri}'}}"} if uri else {}
        return made | {"spec": spec, "status": {"jobDeploymentStatus": "Complete" if ended else "Running"}}
    env = [{"name": "CHECKPOINT_URI", "value": uri}] if uri else []
    pods = {"spec": {"template": {"spec": {"containers": [{"env": env}]}}}}
    status = {"terminalState": "Completed"} if ended else {}
    return made | {"spec": {"replicatedJobs": [{"name": "w", "template": pods}]}, "status": status}


def bar(thing: Object) -> tuple[str, str, str, bool]:
    """Policy, run and place of a job, and whether it is over."""
    spec, status = thing["spec"], thing["status"]
    told = spec.get("runtimeEnvYAML", "") if thing["kind"] == "RayJob" else str(spec)
    uri = next((each for each in URIS[1:] if f"'{each}'" in told), "")
    carried = labels(thing)
    return carried[FALLBACK_POLICY_LABEL], carried.get(RUN_LABEL, ""), uri, "Complete" in str(status)


_jobs = {
    kind: st.builds(
        job,
        st.just(kind),
        st.sampled_from(NAMES),
        st.sampled_from(("standard", "other")),
        st.sampled_from(RUNS),
        st.sampled_from(URIS),
        ended=st.booleans(),
    )
    for kind in (JOBSET, RAYJOB)
}


def child(name: str, of: str) -> Object:
    return thing_of(JOB, "team", name, 0, labels=of_jobset(of))


def run(name: str, kind: str, finding: str, nodes: list[str], managed: str) -> Object:
    status: Object = {"interruption": {"finding": finding, "nodes": nodes} if finding else None}
    status |= {"conditions": [{"type": "Accepted", "status": managed}]}
    of = {"kind": kind, "name": name, "uid": name}
    return thing_of(RUN, "team", name, 0) | {"spec": {"job": of}, "status": status}


def _named(kind: Kind, *names: str) -> st.SearchStrategy[Object]:
    return st.builds(thing_of, st.just(kind), st.just(""), st.sampled_from(names), st.just(0))


_pods = st.builds(
    pod,
    st.one_of(st.sampled_from(NAMES).map(of_jobset), st.sampled_from(("c", "d")).map(of_cluster)),
    st.sampled_from(("p", "q", "r")),
    st.just(0),
    st.sampled_from(("", *NODES)),
)
_probes = st.builds(
    probe,
    st.sampled_from(("JobSet/team/a", "RayJob/team/b", "nonsense", "Deployment/team/a")),
    st.just(0),
    st.sampled_from(POOLS),
    st.sampled_from(("", *NODES)),
)
_things: dict[Kind, st.SearchStrategy[Object]] = {
    **_jobs,
    POD: st.one_of(_pods, _probes),
    JOB: st.builds(child, st.sampled_from(("j", "k")), st.sampled_from(NAMES)),
    RAY_CLUSTER: st.sampled_from((cluster("c", 0, "a"), cluster("d", 0, "b"))),
    NODE: _named(NODE, *NODES),
    NODE_CLAIM: st.builds(
        claim, st.sampled_from(("k", "l")), st.just(0), st.sampled_from(("", *NODES)), st.sampled_from(POOLS)
    ),
    POLICY: _named(POLICY, "standard", "other"),
    RUN: st.builds(
        run,
        st.sampled_from(NAMES),
        st.sampled_from(tuple(MANAGED)),
        st.sampled_from(("", "undecided", "eviction")),
        st.lists(st.sampled_from(NODES), unique=True),
        st.sampled_from(("True", "False")),
    ),
    NAMESPACE: _named(NAMESPACE, *SPACES),
}


def _several(kind: Kind) -> st.SearchStrategy[tuple[Kind, list[Object]]]:
    return st.tuples(st.just(kind), st.lists(_things[kind]))


def _single(kind: Kind) -> st.SearchStrategy[tuple[Kind, Object]]:
    return st.tuples(st.just(kind), _things[kind])


_late = st.one_of(st.just(0), st.integers(0, 12))
"""How many versions late it comes: mostly not."""
_step = st.one_of(
    st.tuples(st.sampled_from(("put", "drop")), st.sampled_from(list(_things)).flatmap(_single), _late),
    st.tuples(st.just("replace"), st.sampled_from(list(_things)).flatmap(_several), _late),
)


def _at(thing: Object, at: int) -> Object:
    return {**thing, "metadata": {**thing["metadata"], "resourceVersion": str(at)}}


class Scan:
    """The same answers from a look at everything, and a memory of what is gone and whose Ray clusters were."""

    def __init__(self) -> None:
        self.there: dict[tuple[Kind, tuple[str, str]], Object] = {}
        self.gone: dict[tuple[Kind, tuple[str, str]], int] = {}
        self.owners: dict[tuple[str, str], str] = {}
        self.unheard: set[tuple[str, str]] = set()

    def put(self, kind: Kind, thing: Object) -> None:
        key = (kind, place(thing))
        known = self.there.get(key)
        if version(thing) > self.gone.get(key, -1) and (known is None or version(thing) >= version(known)):
            if kind == RUN:
                told = known is not None and known == thing
                turned = told or is_managed(known) != is_managed(thing)
                (self.unheard.discard if told else self.unheard.add if turned else set[Any]().add)(key[1])
            self.there[key] = thing
            self.gone.pop(key, None)
        self._owners()

    def drop(self, kind: Kind, thing: Object) -> None:
        key = (kind, place(thing))
        if key in self.there and version(self.there[key]) > version(thing):
            return
        if kind == RUN:
            self.unheard.discard(key[1])
        self.there.pop(key, None)
        self.gone[key] = max(version(thing), self.gone.get(key, 0))
        self._owners()

    def replace(self, kind: Kind, things: list[Object], at: int) -> None:
        names = {place(thing) for thing in things}
        for (other, where), thing in list(self.there.items()):
            if other == kind and where not in names and version(thing) <= at:
                self.drop(kind, _at(thing, at))
        for thing in {place(thing): thing for thing in things}.values():
            self.put(kind, thing)

    def _owners(self) -> None:
        clusters = {place(each): each["metadata"]["ownerReferences"][0]["name"] for each in self.of(RAY_CLUSTER)}
        used = {("team", labels(each)[RAY_CLUSTER_NAME]) for each in self.of(POD) if RAY_CLUSTER_NAME in labels(each)}
        kept = {where: owner for where, owner in self.owners.items() if where in used}
        self.owners = kept | clusters

    def of(self, kind: Kind) -> list[Object]:
        return [thing for (other, _), thing in self.there.items() if other == kind]

    def rivals(self, key: Key, *jobs: Object) -> set[Key]:
        """The others of its name, its run or its place, as it is, or was and is."""
        found = {Key(each["kind"], *place(each)): bar(each) for one in MANAGED.values() for each in self.of(one)}
        runs, uris = ({bar(each)[part] for each in jobs} - {""} for part in (1, 2))
        others = {other for other, of in found.items() if other.name == key.name or of[1] in runs or of[2] in uris}
        return others - {key}

    def of_run(self, run: Object) -> set[Key]:
        """Who has to look where the record of a job says something else of whether it is managed."""
        key = Key(run["spec"]["job"]["kind"], *place(run))
        job = self.there.get((MANAGED[key.kind], key[1:]))
        return set() if job is None else self.rivals(key, job)

    def met(self, kind: Kind, known: Object | None, new: Object | None) -> set[Key]:
        """Who has to look again as one version follows another, beside whom it concerns by itself."""
        there = [each for each in (known, new) if each is not None]
        if kind == RUN:
            return self.of_run(there[-1]) if there and is_managed(known) != is_managed(new) else set()
        if kind not in MANAGED.values() or (len(there) > 1 and bar(there[0]) == bar(there[1])):
            return set()
        return self.rivals(Key(kind.kind, *place(there[-1])), *there) if there else set()

    def pods(self, key: Key) -> list[Object]:
        return [each for each in self.of(POD) if key in self.jobs_of_pod(each) and PROBE_LABEL not in labels(each)]

    def jobs_of_pod(self, pod: Object) -> Iterator[Key]:
        carried = labels(pod)
        if PROBE_LABEL in carried:
            parts = pod["metadata"]["annotations"][PROBE_OF_ANNOTATION].split("/")
            if len(parts) == 3 and parts[0] in MANAGED:
                yield Key(*parts)
        elif JOBSET_NAME in carried:
            yield Key("JobSet", "team", carried[JOBSET_NAME])
        elif (where := ("team", carried[RAY_CLUSTER_NAME])) in self.owners:
            yield Key("RayJob", "team", self.owners[where])

    def concerned(self, kind: Kind, thing: Object) -> set[Key]:
        name = thing["metadata"]["name"]
        managed = {Key(each["kind"], *place(each)): each for one in MANAGED.values() for each in self.of(one)}

        def on(node: str) -> set[Key]:
            return {
                key
                for each in self.of(POD)
                if node and each["spec"].get("nodeName") == node
                for key in self.jobs_of_pod(each)
            } | {
                key
                for each in self.of(RUN)
                if (open_ := each["status"]["interruption"]) and open_["finding"] != "eviction"
                if node in open_["nodes"]
                for key in of_run(each)
            }

        def of_run(run: Object) -> set[Key]:
            name = run["metadata"]["name"]
            return {key for key in managed if key.name == name} | {Key(run["spec"]["job"]["kind"], "team", name)}

        def asking(pool: str) -> set[Key]:
            probes = [each for each in self.of(POD) if labels(each).get(PROBE_LABEL) == pool]
            return {key for each in probes for key in self.jobs_of_pod(each)}

        looks: dict[Kind, Callable[[], set[Key]]] = {
            POD: lambda: set(self.jobs_of_pod(thing)),
            JOB: lambda: {Key("JobSet", "team", labels(thing)[JOBSET_NAME])},
            RAY_CLUSTER: lambda: {Key("RayJob", "team", thing["metadata"]["ownerReferences"][0]["name"])},
            NODE: lambda: on(name),
            NODE_CLAIM: lambda: on(thing["status"].get("nodeName", "")) | asking(labels(thing)[POOL_LABEL]),
            POLICY: lambda: {
                Key(POLICY.kind, "", name),
                *(key for key in managed if labels(managed[key])[FALLBACK_POLICY_LABEL] == name),
            },
            NAMESPACE: lambda: {key for key in managed if name in {SYSTEM_NAMESPACE, key.namespace}},
            RUN: lambda: of_run(thing),
        }
        return looks.get(kind, lambda: {Key(kind.kind, *place(thing))})()


def is_managed(run: Object | None) -> bool:
    return run is not None and run["status"]["conditions"][0]["status"] == "True"


def _same(found: list[Object], expected: list[Object]) -> bool:
    return sorted(found, key=str) == sorted(expected, key=str)


@settings(max_examples=400)
@given(st.lists(_step, max_size=40))
def test_after_any_sequence_it_finds_and_wakes_what_a_scan_of_everything_would(steps: list[Any]) -> None:
    cache, scan = Cache(), Scan()
    for number, (verb, (kind, what), late) in enumerate(steps):
        at = max(1, 3 * number - late)
        if verb == "replace":
            listed = [_at(thing, max(1, at - older)) for older, thing in enumerate(what)]
            cache.replace(kind, listed, listed_at=at)
            scan.replace(kind, listed, at)
        elif verb == "drop":
            known = scan.there.get((kind, place(what)))
            before = set[Key]() if known is None else scan.concerned(kind, known)
            woken = cache.drop(kind, _at(what, at))
            scan.drop(kind, _at(what, at))
            before |= scan.met(kind, known, None)
            assert woken == (before if known is not None and (kind, place(what)) not in scan.there else set())
        else:
            new = _at(what, at)
            known = scan.there.get((kind, place(what)))
            before = set[Key]() if known is None else scan.concerned(kind, known)
            woken = cache.put(kind, new)
            unheard = place(new) in scan.unheard
            scan.put(kind, new)
            taken = scan.there.get((kind, place(what))) is new
            silent = known is not None and _at(known, at) == new and version(known) < at
            concerned = (before | scan.concerned(kind, new)) if taken and not silent else set[Key]()
            if taken and not silent:
                concerned |= scan.met(kind, known, new)
            if kind == RUN and known == new:
                concerned.discard(Key(new["spec"]["job"]["kind"], *place(new)))
                concerned |= scan.of_run(new) if unheard else set()
            if kind == POLICY and known is not None:
                concerned &= {Key(POLICY.kind, *place(new))}  # nobody has edited it
            assert woken == concerned
    finds_the_same(cache, scan)


def finds_the_same(cache: Cache, scan: Scan) -> None:
    for kind in _things:
        assert _same(cache.all(kind), scan.of(kind))
    for key in [Key(kind, "team", name) for kind in MANAGED for name in NAMES]:
        assert _same(cache.pods(key), scan.pods(key))
        children = [each for each in scan.of(JOB) if labels(each)[JOBSET_NAME] == key.name]
        assert _same(cache.children(key), children if key.kind == "JobSet" else [])
        asking = [each for each in scan.of(POD) if PROBE_LABEL in labels(each) and key in scan.jobs_of_pod(each)]
        assert _same(cache.probes_of(key), asking)
    for each in (*scan.of(JOBSET), *scan.of(RAYJOB)):
        key = Key(each["kind"], *place(each))
        assert {Key(one["kind"], *place(one)) for one in cache.rivals(key, holdings(each))} == scan.rivals(key, each)
    for node in NODES:
        claims = [each for each in scan.of(NODE_CLAIM) if each["status"].get("nodeName") == node]
        found = cache.claim_of(node)
        assert (found is None) == (not claims)
        assert found is None or version(found) == max(map(version, claims))
    for pool in POOLS:
        assert _same(cache.probes(pool), [each for each in scan.of(POD) if labels(each).get(PROBE_LABEL) == pool])
