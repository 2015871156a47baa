"""The cache: what it finds and whom it wakes is what a look at all objects would give."""

from collections.abc import Callable, Iterator, Mapping
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
from spotproof.vocabulary import (
    FALLBACK_POLICY_LABEL,
    POOL_LABEL,
    PROBE_LABEL,
    PROBE_OF_ANNOTATION,
    SYSTEM_NAMESPACE,
)

SPACES = ("team", SYSTEM_NAMESPACE)
NAMES = ("a", "b")
NODES = ("n1", "n2")
POOLS = ("spot", "od")


def _thing(kind: Kind, namespace: str, name: str, at: int, **meta: Any) -> Object:
    where = {"namespace": namespace} if namespace else {}
    return {"kind": kind.kind, "metadata": {"name": name, **where, "uid": name, "resourceVersion": str(at), **meta}}


def jobset(name: str = "a", at: int = 1, policy: str = "standard", namespace: str = "team", **more: Any) -> Object:
    return _thing(JOBSET, namespace, name, at, labels={FALLBACK_POLICY_LABEL: policy}) | more


def rayjob(name: str = "a", at: int = 1, policy: str = "standard", namespace: str = "team") -> Object:
    return _thing(RAYJOB, namespace, name, at, labels={FALLBACK_POLICY_LABEL: policy})


def pod(carried: Mapping[str, str], name: str = "p", at: int = 1, node: str = "n1") -> Object:
    return _thing(POD, "team", name, at, labels=dict(carried)) | {"spec": {"nodeName": node} if node else {}}


def of_jobset(jobset: str) -> dict[str, str]:
    return {JOBSET_NAME: jobset}


def of_cluster(cluster: str) -> dict[str, str]:
    return {RAY_CLUSTER_NAME: cluster}


def probe(job: str = "JobSet/team/a", at: int = 1, pool: str = "spot", node: str = "") -> Object:
    meta = {"labels": {PROBE_LABEL: pool}, "annotations": {PROBE_OF_ANNOTATION: job}}
    return _thing(POD, SYSTEM_NAMESPACE, "probe", at, **meta) | {"spec": {"nodeName": node} if node else {}}


def cluster(name: str = "c", at: int = 1, owner: str = "a", namespace: str = "team") -> Object:
    owners = [{"kind": "RayJob", "name": owner, "uid": "1"}] if owner else []
    return _thing(RAY_CLUSTER, namespace, name, at, ownerReferences=owners)


def claim(name: str = "k", at: int = 1, node: str = "", pool: str = "spot") -> Object:
    status = {"conditions": [], **({"nodeName": node} if node else {})}
    return _thing(NODE_CLAIM, "", name, at, labels={POOL_LABEL: pool}) | {"status": status}


A = Key("JobSet", "team", "a")
RAY = Key("RayJob", "team", "a")


def test_an_older_version_changes_nothing_and_wakes_nobody() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(at=5, policy="new"))
    assert cache.put(JOBSET, jobset(at=4, policy="old")) == set()
    assert labels(cache.job(A) or {})[FALLBACK_POLICY_LABEL] == "new"


def test_an_answer_that_comes_after_the_end_of_its_object_does_not_bring_it_back() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(at=5))
    cache.drop(JOBSET, jobset(at=9))
    assert cache.put(JOBSET, jobset(at=8)) == set()
    assert cache.job(A) is None
    assert cache.put(JOBSET, jobset(at=10)) == {A}, "another one of that name"


def test_an_end_that_was_seen_before_the_object_holds() -> None:
    cache = Cache()
    assert cache.drop(JOBSET, jobset(at=9)) == set()
    assert cache.put(JOBSET, jobset(at=8)) == set()
    assert cache.job(A) is None


def test_what_was_written_after_a_list_was_taken_outlives_the_list() -> None:
    cache = Cache()
    cache.put(RUN, _thing(RUN, "team", "a", 20))
    cache.put(RUN, _thing(RUN, "team", "b", 10))
    cache.replace(RUN, [], listed_at=15)
    assert cache.run(A) is not None
    assert cache.run(Key("JobSet", "team", "b")) is None


def test_a_list_of_one_watch_leaves_the_objects_of_another_alone() -> None:
    cache = Cache()
    cache.put(POD, pod(of_jobset("a"), "worker"))
    cache.put(POD, probe())
    cache.replace(POD, [], PROBE_LABEL)
    assert [each["metadata"]["name"] for each in cache.all(POD)] == ["worker"]


