"""JobSet, KubeRay and Karpenter: their CRDs and roles from their own modules, their managers as processes."""

import base64
import json
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from spotproof.rehearsal.certificates import LOOPBACK
from spotproof.rehearsal.kube import Refused
from spotproof.rehearsal.parts import ADMINISTRATORS, Command, Part, Site
from spotproof.rehearsal.waiting import wait

CRDS_PATH: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SERVED_SECONDS: Final = 30
WEBHOOK_TIMEOUT_SECONDS: Final = 10
SYSTEM_NAMESPACE: Final = "kube-system"


def crds(site: Site, operator: str) -> None:
    """Create the operator's CRDs and wait until the API server serves their kinds."""
    made = [
        site.kube.create_text(CRDS_PATH, path.read_bytes())
        for path in sorted((site.tools.share(operator) / "crds").glob("*.yaml"))
    ]
    for crd in made:
        group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
        for version in crd["spec"]["versions"]:
            if version["served"]:
                wait(
                    lambda of=f"{group}/{version['name']}", kind=kind: _served(site, of, kind),
                    f"the API server to serve {kind} of {group}/{version['name']}",
                    SERVED_SECONDS,
                    patient=(Refused,),
                )


def role(site: Site, operator: str) -> None:
    """Give the user `system:<operator>` the rules that the operator's own role has, and no others."""
    name = f"system:{operator}"
    for document in _documents(site.tools.share(operator) / "role.yaml"):
        kind = document["kind"]
        metadata = {"name": name}
        if kind == "Role":
            metadata["namespace"] = SYSTEM_NAMESPACE
        site.kube.apply({**document, "metadata": metadata})
        site.kube.apply(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": f"{kind}Binding",
                "metadata": metadata,
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}],
            }
        )


def before_jobset(site: Site) -> None:
    """What the manager watches, and what it may do."""
    crds(site, "jobset")
    role(site, "jobset")


def jobset(site: Site) -> Command:
    """The manager with a serving certificate of ours: its own are issued for a service's name only."""
    configuration = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "internalCertManagement": {"enable": False},
        "leaderElection": {"leaderElect": False},
        "webhook": {
            "host": LOOPBACK,
            "port": site.ports["jobset-webhook"],
            "certDir": str(site.certificates.server("jobset-webhook")),
        },
    }
    path = site.folder / "jobset.json"
    path.write_text(json.dumps(configuration), encoding="utf-8")
    return Command(
        (
            str(site.tools.bin("jobset-manager")),
            f"--config={path}",
            "--metrics-bind-address=0",
            f"--health-probe-bind-address={LOOPBACK}:{site.ports['jobset-health']}",
            "--leader-elect=false",
            "--zap-devel=false",
        ),
        {"KUBECONFIG": str(site.kubeconfig("system:jobset"))},
    )


def after_jobset(site: Site) -> None:
    """The webhooks of the manager's own files, reached by address instead of by service, and seen to answer."""
    for document in _documents(site.tools.share("jobset") / "manifests.yaml"):
        webhooks = [_by_address(site, webhook) for webhook in document["webhooks"]]
        site.kube.apply({**document, "metadata": {"name": "jobset"}, "webhooks": webhooks})
    wait(lambda: _defaulted(site), "the JobSet webhook to set defaults", SERVED_SECONDS, patient=(Refused,))


def before_kuberay(site: Site) -> None:
    """What the manager watches, and what it may do."""
    crds(site, "kuberay")
    role(site, "kuberay")


def kuberay(site: Site) -> Command:
    """The reconcilers. Dashboards are asked through a proxy, ours; the API server is on loopback and is not."""
    if site.dashboard is None:
        raise ValueError("KubeRay needs a dashboard to ask")
    return Command(
        (
            str(site.tools.bin("kuberay-operator")),
            f"-health-probe-bind-address={LOOPBACK}:{site.ports['kuberay-health']}",
        ),
        {
            "KUBECONFIG": str(site.kubeconfig("system:kuberay")),
            "HTTP_PROXY": f"http://{site.dashboard.address}",
        },
    )


def before_karpenter(site: Site) -> None:
    """What it watches."""
    crds(site, "karpenter")


def karpenter(site: Site) -> Command:
    """Karpenter with its kwok provider and our market.

    As an administrator: its roles are templates of its chart. Its two ports, metrics and health, are open on all
    addresses of the machine: it has no setting for the address.
    """
    environ = {
        "KUBECONFIG": str(site.kubeconfig("system:karpenter", (ADMINISTRATORS,))),
        "SYSTEM_NAMESPACE": SYSTEM_NAMESPACE,
        "DISABLE_LEADER_ELECTION": "true",
        "METRICS_PORT": str(site.ports["karpenter-metrics"]),
        "HEALTH_PROBE_PORT": str(site.ports["karpenter-health"]),
        "BATCH_IDLE_DURATION": "500ms",
        "BATCH_MAX_DURATION": "2s",
        "MARKET_FILE_PATH": str(site.market.path),
    }
    if site.instance_types:
        path = site.folder / "instance-types.json"
        path.write_text(json.dumps(list(site.instance_types)), encoding="utf-8")
        environ["INSTANCE_TYPES_FILE_PATH"] = str(path)
    return Command((str(site.tools.bin("karpenter")),), environ)


def _served(site: Site, api_version: str, kind: str) -> bool:
    return site.kube.list(api_version, kind) == []


def _by_address(site: Site, webhook: dict[str, Any]) -> dict[str, Any]:
    url = f"https://{LOOPBACK}:{site.ports['jobset-webhook']}{webhook['clientConfig']['service']['path']}"
    reached = {"url": url, "caBundle": base64.b64encode(site.certificates.bundle).decode()}
    changed = {**webhook, "clientConfig": reached, "timeoutSeconds": WEBHOOK_TIMEOUT_SECONDS}
    if any("pods" in rule["resources"] for rule in webhook["rules"]):
        # as the release's patches have it: pods of others are no business of JobSet's
        labelled = {"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}
        changed["objectSelector"] = {"matchExpressions": [labelled]}
    return changed


def _defaulted(site: Site) -> bool:
    container = {"name": "asked", "image": "none"}
    job = {"template": {"spec": {"template": {"spec": {"containers": [container]}}}}}
    asked = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "asked", "namespace": "default"},
        "spec": {"replicatedJobs": [{"name": "asked", **job}]},
    }
    return "successPolicy" in site.kube.create(asked, dry_run=True).object["spec"]


def _documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in YAML(typ="safe").load_all(path) if document]


JOBSET: Final = Part(
    "jobset-manager",
    ("kube-apiserver",),
    ("jobset-webhook", "jobset-health"),
    jobset,
    lambda site: site.answers("jobset-health", "/readyz", tls=False),
    before_jobset,
    after_jobset,
)
KUBERAY: Final = Part(
    "kuberay-operator",
    ("kube-apiserver",),
    ("kuberay-health",),
    kuberay,
    lambda site: site.answers("kuberay-health", "/readyz", tls=False),
    before_kuberay,
)
KARPENTER: Final = Part(
    "karpenter",
    ("kube-apiserver",),
    ("karpenter-metrics", "karpenter-health"),
    karpenter,
    lambda site: site.answers("karpenter-health", "/readyz", tls=False),
    before_karpenter,
)
