"""Operators, a fallback policy and a workspace on a cluster somebody else made, beside whatever else you put there."""

import pulumi
import pulumi_kubernetes as k8s

from spotproof import operators
from spotproof.clouds.existing import ExistingEnvironment

lab = ExistingEnvironment(
    "lab",
    {
        "environment": {
            "provider": {"cloud": "existing", "context": pulumi.Config().require("context"), "clusterName": "lab"},
            "pools": [
                {
                    "name": "t4-spot",
                    "capacity": "spot",
                    "maxNodes": 4,
                    "accelerator": {"type": "nvidia-t4", "count": 1},
                    "nodeLabels": {"node.example.com/group": "t4-spot"},
                    "taints": [{"key": "node.example.com/reclaimed"}],
                },
                {
                    "name": "t4",
                    "capacity": "on-demand",
                    "maxNodes": 2,
                    "accelerator": {"type": "nvidia-t4", "count": 1},
                    "nodeLabels": {"node.example.com/group": "t4"},
                    "taints": [],
                },
            ],
            "checkpoints": {"uri": "s3://lab-checkpoints/training", "secret": "checkpoint-store"},
            "workspaces": [{"namespace": "research", "members": ["group:research"]}],
            "fallbackPolicies": [
                {"name": "standard", "tiers": [{"pool": "t4-spot", "pendingTimeout": "30m"}, {"pool": "t4"}]}
            ],
            "operators": {"gpuPlugin": {"mode": "existing"}},
        }
    },
)
operators.install("lab", lab.settings, lab.cluster)

# your own objects go through the same provider
k8s.core.v1.ConfigMap(
    "motd",
    metadata={"name": "motd", "namespace": "default"},
    data={"text": "Training runs in namespace research."},
    opts=pulumi.ResourceOptions(provider=lab.cluster.kubernetes_provider),
)

pulumi.export("checkpoints", lab.cluster.checkpoints.prefix("research"))
