"""Kubernetes itself: store, API server, controllers, scheduler, and kwok in place of the kubelets."""

import socket
from pathlib import Path
from typing import Final

from spotproof.rehearsal.certificates import LOOPBACK
from spotproof.rehearsal.parts import PROBE_SECONDS, Command, NotStarted, Part, Site
from spotproof.rehearsal.roles import ROLES, grant

STAGES: Final = Path(__file__).with_name("stages.yaml")
SERVICE_RANGE: Final = "10.96.0.0/16"
NEVER_DIALLED: Final = "http://localhost:2379"
"""etcd insists on a host and port to advertise; a member without others and clients that know its socket need none."""
SOCKET_CHARACTERS: Final = 103 + len("unix://")
"""Of a socket's path: sockaddr_un has 104 bytes on macOS and 108 on Linux, the last one a zero."""
HEARTBEAT: Final = "15m"
"""How long a node may say nothing, of which the stages have it say something every five minutes."""


def etcd(site: Site) -> Command:
    """One member, on sockets in the folder: nobody else can reach it, and it takes no port.

    Nothing is synced to disk: what it holds is thrown away with the folder.
    """
    client, peer = _socket(site, "etcd"), _socket(site, "etcd-peer")
    if len(peer) > SOCKET_CHARACTERS:
        raise NotStarted(f"{site.folder} is too long a name for sockets below it: set TMPDIR to a shorter one")
    return Command(
        (
            str(site.tools.bin("etcd")),
            "--name=rehearsal",
            f"--data-dir={site.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--advertise-client-urls={NEVER_DIALLED}",
            f"--initial-advertise-peer-urls={NEVER_DIALLED}",
            f"--initial-cluster=rehearsal={NEVER_DIALLED}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )
    )


def etcd_ready(site: Site) -> bool:
    """It says so on its socket. An API server that comes too early tries again only after a second."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PROBE_SECONDS)
        try:
            connection.connect(str(site.folder / "etcd.sock"))
            connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            return b"200 OK" in connection.recv(64)
        except OSError:
            return False


def apiserver(site: Site) -> Command:
    """With RBAC. Its loopback address is no endpoint of a service, which the usual reconciler would refuse."""
    private, public = site.certificates.signing_keys()
    server = site.certificates.server("kube-apiserver")
    return Command(
        (
            str(site.tools.bin("kube-apiserver")),
            f"--etcd-servers={_socket(site, 'etcd')}",
            f"--bind-address={LOOPBACK}",
            f"--advertise-address={LOOPBACK}",
            f"--secure-port={site.ports['kube-apiserver']}",
            "--endpoint-reconciler-type=none",
            f"--tls-cert-file={server / 'tls.crt'}",
            f"--tls-private-key-file={server / 'tls.key'}",
            f"--client-ca-file={site.certificates.authority}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={public}",
            f"--service-account-signing-key-file={private}",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            "--profiling=false",
        )
    )


def controller_manager(site: Site) -> Command:
    """Every controller with its own service account: the manager's own role covers none of them."""
    private = site.certificates.folder / "service-accounts.key"
    return Command(
        (
            *_served(site, "kube-controller-manager"),
            f"--service-account-private-key-file={private}",
            f"--root-ca-file={site.certificates.authority}",
            "--use-service-account-credentials=true",
            # a token for each of 30 controllers: at the default of 20 requests a second they take 5 s to start
            "--kube-api-qps=200",
            "--kube-api-burst=400",
            f"--node-monitor-grace-period={HEARTBEAT}",
        )
    )


def controllers_ready(site: Site) -> bool:
    """Namespaces get their service accounts, without which no pod can be made."""
    return (
        site.answers("kube-controller-manager", "/healthz")
        and site.kube.find("v1", "ServiceAccount", "default", "default") is not None
    )


def scheduler(site: Site) -> Command:
    """The scheduler as it is."""
    return Command(_served(site, "kube-scheduler"))


def kwok(site: Site) -> Command:
    """Our stages, for every node there is.

    Without leases of nodes: kwok passes over a pod that is bound before its own watch has shown it the lease that it
    has just made, and never comes back to it. The pod is Pending for ever (seen once in some thousand nodes, 0.8.0).
    """
    return Command(
        (
            str(site.tools.bin("kwok")),
            f"--kubeconfig={site.kubeconfig('system:kwok')}",
            f"--config={STAGES}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=0",
            f"--server-address={LOOPBACK}:{site.ports['kwok']}",
        ),
        {"HOME": str(site.folder)},
    )


def _served(site: Site, name: str) -> tuple[str, ...]:
    """What controller manager and scheduler share; each user has its bootstrap role and nothing else."""
    server = site.certificates.server(name)
    return (
        str(site.tools.bin(name)),
        f"--kubeconfig={site.kubeconfig(f'system:{name}')}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={site.ports[name]}",
        f"--tls-cert-file={server / 'tls.crt'}",
        f"--tls-private-key-file={server / 'tls.key'}",
        "--leader-elect=false",
        "--profiling=false",
    )


def _socket(site: Site, name: str) -> str:
    return f"unix://{site.folder / name}.sock"


CORE: Final = (
    Part("etcd", (), (), etcd, etcd_ready),
    Part(
        "kube-apiserver",
        ("etcd",),
        ("kube-apiserver",),
        apiserver,
        lambda site: site.answers("kube-apiserver", "/readyz"),
    ),
    Part(
        "kube-controller-manager",
        ("kube-apiserver",),
        ("kube-controller-manager",),
        controller_manager,
        controllers_ready,
    ),
    Part(
        "kube-scheduler",
        ("kube-apiserver",),
        ("kube-scheduler",),
        scheduler,
        lambda site: site.answers("kube-scheduler", "/readyz"),
    ),
    Part(
        "kwok",
        ("kube-apiserver",),
        ("kwok",),
        kwok,
        lambda site: site.answers("kwok", "/healthz", tls=False),
        lambda site: grant(site, "kwok", ROLES / "kwok.yaml"),
    ),
)
