"""What puts the fallback controller onto a cluster, on a real API server: its kinds, its rights, its Deployment."""

import copy
import json
import ssl
import urllib.request
from typing import Any, Final

import pytest

from spotproof.kube.client import Kube, Refused
from spotproof.manifests import fallback_policy, training_run
from spotproof.manifests.claim_admission import claim_admission
from spotproof.manifests.controller import SELECTOR, controller
from spotproof.manifests.controller_rights import AT_HOME, IN_A_WORKSPACE, IN_THE_CLUSTER, NAME, Right
from spotproof.manifests.progress_admission import progress_admission
from spotproof.manifests.workspaces import workspace
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.settings.environment import Workspace
from spotproof.settings.operators import EXAMPLE_IMAGE
from spotproof.vocabulary import API_VERSION, PROGRESS_ANNOTATION, SYSTEM_LABEL, SYSTEM_NAMESPACE
from tests.e2e.kit import node
from tests.e2e.stacks import Object, make
from tests.e2e.test_members import ALL, allowed
from tests.unit.manifests.crds import filled, schema_of
from tests.unit.manifests.test_controller import system_placing

HOME: Final = "research"
ELSEWHERE: Final = "somebody"
"""A namespace that is no workspace."""
CONTROLLER: Final = (f"system:serviceaccount:{SYSTEM_NAMESPACE}:{NAME}", ("system:serviceaccounts",))
TRAINER: Final = (f"system:serviceaccount:{HOME}:trainer", ("system:serviceaccounts",))
KIND: Final = (API_VERSION, "TrainingRun")
SYSTEM_TAINT: Final = {"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}
WHERE: Final = {"": "default", HOME: HOME, SYSTEM_NAMESPACE: SYSTEM_NAMESPACE}
ASKED: Final = (
    *("/secrets", "/configmaps", "/serviceaccounts", "/serviceaccounts/token", "/pods/exec", "/pods/log", "/events"),
    *("apps/deployments", "rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/clusterrolebindings"),
    *("karpenter.sh/nodepools", "jobset.x-k8s.io/jobsets/status", "ray.io/rayjobs/status", "ray.io/rayservices"),
)
"""What it has no right to anywhere, asked beside all that it has one to."""


@pytest.fixture(scope="module")
def kube(plane: ControlPlane) -> Kube:
    """An API server with both kinds, the controller's objects, a workspace and a namespace that is none."""
    kinds: list[Any] = [fallback_policy.crd(), training_run.crd(), *progress_admission(), *claim_admission()]
    made: list[Any] = controller(EXAMPLE_IMAGE, system_placing())
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ELSEWHERE}}
    make(plane.kube, [*kinds, *made, *workspace(Workspace(namespace=HOME), controller=True), namespace])
    plane.kube.wait(lambda: allowed(plane.kube, CONTROLLER, "delete", "/pods", HOME), "the bindings to hold", 30)
    return plane.kube