def test_a_version_that_says_the_same_wakes_nobody_and_its_own_echo_does() -> None:
    cache = Cache()
    cache.put(POD, pod(of_jobset("a"), at=1))
    assert cache.put(POD, pod(of_jobset("a"), at=2)) == set()
    assert version(cache.all(POD)[0]) == 2, "a patch must name the newest version"
    assert cache.put(POD, pod(of_jobset("a"), at=2)) == {A}


def test_pods_that_come_before_their_ray_cluster_are_found_when_it_comes() -> None:
    cache = Cache()
    assert cache.put(POD, pod(of_cluster("c"))) == set()
    assert cache.put(RAY_CLUSTER, cluster()) == {RAY}
    assert len(cache.pods(RAY)) == 1
    assert cache.put(POD, pod(of_cluster("c"), at=2, node="n2")) == {RAY}


def test_pods_of_a_ray_cluster_that_is_gone_are_its_jobs_until_the_last_goes() -> None:
    cache = Cache()
    cache.put(RAY_CLUSTER, cluster())
    for name in ("p", "q"):
        cache.put(POD, pod(of_cluster("c"), name))
    cache.drop(RAY_CLUSTER, cluster(at=3))
    assert len(cache.pods(RAY)) == 2
    assert cache.drop(POD, pod(of_cluster("c"), "p", at=4)) == {RAY}
    assert cache.drop(POD, pod(of_cluster("c"), "q", at=5)) == {RAY}
    assert cache.pods(RAY) == []
    assert {each["metadata"]["name"] for each in cache.departed.pods_of(RAY)} == {"p", "q"}


def test_a_node_claim_concerns_those_who_ask_its_pool_before_it_has_a_node() -> None:
    cache = Cache()
    cache.put(POD, probe(pool="spot"))
    assert cache.put(NODE_CLAIM, claim(pool="spot")) == {A}
    assert cache.put(NODE_CLAIM, claim("other", pool="od")) == set()


def test_a_probe_concerns_the_job_that_asks() -> None:
    cache = Cache()
    assert cache.put(POD, probe("RayJob/team/a")) == {RAY}
    assert cache.put(NODE, _thing(NODE, "", "n1", 1)) == set()
    assert cache.put(POD, probe("RayJob/team/a", at=2, node="n1")) == {RAY}
    assert cache.put(NODE, _thing(NODE, "", "n1", 2, labels={"a": "b"})) == {RAY}


def test_a_namespace_concerns_its_jobs_and_the_systems_own_all_of_them() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(namespace="team"))
    cache.put(RAYJOB, rayjob(namespace="other"))
    assert cache.put(NAMESPACE, _thing(NAMESPACE, "", "team", 1)) == {A}
    assert cache.put(NAMESPACE, _thing(NAMESPACE, "", SYSTEM_NAMESPACE, 1)) == {A, Key("RayJob", "other", "a")}


def test_a_policy_concerns_the_jobs_that_name_it_also_when_it_goes() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(policy="standard"))
    cache.put(JOBSET, jobset("b", policy="other"))
    assert cache.put(POLICY, _thing(POLICY, "", "standard", 1)) == {A}
    assert cache.drop(POLICY, _thing(POLICY, "", "standard", 2)) == {A}


def test_a_run_concerns_every_job_of_its_name() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset())
    cache.put(RAYJOB, rayjob())
    run = _thing(RUN, "team", "a", 1) | {"spec": {"job": {"kind": "JobSet", "name": "a"}}}
    assert cache.put(RUN, run) == {A, RAY}
    cache.drop(RAYJOB, rayjob(at=3))
    assert cache.drop(RUN, _thing(RUN, "team", "a", 2)) == {A}


def test_a_kind_is_served_once_it_was_listed_and_not_when_it_was_withdrawn() -> None:
    cache = Cache()
    assert not cache.serves(JOBSET)
    cache.replace(JOBSET, [jobset()])
    assert cache.serves(JOBSET)
    assert cache.withdraw(JOBSET) == {A}
    assert not cache.serves(JOBSET)
    assert cache.job(A) is None


def test_a_removed_label_takes_a_job_out_of_its_policy() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(policy="standard"))
    cache.put(JOBSET, jobset(at=2, policy="other"))
    assert cache.put(POLICY, _thing(POLICY, "", "standard", 1)) == set()


def test_nothing_is_left_of_what_is_gone() -> None:
    cache = Cache()
    things = {
        JOBSET: jobset(),
        RAYJOB: rayjob(),
        RAY_CLUSTER: cluster(),
        POD: pod(of_cluster("c")),
        NODE_CLAIM: claim(node="n1"),
    }
    for kind, thing in things.items():
        cache.put(kind, thing)
    for kind in things:
        cache.replace(kind, [], listed_at=9)
    assert cache.links() == 0


