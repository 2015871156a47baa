import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spotproof.controller.jobs import JOBS
from spotproof.controller.kinds import LEASE, Kind
from spotproof.controller.watched import WATCHED
from spotproof.manifests.controller import PROBE_PRIORITY, controller
from spotproof.manifests.controller_rights import AT_HOME, IN_A_WORKSPACE, IN_THE_CLUSTER, NAME, workspace_roles
from spotproof.operators.common import placed
from spotproof.settings.operators import EXAMPLE_IMAGE
from tests.unit.clouds.programs import SMALLEST, cluster_of

Json = dict[str, Any]
RIGHTS = (*IN_THE_CLUSTER, *IN_A_WORKSPACE, *AT_HOME)


def system_placing() -> Json:
    found: list[Json] = []
    cluster_of(SMALLEST, lambda cluster: found.append(placed(NAME, cluster.system_scheduling)))
    return found[0]


OBJECTS: list[Any] = controller(EXAMPLE_IMAGE, system_placing())


def of(kind: str) -> list[Any]:
    return [each for each in OBJECTS if each["kind"] == kind]


(DEPLOYMENT,) = of("Deployment")
POD: Json = DEPLOYMENT["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]


def resource(kind: Kind) -> tuple[str, str]:
    """Its group, and its plural as the API has it: these kinds all make theirs by an s, or an ies."""
    return kind.api_version.rpartition("/")[0], re.sub("ys$", "ies", f"{kind.kind.lower()}s")


def test_the_objects_are_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/controller.yaml", OBJECTS)


def test_its_rights_in_a_workspace_are_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/controller-workspace.yaml", workspace_roles("research"))


def test_it_reads_every_kind_it_watches_and_no_other() -> None:
    watched = {resource(each.kind) for each in WATCHED}
    read = {(right.group, name) for right in IN_THE_CLUSTER if "watch" in right.verbs for name in right.resources}

    assert read == watched


def test_it_may_patch_every_kind_of_job_and_delete_what_is_made_anew() -> None:
    may = {(right.group, name, verb) for right in IN_A_WORKSPACE for name in right.resources for verb in right.verbs}
    does = {(*resource(kind.kind), "patch") for kind in JOBS.values()}
    does |= {(*resource(kind.members.children), "delete") for kind in JOBS.values() if kind.members.children}

    assert {each for each in may if each[0]} == does


def test_its_lease_is_one_object_by_name() -> None:
    leases = [right for right in AT_HOME if right.resources == (f"{LEASE.kind.lower()}s",)]

    assert [(right.verbs, right.names) for right in leases] == [
        (("create",), ()),
        (("get", "patch", "update"), (NAME,)),
    ]


def test_no_right_is_on_everything_or_on_secrets_or_may_be_handed_on() -> None:
    words = {word for right in RIGHTS for word in (right.group, *right.resources, *right.verbs)}

    assert not words & {
        "*",
        "secrets",
        "configmaps",
        "serviceaccounts/token",
        "pods/exec",
        "bind",
        "escalate",
        "impersonate",
    }


def test_what_stops_a_job_or_ends_a_pod_is_a_right_in_workspaces_alone() -> None:
    wide = {(right.group, name, verb) for right in IN_THE_CLUSTER for name in right.resources for verb in right.verbs}
    here = {(right.group, name, verb) for right in IN_A_WORKSPACE for name in right.resources for verb in right.verbs}

    assert not wide & here
    assert {name for _, name, verb in wide if verb not in {"get", "list", "watch"}} == {
        "events", "fallbackpolicies/status", "nodeclaims", "trainingruns", "trainingruns/status",
    }  # fmt: skip


def test_every_right_says_what_for() -> None:
    assert all(right.why for right in RIGHTS)


def test_the_namespace_refuses_pods_with_privileges() -> None:
    (namespace,) = of("Namespace")

    assert {value for key, value in namespace["metadata"]["labels"].items() if "pod-security" in key} == {"restricted"}


def test_its_container_can_do_nothing_to_its_node() -> None:
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "volumes" not in POD
    assert "env" not in CONTAINER


def test_two_replicas_keep_apart_on_nodes_that_nobody_reclaims() -> None:
    assert DEPLOYMENT["spec"]["replicas"] == 2
    assert POD["nodeSelector"] == {"spotproof.dev/system": "true"}
    (apart,) = POD["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    assert apart["podAffinityTerm"]["labelSelector"]["matchLabels"].items() <= labels.items()
    spread = [each["topologyKey"] for each in POD["topologySpreadConstraints"]]
    assert spread == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]


def selectors(node: Any) -> Iterator[Json]:
    if isinstance(node, dict):
        yield from (value for key, value in node.items() if key in {"selector", "podSelector", "labelSelector"})
        for value in node.values():
            yield from selectors(value)
    elif isinstance(node, list):
        for each in node:
            yield from selectors(each)


@pytest.mark.parametrize("kind", ["Deployment", "PodDisruptionBudget", "NetworkPolicy"])
def test_every_selector_finds_its_pods(kind: str) -> None:
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    found = [each.get("matchLabels", {}) for manifest in of(kind) for each in selectors(manifest)]

    assert found
    assert all(each.items() <= labels.items() for each in found)


def test_probes_and_metrics_are_answered_on_the_two_ports_that_are_open() -> None:
    ports = {each["name"]: each["containerPort"] for each in CONTAINER["ports"]}
    by_name = {each["metadata"]["name"]: each["spec"] for each in of("NetworkPolicy")}

    assert [CONTAINER[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")] == [
        {"path": "/healthz", "port": "health"},
        {"path": "/readyz", "port": "health"},
    ]
    assert [port["port"] for rule in by_name[NAME]["ingress"] for port in rule["ports"]] == [*ports.values()]
    assert CONTAINER["args"][1:3] == [f"--listen=:{ports['health']}", f"--metrics=:{ports['metrics']}"]


def test_pods_of_the_namespace_talk_to_nobody_and_the_controller_to_the_api_server_and_dns() -> None:
    nothing, ours = sorted((each["spec"] for each in of("NetworkPolicy")), key=lambda spec: "egress" in spec)

    assert nothing == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert {port["port"] for rule in ours["egress"] for port in rule["ports"]} == {443, 6443, 53}


def test_an_image_that_cannot_start_takes_nobodys_place() -> None:
    assert DEPLOYMENT["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_a_drain_takes_one_replica_at_a_time_and_waits_for_none_that_is_broken() -> None:
    (budget,) = of("PodDisruptionBudget")

    assert budget["spec"]["maxUnavailable"] == 1
    assert budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_a_probe_preempts_nobody_and_still_gets_a_node_of_its_own() -> None:
    (priority,) = of("PriorityClass")

    assert priority["metadata"]["name"] == PROBE_PRIORITY
    assert (priority["value"], priority["preemptionPolicy"]) == (-10, "Never")


def test_only_its_own_pods_have_a_token() -> None:
    (account,) = of("ServiceAccount")

    assert account["automountServiceAccountToken"] is False
    assert POD["automountServiceAccountToken"] is True
    assert POD["serviceAccountName"] == account["metadata"]["name"] == NAME