def run(name: str, namespace: str = HOME) -> Object:
    spec = filled(schema_of(dict(training_run.crd()))["properties"]["spec"])
    return {"apiVersion": KIND[0], "kind": KIND[1], "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def test_both_kinds_are_established_without_an_objection(kube: Kube) -> None:
    for kind in ("fallbackpolicies", "trainingruns"):
        found = kube.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{kind}.spotproof.dev")
        conditions = {each["type"]: each["status"] for each in found["status"]["conditions"]}
        assert conditions["Established"] == conditions["NamesAccepted"] == "True"
        assert "NonStructuralSchema" not in conditions


def test_a_status_with_everything_in_it_is_stored_as_it_was_written(plane: ControlPlane, kube: Kube) -> None:
    here = plane.as_user(*CONTROLLER)
    status = filled(schema_of(dict(training_run.crd()))["properties"]["status"])
    made = here.create(run("whole")).object
    as_read = {"op": "test", "path": "/metadata/resourceVersion", "value": made["metadata"]["resourceVersion"]}

    here.patch(*KIND, "whole", [as_read, {"op": "add", "path": "/status", "value": status}], HOME, subresource="status")

    assert kube.get(*KIND, "whole", HOME)["status"] == status
    with pytest.raises(Refused) as refused:  # the same, read before that
        here.patch(*KIND, "whole", [as_read, {"op": "remove", "path": "/status"}], HOME, subresource="status")
    assert refused.value.status == 422
    here.delete(*KIND, "whole", HOME)


def table(plane: ControlPlane, namespace: str) -> Object:
    """What kubectl asks for, to print a line a run."""
    folder = plane.site.user("rehearsal-admin", ("system:masters",))
    context = ssl.create_default_context(cafile=str(plane.site.certificates.authority))
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    request = urllib.request.Request(  # noqa: S310 - the API server that was started here
        f"{plane.address}/apis/{API_VERSION}/namespaces/{namespace}/trainingruns",
        headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
    )
    with urllib.request.urlopen(request, context=context) as answer:  # noqa: S310 - the same
        return json.load(answer)


def test_a_line_tells_where_a_job_is_and_why(plane: ControlPlane, kube: Kube) -> None:
    kube.create(run("line"))
    status = {"phase": "Waiting", "tier": "a100-spot", "attempt": 2, "evictions": 3, "errors": 0, "reason": "Dry"}
    kube.patch(*KIND, "line", {"status": {**status, "message": "No room."}}, HOME, subresource="status")

    found = table(plane, HOME)

    cells = dict(zip([each["name"] for each in found["columnDefinitions"]], found["rows"][0]["cells"], strict=True))
    shown = ("Name", "Policy", "Tier", "Phase", "Attempt", "Evictions", "Errors", "Reason")
    assert [cells[name] for name in shown] == ["line", "a", "a100-spot", "Waiting", 2, 3, 0, "Dry"]
    wide = [each["name"] for each in found["columnDefinitions"] if each["priority"] == 1]
    assert (wide, cells["Message"]) == (["Job", "Message"], "No room.")
    kube.delete(*KIND, "line", HOME)


def test_a_run_stays_with_its_job_and_may_change_its_policy(kube: Kube) -> None:
    kube.create(run("fixed"))

    kube.patch(*KIND, "fixed", {"spec": {"policy": "another"}}, HOME)

    with pytest.raises(Refused, match="a TrainingRun is of one job for ever"):
        kube.patch(*KIND, "fixed", {"spec": {"job": {"uid": "another"}}}, HOME)
    kube.delete(*KIND, "fixed", HOME)


def test_a_trainer_reports_its_progress_and_changes_nothing_else(plane: ControlPlane, kube: Kube) -> None:
    owned = run("train")
    job = kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "job", "namespace": HOME}}).object
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "job", "uid": job["metadata"]["uid"]}
    owned["metadata"] |= {"labels": {"team": "a"}, "annotations": {"note": "mine"}, "ownerReferences": [owner]}
    kube.create(owned)
    trainer = plane.as_user(*TRAINER)

    def report(value: str) -> Object:
        return trainer.patch(*KIND, "train", {"metadata": {"annotations": {PROGRESS_ANNOTATION: value}}}, HOME).object

    # A new policy is asked about two seconds after it is made, and until then nobody is.
    kube.wait(lambda: _is_refused(lambda: report("soon")), "the admission policy to hold", 30)
    assert report("5400")["metadata"]["annotations"] == {"note": "mine", PROGRESS_ANNOTATION: "5400"}
    assert report("7200")["metadata"]["annotations"][PROGRESS_ANNOTATION] == "7200"
    before = kube.get(*KIND, "train", HOME)

    for change in (
        {"spec": {"policy": "cheap"}},
        {"metadata": {"annotations": {"note": "yours"}}},
        {"metadata": {"annotations": {"note": None}}},
        {"metadata": {"labels": {"team": "b"}}},
        {"metadata": {"labels": None}},
        {"metadata": {"ownerReferences": []}},
        {"metadata": {"finalizers": ["example.org/never"]}},
        {"metadata": {"annotations": {PROGRESS_ANNOTATION: "7200", "spotproof.dev/move": "1"}}},
    ):
        with pytest.raises(Refused, match=f"A job may set the annotation {PROGRESS_ANNOTATION}") as refused:
            trainer.patch(*KIND, "train", change, HOME)
        assert refused.value.status == 403, change
    with pytest.raises(Refused, match='cannot patch resource "trainingruns/status"'):
        trainer.patch(*KIND, "train", {"status": {"phase": "Succeeded"}}, HOME, subresource="status")
    assert kube.get(*KIND, "train", HOME) == before

    # The controller is somebody else, and may.
    plane.as_user(*CONTROLLER).patch(*KIND, "train", {"spec": {"policy": "cheap"}}, HOME)
    kube.delete(*KIND, "train", HOME)


def _is_refused(write: Any) -> bool:
    try:
        write()
    except Refused:
        return True
    return False


def named(right: Right) -> list[str]:
    return [f"{right.group}/{resource}" for resource in right.resources]


def rights(namespace: str) -> set[tuple[str, str]]:
    """Verbs and kinds that the tables give in a namespace; "" is one that is neither a workspace nor its own."""
    tables = {"": (), HOME: IN_A_WORKSPACE, SYSTEM_NAMESPACE: AT_HOME}
    given = [*IN_THE_CLUSTER, *(right for right in tables[namespace] if not right.names)]
    return {(verb, kind) for right in given for kind in named(right) for verb in right.verbs}