# ---- any sequence, against a scan of everything ----

_jobs = {
    JOBSET: st.builds(jobset, st.sampled_from(NAMES), st.just(0), st.sampled_from(("standard", "other"))),
    RAYJOB: st.builds(rayjob, st.sampled_from(NAMES), st.just(0), st.sampled_from(("standard", "other"))),
}


def child(name: str, of: str) -> Object:
    return _thing(JOB, "team", name, 0, labels=of_jobset(of))


def run(name: str, kind: str) -> Object:
    return _thing(RUN, "team", name, 0) | {"spec": {"job": {"kind": kind, "name": name}}}


def _named(kind: Kind, *names: str) -> st.SearchStrategy[Object]:
    return st.builds(_thing, st.just(kind), st.just(""), st.sampled_from(names), st.just(0))


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
    RUN: st.builds(run, st.sampled_from(NAMES), st.sampled_from(tuple(MANAGED))),
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

    def put(self, kind: Kind, thing: Object) -> None:
        key = (kind, place(thing))
        known = self.there.get(key)
        if version(thing) > self.gone.get(key, -1) and (known is None or version(thing) >= version(known)):
            self.there[key] = thing
            self.gone.pop(key, None)
        self._owners()

    def drop(self, kind: Kind, thing: Object) -> None:
        key = (kind, place(thing))
        if key in self.there and version(self.there[key]) > version(thing):
            return
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
            }

        def asking(pool: str) -> set[Key]:
            probes = [each for each in self.of(POD) if labels(each).get(PROBE_LABEL) == pool]
            return {key for each in probes for key in self.jobs_of_pod(each)}

        looks: dict[Kind, Callable[[], set[Key]]] = {
            POD: lambda: set(self.jobs_of_pod(thing)),
            JOB: lambda: {Key("JobSet", "team", labels(thing)[JOBSET_NAME])},
            RAY_CLUSTER: lambda: {Key("RayJob", "team", thing["metadata"]["ownerReferences"][0]["name"])},
            NODE: lambda: on(name),
            NODE_CLAIM: lambda: on(thing["status"].get("nodeName", "")) | asking(labels(thing)[POOL_LABEL]),
            POLICY: lambda: {key for key in managed if labels(managed[key])[FALLBACK_POLICY_LABEL] == name},
            NAMESPACE: lambda: {key for key in managed if name in {SYSTEM_NAMESPACE, key.namespace}},
            RUN: lambda: (
                {key for key in managed if key.name == name} | {Key(thing["spec"]["job"]["kind"], "team", name)}
            ),
        }
        return looks.get(kind, lambda: {Key(kind.kind, *place(thing))})()


def _same(found: list[Object], expected: list[Object]) -> bool:
    return sorted(found, key=str) == sorted(expected, key=str)


@settings(max_examples=400, deadline=None)
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
            assert woken == (before if known is not None and (kind, place(what)) not in scan.there else set())
        else:
            new = _at(what, at)
            known = scan.there.get((kind, place(what)))
            before = set[Key]() if known is None else scan.concerned(kind, known)
            woken = cache.put(kind, new)
            scan.put(kind, new)
            taken = scan.there.get((kind, place(what))) is new
            silent = known is not None and _at(known, at) == new and version(known) < at
            assert woken == ((before | scan.concerned(kind, new)) if taken and not silent else set())
    for kind in _things:
        assert _same(cache.all(kind), scan.of(kind))
    for key in [Key(kind, "team", name) for kind in MANAGED for name in NAMES]:
        assert _same(cache.pods(key), scan.pods(key))
        children = [each for each in scan.of(JOB) if labels(each)[JOBSET_NAME] == key.name]
        assert _same(cache.jobs(key), children if key.kind == "JobSet" else [])
        asking = [each for each in scan.of(POD) if PROBE_LABEL in labels(each) and key in scan.jobs_of_pod(each)]
        assert _same(cache.probes_of(key), asking)
    assert _same(cache.managed_in("team"), [*scan.of(JOBSET), *scan.of(RAYJOB)])
    for node in NODES:
        claims = [each for each in scan.of(NODE_CLAIM) if each["status"].get("nodeName") == node]
        found = cache.claim_of(node)
        assert (found is None) == (not claims)
        assert found is None or version(found) == max(map(version, claims))
    for pool in POOLS:
        assert _same(cache.probes(pool), [each for each in scan.of(POD) if labels(each).get(PROBE_LABEL) == pool])
