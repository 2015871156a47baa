"""The operators' charts, pinned; each line says where the version was seen. Karpenter's: clouds/aws/versions.py."""

from typing import Final

from spotproof.clouds.helm import Chart

# kubernetes-sigs/jobset release v0.12.0 of 2026-05-08, chart of the same number beside its image
JOBSET: Final = Chart("registry.k8s.io", "jobset/charts/jobset", "0.12.0", oci=True)
# ray-project/kuberay release v1.7.0 of 2026-08-19
KUBERAY: Final = Chart("ray-project.github.io", "kuberay-helm/kuberay-operator", "1.7.0", oci=False)
# NVIDIA/k8s-device-plugin release v0.20.0 of 2026-08-19 (PR 1972); 0.19.0 to 0.19.2 broke nodes by their defaults
GPU_PLUGIN: Final = Chart("nvidia.github.io", "k8s-device-plugin/nvidia-device-plugin", "0.20.0", oci=False)
