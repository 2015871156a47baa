"""The charts of this cloud, pinned; each line says where the version was seen."""

from typing import Final

from spotproof.clouds.helm import Chart

# aws/karpenter-provider-aws release v1.14.1 of 2026-08-20; both charts carry the number without a v
KARPENTER: Final = Chart("public.ecr.aws", "karpenter/karpenter", "1.14.1", oci=True)
KARPENTER_CRD: Final = Chart("public.ecr.aws", "karpenter/karpenter-crd", "1.14.1", oci=True)
