"""Which operators there are: one file and one line each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pulumi

from spotproof.clouds import contract
from spotproof.clouds.contract import Cluster
from spotproof.operators import fallback, gpu_plugin, jobset, kuberay
from spotproof.settings import Environment
from spotproof.settings.operators import Fallback, Operator, Operators


@dataclass(frozen=True)
class Entry:
    """One operator.

    `settings` finds its part of the settings; `install` makes it (None: nothing to do); `provided_as` is the word by
    which a cloud says that its nodes bring it.
    """

    settings: Callable[[Operators], Operator | Fallback]
    install: Callable[[str, Environment, Cluster], pulumi.Resource | None]
    provided_as: str = ""


OPERATORS: Final[dict[str, Entry]] = {
    "jobset": Entry(lambda all_: all_.jobset, jobset.install),
    "kuberay": Entry(lambda all_: all_.kuberay, kuberay.install),
    "gpuPlugin": Entry(lambda all_: all_.gpu_plugin, gpu_plugin.install, contract.GPU_PLUGIN),
    "fallback": Entry(lambda all_: all_.fallback, fallback.install),
}
"""By the key of the settings."""


def install(name: str, environment: Environment, cluster: Cluster) -> dict[str, pulumi.Resource]:
    """Install what the settings say and the cluster does not bring; returns what was installed, by its key.

    Then the cluster makes what must go before them on destroy, where it has not yet.
    """
    made = {
        key: entry.install(name, environment, cluster)
        for key, entry in OPERATORS.items()
        if entry.settings(environment.operators).mode == "install" and entry.provided_as not in cluster.provides
    }
    installed = {key: resource for key, resource in made.items() if resource is not None}
    cluster.make_workspaces(list(installed.values()))
    return installed
