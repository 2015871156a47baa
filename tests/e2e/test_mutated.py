"""What the mutating policies add to pods as a real API server makes them, in workspaces and nowhere else."""

from functools import partial
from typing import Any, Final

import pytest

from spotproof.kube.client import Kube
from spotproof.manifests.admission import STABLE_SINCE, spot_tolerations
from spotproof.manifests.workspaces import namespace as workspace_namespace
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.settings import clock, load_environment
from spotproof.vocabulary import (
    GKE_SPOT_LABEL,
    GPU_RESOURCE,
    GPU_TOLERATION,
    KARPENTER_CAPACITY_LABEL,
    ON_DEMAND_SELECTORS,
    POOL_LABEL,
    SPOT_SELECTORS,
    SPOT_TOLERATIONS,
    Manifest,
)
from tests.e2e.pods import added, in_order, pod_of, tolerations_of
from tests.e2e.stacks import established, served
from tests.portability.admission import admitted
from tests.portability.documents import DOCUMENTS, Document, raw_pod

pytestmark = pytest.mark.skipif(
    bool(served()) and tuple(map(int, served().split("."))) < STABLE_SINCE,
    reason=f"Kubernetes {served()} does not serve these policies, and none are rendered for it",
)
HOME: Final = "research"
ELSEWHERE: Final = "elsewhere"
ENV: Final = load_environment(
    {
        "provider": {"cloud": "existing", "context": "lab"},
        "pools": [
            {"name": "cpu-spot", "capacity": "spot", "maxNodes": 1},
            {"name": "cpu", "capacity": "on-demand", "maxNodes": 1},
            {
                "name": "lab-spot",
                "capacity": "spot",
                "maxNodes": 1,
                "nodeLabels": {"group": "lab", "market": "spot"},
                "taints": [
                    {"key": "lab", "effect": "NoSchedule"},
                    {"key": "shared", "value": "no", "effect": "NoExecute"},
                ],
            },
        ],
        "checkpoints": {"uri": "pvc://checkpoints"},
        "workspaces": [{"namespace": HOME}],
    },
    today=clock.today(),
)
LAB: Final = {"group": "lab", "market": "spot"}
LAB_TOLERATIONS: Final = [
    {"key": "lab", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "shared", "operator": "Equal", "value": "no", "effect": "NoExecute"},
]
SPOT: Final = list(SPOT_TOLERATIONS)
NOTHING: Final[list[Any]] = []
ON_SPOT: Final = {KARPENTER_CAPACITY_LABEL: "spot"}


def spec(selector: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "main"}], **({"nodeSelector": selector} if selector else {}), **more}


def affinity(operator: str, key: str, *values: str, preferred: bool = False) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}
    if preferred:
        how: dict[str, Any] = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}]}
    else:
        how = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": how}}


def asking(kind: str, where: str = "containers") -> dict[str, Any]:
    # the API server takes no request of it without the limit
    asked = {each: {GPU_RESOURCE: "1"} for each in {kind, "limits"}}
    return {**spec(), where: [{"name": "gpu", "resources": asked}]}


CASES: Final[dict[str, tuple[dict[str, Any], list[Any]]]] = {
    **{f"selects {key}": (spec({key: value}), SPOT) for key, value in SPOT_SELECTORS.items()},
    **{f"selects {key} of on-demand": (spec({key: value}), NOTHING) for key, value in ON_DEMAND_SELECTORS.items()},
    "selects a spot pool by name": (spec({POOL_LABEL: "cpu-spot"}), SPOT),
    "selects an on-demand pool by name": (spec({POOL_LABEL: "cpu"}), NOTHING),
    "selects a pool there is none of": (spec({POOL_LABEL: "t4-spot"}), NOTHING),
    "selects something else": (spec({"disk": "fast"}), NOTHING),
    "selects nothing": (spec(), NOTHING),
    "requires spot": (spec(**affinity("In", GKE_SPOT_LABEL, "true")), SPOT),
    "requires spot or something else": (spec(**affinity("In", POOL_LABEL, "cpu", "cpu-spot")), SPOT),
    "prefers spot": (spec(**affinity("In", GKE_SPOT_LABEL, "true", preferred=True)), NOTHING),
    "requires not to be on spot": (spec(**affinity("NotIn", GKE_SPOT_LABEL, "true")), NOTHING),
    "requires a label of spot, of any value": (spec(**affinity("Exists", GKE_SPOT_LABEL)), NOTHING),
    "asks for a GPU": (asking("limits"), [GPU_TOLERATION]),
    "requests a GPU": (asking("requests"), [GPU_TOLERATION]),
    "asks for a GPU at its start": (asking("limits", "initContainers"), [GPU_TOLERATION]),
    "asks for a GPU on spot": ({**asking("limits"), "nodeSelector": ON_SPOT}, [*SPOT, GPU_TOLERATION]),
    "carries one of them": (spec(ON_SPOT, tolerations=[SPOT[1]]), [SPOT[0], SPOT[2]]),
    "carries all of them": (spec(ON_SPOT, tolerations=SPOT), NOTHING),
    "tolerates everything": (spec(ON_SPOT, tolerations=[{"operator": "Exists"}]), NOTHING),
    "tolerates a key whatever its value": (
        spec(ON_SPOT, tolerations=[{"key": GKE_SPOT_LABEL, "operator": "Exists"}]),
        [SPOT[0], SPOT[2]],
    ),
    "tolerates a key for another effect": (
        spec(ON_SPOT, tolerations=[{"key": GKE_SPOT_LABEL, "operator": "Exists", "effect": "NoExecute"}]),
        SPOT,
    ),
    "tolerates another value": (spec(ON_SPOT, tolerations=[{"key": GKE_SPOT_LABEL, "value": "false"}]), SPOT),
    "selects nodes of somebody else's": (spec(LAB), LAB_TOLERATIONS),
    "selects half of their labels": (spec({"group": "lab"}), NOTHING),
    "requires one of their labels": (spec(**affinity("In", "group", "lab")), NOTHING),
    "carries one toleration of theirs": (
        spec(LAB, tolerations=[{"key": "lab", "operator": "Exists"}]),
        LAB_TOLERATIONS[1:],
    ),
}


