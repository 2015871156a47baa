"""Where training saves, and what a pod carries to get at it. Pure: names and paths, no bucket."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MOUNT_PATH: Final = "/checkpoints"
"""Where a claim is mounted in every pod."""


@dataclass(frozen=True)
class CheckpointStore:
    """A store that several pods write at once. `uri` has no slash at its end.

    A workspace writes below `uri/<namespace>/` only. `pod_labels` go on every pod, where an identity is bound by them;
    `pod_env` are variables by which libraries in it sign in; `secret` is a Secret of the workspace whose keys become
    environment variables; `volume_claim` is a ReadWriteMany claim of the workspace, mounted at `MOUNT_PATH`, below
    which `uri` then lies. `workspace_uri` is the form of a workspace's place, with `{namespace}` in it, where that is
    not below `uri`: on Azure a container of its own. `way_in_is_known` is false where nothing here says how pods get
    in: a store of somebody else's, without a secret and without an identity.
    """

    uri: str
    pod_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    pod_env: Mapping[str, str] = field(default_factory=dict[str, str])
    secret: str | None = None
    volume_claim: str | None = None
    workspace_uri: str | None = None
    way_in_is_known: bool = True

    def prefix(self, namespace: str) -> str:
        """The place of one workspace; its jobs find their own below it, in `CHECKPOINT_URI`."""
        form = f"{self.uri}/{{namespace}}" if self.workspace_uri is None else self.workspace_uri
        return form.replace("{namespace}", namespace)
