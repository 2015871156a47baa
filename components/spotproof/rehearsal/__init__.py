"""The local control plane of proofs and rehearsals: real Kubernetes, JobSet, KubeRay and Karpenter; no machines."""