@pytest.mark.parametrize("namespace", WHERE, ids=lambda name: name or "anywhere else")
def test_the_controller_may_do_what_its_tables_say_and_nothing_else(kube: Kube, namespace: str) -> None:
    every = {kind for right in (*IN_THE_CLUSTER, *IN_A_WORKSPACE, *AT_HOME) for kind in named(right)}

    may = {
        (verb, kind)
        for kind in sorted(every | set(ASKED))
        for verb in ALL
        if allowed(kube, CONTROLLER, verb, kind, WHERE[namespace])
    }

    assert may == rights(namespace)


def test_it_keeps_its_own_lease_and_no_other(plane: ControlPlane) -> None:
    here = plane.as_user(*CONTROLLER)
    lease: Object = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": NAME, "namespace": SYSTEM_NAMESPACE},
        "spec": {"holderIdentity": "one", "leaseDurationSeconds": 15},
    }
    here.create(lease)
    here.patch("coordination.k8s.io/v1", "Lease", NAME, {"spec": {"holderIdentity": "two"}}, SYSTEM_NAMESPACE)

    other = copy.deepcopy(lease)
    other["metadata"]["name"] = "another"
    here.create(other)  # RBAC cannot tell names at creation
    with pytest.raises(Refused, match='cannot get resource "leases"'):
        here.get("coordination.k8s.io/v1", "Lease", "another", SYSTEM_NAMESPACE)


def test_it_reads_no_secret(plane: ControlPlane) -> None:
    here = plane.as_user(*CONTROLLER)
    for namespace in (SYSTEM_NAMESPACE, HOME, ELSEWHERE):
        with pytest.raises(Refused, match='cannot list resource "secrets"') as refused:
            here.list("v1", "Secret", namespace)
        assert refused.value.status == 403


def test_its_two_pods_are_admitted_under_the_strictest_standard_and_run(kube: Kube) -> None:
    def scaled(replicas: int) -> None:
        kube.patch("apps/v1", "Deployment", NAME, {"spec": {"replicas": replicas}}, SYSTEM_NAMESPACE)

    # The spread is only wished for, since a cluster may have one such node. It holds where the scheduler knows of both
    # nodes before the first pod, and of no pod that is going.
    scaled(0)
    kube.wait(lambda: not kube.list("v1", "Pod", SYSTEM_NAMESPACE), "the pods for which there was no node to go", 60)
    for number in (1, 2):
        kube.create(node(f"system-{number}", {SYSTEM_LABEL: "true"}, [SYSTEM_TAINT]))

    def open_to_pods() -> bool:
        return all(each["spec"].get("taints") == [SYSTEM_TAINT] for each in kube.list("v1", "Node"))

    kube.wait(open_to_pods, "both nodes to lose the taint of one that is not ready", 60)
    scaled(2)

    def there() -> list[Object]:
        found = kube.list("v1", "Pod", SYSTEM_NAMESPACE, labels=",".join(f"{k}={v}" for k, v in SELECTOR.items()))
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def ready() -> bool:
        found = kube.get("apps/v1", "Deployment", NAME, SYSTEM_NAMESPACE)
        return found.get("status", {}).get("readyReplicas") == 2 and all("nodeName" in pod["spec"] for pod in there())

    kube.wait(ready, "both replicas", 60)

    assert sorted(pod["spec"]["nodeName"] for pod in there()) == ["system-1", "system-2"]
    (budget,) = kube.list("policy/v1", "PodDisruptionBudget", SYSTEM_NAMESPACE)
    kube.wait(
        lambda: (
            kube.get("policy/v1", "PodDisruptionBudget", budget["metadata"]["name"], SYSTEM_NAMESPACE)["status"].get(
                "disruptionsAllowed"
            )
            == 1
        ),
        "the budget to see them",
        30,
    )


def test_a_pod_with_a_privilege_is_kept_out_of_its_namespace(kube: Kube) -> None:
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "root", "namespace": SYSTEM_NAMESPACE},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }

    with pytest.raises(Refused, match='violates PodSecurity "restricted:latest"'):
        kube.create(pod, dry_run=True)


def test_every_object_is_taken_without_a_warning(kube: Kube) -> None:
    policies: list[Any] = [*progress_admission(), *claim_admission()]
    made: list[Any] = [*controller(EXAMPLE_IMAGE, system_placing()), training_run.crd(), *policies]

    assert [answer for each in made for answer in kube.apply(each, dry_run=True, force=True).warnings] == []