@pytest.fixture(scope="module")
def kube(plane: ControlPlane) -> Kube:
    """An API server with a workspace, a namespace that is none, and all policies in effect."""
    elsewhere: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ELSEWHERE}}
    account: Manifest = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "trainer", "namespace": HOME},
    }
    for one in (workspace_namespace(HOME), elsewhere, account, *spot_tolerations(ENV)):
        plane.kube.apply(one)
        established(plane.kube, dict(one))
    for name in ("selects a spot pool by name", "asks for a GPU", "selects nodes of somebody else's"):
        asked, wanted = CASES[name]
        pod = pod_of("asked", HOME, asked)
        plane.kube.wait(partial(_is, plane.kube, pod, wanted), f"a pod that {name} to be given its tolerations", 60)
    return plane.kube


def _is(kube: Kube, pod: dict[str, Any], wanted: list[Any]) -> bool:
    return in_order(added(kube, pod)) == in_order(wanted)


@pytest.mark.parametrize("case", CASES)
def test_a_pod_is_given_what_it_lacks_and_no_more(kube: Kube, case: str) -> None:
    asked, wanted = CASES[case]
    assert in_order(added(kube, pod_of("asked", HOME, asked))) == in_order(wanted)


@pytest.mark.parametrize("case", CASES)
def test_a_pod_elsewhere_is_left_as_it_is(kube: Kube, case: str) -> None:
    asked, _ = CASES[case]
    assert added(kube, pod_of("asked", ELSEWHERE, asked)) == []


@pytest.mark.parametrize("gpus", [0, 1])
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.words)
def test_a_pod_of_the_documents_is_given_what_the_portability_table_reckons_with(
    kube: Kube, document: Document, gpus: int
) -> None:
    asked = raw_pod(document, gpus=gpus)

    stored = kube.create(pod_of("asked", HOME, asked), dry_run=True).object

    assert in_order(tolerations_of(stored)) == in_order(admitted(asked, ENV)["tolerations"])


def test_the_pods_of_a_job_are_given_them_and_its_template_is_not(kube: Kube) -> None:
    template = {"spec": {**spec(ON_SPOT), "containers": [{"name": "main", "image": "none"}], "restartPolicy": "Never"}}
    meta = {"name": "plain", "namespace": HOME}
    kube.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template}})

    (pod,) = kube.wait(lambda: kube.list("v1", "Pod", HOME, labels="job-name=plain"), "its pod", 30)

    assert tolerations_of(pod) == SPOT
    assert "tolerations" not in kube.get("batch/v1", "Job", "plain", HOME)["spec"]["template"]["spec"]


def test_a_pod_that_is_there_already_stays_as_it_is(kube: Kube) -> None:
    """A pod's tolerations may grow at any time; the policies look at a pod only as it is made."""
    pod = pod_of("early", ELSEWHERE, spec(ON_SPOT))
    kube.create(pod)

    kube.patch("v1", "Pod", "early", {"metadata": {"labels": {"seen": "yes"}}}, ELSEWHERE)

    assert tolerations_of(kube.get("v1", "Pod", "early", ELSEWHERE)) == []
