"""The fallback controller in the cluster: its namespace, its Deployment, and what keeps both small and alone."""

from collections.abc import Mapping
from typing import Any, Final

from spotproof.manifests.controller_rights import NAME, roles
from spotproof.manifests.metadata import metadata
from spotproof.manifests.workspaces import service_account
from spotproof.vocabulary import PROBE_IMAGE, SYSTEM_NAMESPACE, ZONE_LABEL, Manifest

SELECTOR: Final = {"app.kubernetes.io/name": NAME}
"""Label of its pods; `app.kubernetes.io/name`, as the charts of the other operators have it."""

PROBE_PRIORITY: Final = "spotproof-probe"
PROBE_PRIORITY_VALUE: Final = -10
"""Below every job, and not lower: the cluster autoscaler makes no node for pods below -10 (its flag
--expendable-pods-priority-cutoff)."""

REPLICAS: Final = 2
METRICS_PORT: Final = 8080
"""/metrics."""
HEALTH_PORT: Final = 8081
"""/healthz and /readyz, which the kubelet asks."""
USER: Final = 65532
"""The number that images without users call nonroot."""
GRACE_SECONDS: Final = 30
"""To end the call that is out and to give the lease back, so that the other replica need not wait for its end."""

DNS_PORT: Final = 53
API_SERVER_PORTS: Final = (443, 6443)
"""Of the clouds' API servers, and of kubeadm's, kind's and k3s's."""


def controller(image: str, placing: Mapping[str, Any], probe_image: str = PROBE_IMAGE) -> list[Manifest]:
    """All objects of the controller, in an order in which they can be created; the Deployment is the last.

    Args:
        image: Its image, by digest.
        placing: Where its pods run, as parts of a pod's spec: nodeSelector, tolerations, affinity.
        probe_image: What the pods run that it makes to ask whether a pool has room.
    """
    return [
        namespace(),
        probe_priority(),
        service_account(NAME, SYSTEM_NAMESPACE),
        *roles(),
        *network_policies(),
        disruption_budget(),
        deployment(image, placing, probe_image),
    ]


def namespace() -> Manifest:
    """The controller's namespace, and that of its probes: pods that need a privilege are refused."""
    kinds = ("enforce", "audit", "warn")
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata(
            SYSTEM_NAMESPACE, labels={f"pod-security.kubernetes.io/{each}": "restricted" for each in kinds}
        ),
    }


def probe_priority() -> Manifest:
    """The priority of probes: whatever needs their place takes it, and they take nobody's."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": metadata(PROBE_PRIORITY),
        "value": PROBE_PRIORITY_VALUE,
        "preemptionPolicy": "Never",
        "globalDefault": False,
        "description": "Pods that ask whether a pool has room, and go as soon as they know.",
    }


def deployment(image: str, placing: Mapping[str, Any], probe_image: str) -> Manifest:
    """Two replicas, one of which leads; arguments as `controller`."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, namespace=SYSTEM_NAMESPACE, labels=SELECTOR),
        "spec": {
            "replicas": REPLICAS,
            "revisionHistoryLimit": 3,
            "selector": {"matchLabels": dict(SELECTOR)},
            # The new one is there before the old one goes, so that an image that cannot start takes nobody's place.
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {
                "metadata": {"labels": {**SELECTOR, "app.kubernetes.io/part-of": "spotproof"}},
                "spec": {**_pod(image, probe_image), **placing},
            },
        },
    }


def _pod(image: str, probe_image: str) -> dict[str, Any]:
    return {
        "serviceAccountName": NAME,
        # The account itself says no, for every other pod that might name it.
        "automountServiceAccountToken": True,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": dict(SELECTOR)},
            }
            # The scheduler's own spread over nodes holds only for pods that name none.
            for key in (ZONE_LABEL, "kubernetes.io/hostname")
        ],
        "containers": [
            {
                "name": "controller",
                "image": image,
                "args": [
                    f"--namespace={SYSTEM_NAMESPACE}",
                    f"--listen=:{HEALTH_PORT}",
                    f"--metrics=:{METRICS_PORT}",
                    f"--probe-image={probe_image}",
                ],
                "ports": [
                    {"name": "metrics", "containerPort": METRICS_PORT, "protocol": "TCP"},
                    {"name": "health", "containerPort": HEALTH_PORT, "protocol": "TCP"},
                ],
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                # It answers well as long as its threads are there, no look is at one call for 5 minutes, and the
                # process that watches has been heard of in as many. Three misses of 10 s are a process that hangs.
                "livenessProbe": _probe("/healthz", period_seconds=10, failures=3),
                "readinessProbe": _probe("/readyz", period_seconds=5, failures=2),
                # No limit on CPU: a throttled controller is slow just when an eviction makes it busy. 10,000 quiet jobs
                # take some 400 MB; 100 evicted pods a second among them take up to 600 MB (docs/performance.md).
                "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
            }
        ],
    }


def _probe(path: str, *, period_seconds: int, failures: int) -> Manifest:
    return {
        "httpGet": {"path": path, "port": "health"},
        "periodSeconds": period_seconds,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }


def disruption_budget() -> Manifest:
    """A drain takes one replica at a time; one that is not ready keeps no node from being drained."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(NAME, namespace=SYSTEM_NAMESPACE),
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": dict(SELECTOR)},
        },
    }


def network_policies() -> list[Manifest]:
    """Nothing for pods of the namespace, which probes are; for the controller its two ports, the API server and DNS.

    A NetworkPolicy knows pods, namespaces and address ranges. The API server is none of them: its address is another
    on every cluster, so that its ports are what can be said, to any address. Where no CNI enforces these
    objects they change nothing.
    """
    return [
        _network_policy("spotproof-nothing", {}, {}),
        _network_policy(
            NAME,
            SELECTOR,
            {
                "ingress": [{"ports": [_port("TCP", METRICS_PORT), _port("TCP", HEALTH_PORT)]}],
                # Names are asked where the cloud gives pods the API server by name, as AKS can.
                "egress": [
                    {"ports": [_port("TCP", port) for port in API_SERVER_PORTS]},
                    {"ports": [_port("UDP", DNS_PORT), _port("TCP", DNS_PORT)]},
                ],
            },
        ),
    ]


def _network_policy(name: str, labels: Mapping[str, str], allowed: Mapping[str, Any]) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(name, namespace=SYSTEM_NAMESPACE),
        "spec": {
            "podSelector": {"matchLabels": dict(labels)} if labels else {},
            "policyTypes": ["Ingress", "Egress"],
            **allowed,
        },
    }


def _port(protocol: str, port: int) -> Manifest:
    return {"protocol": protocol, "port": port}
