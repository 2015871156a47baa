"""What a stack exports on every cloud: pools and policies to name in jobs, and where each workspace saves."""

import pulumi

from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.settings import Environment


def common_exports(environment: Environment, store: CheckpointStore) -> dict[str, pulumi.Input[object]]:
    """The exports that read alike everywhere; a cloud adds its cluster's name and how kubectl reaches it."""
    return {
        "region": environment.provider.place,
        "checkpointUri": store.uri,
        "pools": [pool.name for pool in environment.pools],
        "fallbackPolicies": [policy.name for policy in environment.fallback_policies],
        "workspaces": {
            one.namespace: {"serviceAccount": one.service_account, "checkpoints": f"{store.prefix(one.namespace)}/"}
            for one in environment.workspaces
        },
    }
