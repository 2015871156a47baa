"""JobSet, KubeRay and Karpenter: their CRDs and roles from their own modules, their managers as processes."""

import base64
import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from spotproof.kube.client import Refused
from spotproof.kube.waiting import wait
from spotproof.rehearsal.certificates import LOOPBACK
from spotproof.rehearsal.parts import Command, Part, Site
from spotproof.rehearsal.roles import ROLES, documents, grant

CRDS_PATH: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SERVED_SECONDS: Final = 30
WEBHOOK_TIMEOUT_SECONDS: Final = 10
RECONCILED: Final = ("ray.io_rayclusters", "ray.io_rayjobs")
SYSTEM_NAMESPACE: Final = "kube-system"


def crds(site: Site, operator: str, names: Sequence[str] = ("*",)) -> None:
    """Create the operator's CRDs whose file names match, and wait until the API server serves their kinds."""
    folder = site.tools.share(operator) / "crds"
    files = sorted(path for name in names for path in folder.glob(f"{name}.yaml"))
    for crd in [site.kube.create_text(CRDS_PATH, path.read_bytes()) for path in files]:
        established(site, crd)


def established(site: Site, crd: Mapping[str, Any]) -> None:
    """Wait until the API server serves the kind that a CRD makes."""
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    for version in (f"{group}/{each['name']}" for each in crd["spec"]["versions"] if each["served"]):
        wait(
            functools.partial(_served, site, version, kind),
            f"the API server to serve {kind} of {version}",
            SERVED_SECONDS,
            patient=(Refused,),
        )


def before_jobset(site: Site) -> None:
    """What the manager watches, and what it may do."""
    crds(site, "jobset")
    grant(site, "jobset", site.tools.share("jobset") / "role.yaml")


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
    for document in documents(site.tools.share("jobset") / "manifests.yaml"):
        webhooks = [_by_address(site, webhook) for webhook in document["webhooks"]]
        site.kube.apply({**document, "metadata": {"name": "jobset"}, "webhooks": webhooks})
    wait(lambda: _defaulted(site), "the JobSet webhook to set defaults", SERVED_SECONDS, patient=(Refused,))


def before_kuberay(site: Site) -> None:
    """Its reconcilers' kinds and no others: an object that nothing acts on would be accepted."""
    crds(site, "kuberay", RECONCILED)
    grant(site, "kuberay", site.tools.share("kuberay") / "role.yaml")


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
    """What it watches, and what it may do."""
    crds(site, "karpenter")
    grant(site, "karpenter", ROLES / "karpenter.yaml")


def karpenter(site: Site) -> Command:
    """Karpenter with its kwok provider and our market.

    Its two ports, metrics and health, are open on all addresses of the machine: Karpenter 1.14 makes its manager from
    their numbers alone (pkg/operator), so neither a setting nor a main of ours can narrow them.
    """
    environ = {
        "KUBECONFIG": str(site.kubeconfig("system:karpenter")),
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
