"""What somebody else's cluster is called here, and where its training saves: from settings alone, asking nobody."""

from spotproof.manifests.checkpoints import MOUNT_PATH, CheckpointStore
from spotproof.settings import Environment
from spotproof.settings.existing import Existing
from spotproof.settings.existing.checks import CLAIM


def cluster_identifier(existing: Existing) -> str:
    """What tells this cluster from another for good: only a change of it makes everything in the cluster anew."""
    return f"existing/{existing.name}"


def checkpoint_store(stack: str, environment: Environment) -> CheckpointStore:
    """Where training of a stack saves, from its settings alone.

    Raises:
        ValueError: the settings name no store; validated ones do.
    """
    del stack
    checkpoints = environment.checkpoints
    if checkpoints.uri is None:
        raise ValueError("checkpoints.uri is missing")
    if not checkpoints.uri.startswith(CLAIM):
        is_known = checkpoints.secret is not None or bool(checkpoints.service_account_annotations)
        return CheckpointStore(checkpoints.uri, secret=checkpoints.secret, way_in_is_known=is_known)
    claim, _, path = checkpoints.uri.removeprefix(CLAIM).partition("/")
    return CheckpointStore(f"file://{MOUNT_PATH}/{path}".rstrip("/"), volume_claim=claim)
