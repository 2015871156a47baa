"""How the API server is found and who asks it: told once, and good for every process that asks."""

from pathlib import Path
from typing import NamedTuple

from spotproof.kube.access import NoAccess
from spotproof.kube.client import Kube


class Access(NamedTuple):
    """As a named kubeconfig says; else as the pod's service account; where there is none, as kubectl would."""

    kubeconfig: Path | None = None
    context: str | None = None

    def connect(self) -> Kube:
        """A client of its own, which has asked nothing yet.

        Raises:
            NoAccess: there is no such file or context, or nothing says where the API server is.
        """
        if self.kubeconfig is not None or self.context is not None:
            return Kube.of_kubeconfig(self.kubeconfig, self.context)
        try:
            return Kube.in_cluster()
        except NoAccess as outside:
            try:
                return Kube.of_kubeconfig()
            except NoAccess as none:
                raise NoAccess(f"{none}; and {outside}. Write --kubeconfig FILE") from none
