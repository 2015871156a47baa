"""The fallback controller of a rehearsal: the same process as in a cluster, with the same rights, beside the others."""

import sys
from typing import Final

from spotproof.manifests import controller_rights, fallback_policy, training_run
from spotproof.manifests.claim_admission import claim_admission
from spotproof.manifests.controller import namespace, probe_priority
from spotproof.manifests.workspaces import service_account
from spotproof.rehearsal.certificates import LOOPBACK
from spotproof.rehearsal.operators import established
from spotproof.rehearsal.parts import Command, Part, Site
from spotproof.vocabulary import SYSTEM_NAMESPACE

NAME: Final = "controller"
"""Of the process, its port and its log."""
USER: Final = controller_rights.USER
"""Here a client certificate bears the name, and the roles bind it as they bind a token."""
ALONE: Final = ("--no-leader-election",)


def install(site: Site) -> None:
    """Everything but the Deployment, whose place the process takes; rights in workspaces come with them."""
    for crd in (fallback_policy.crd(), training_run.crd()):
        site.kube.apply(crd)
        established(site, crd)
    account = service_account(controller_rights.NAME, SYSTEM_NAMESPACE)
    for each in (namespace(), probe_priority(), account, *controller_rights.roles(), *claim_admission()):
        site.kube.apply(each)


def command(site: Site) -> Command:
    """One replica, which needs no lease."""
    return Command(
        (
            sys.executable,
            "-m",
            "spotproof.controller",
            "--kubeconfig",
            str(site.kubeconfig(USER)),
            "--listen",
            f"{LOOPBACK}:{site.ports[NAME]}",
            *ALONE,
        ),
        {"PYTHONUNBUFFERED": "1"},
    )


CONTROLLER: Final = Part(
    NAME,
    # the kinds of operators are there before it looks for them
    ("kube-apiserver", "jobset-manager", "kuberay-operator", "karpenter"),
    (NAME,),
    command,
    lambda site: site.answers(NAME, "/readyz", tls=False),
    install,
)
