"""A program of a thousand resources: typed AWS and Kubernetes ones in components, with dependencies and outputs."""

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

GROUPS = 100
IN_A_GROUP = 10


class Group(pulumi.ComponentResource):
    """A component, a role that others wait for, and eight resources that use its outputs."""

    def __init__(self, name: str) -> None:
        super().__init__("benchmark:index:Group", name)
        child = pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(f"{name}-role", assume_role_policy="{}", tags={"group": name}, opts=child)
        for number in range((IN_A_GROUP - 2) // 2):
            aws.s3.Bucket(f"{name}-bucket-{number}", tags={"role": role.name, "number": str(number)}, opts=child)
            k8s.core.v1.ConfigMap(
                f"{name}-map-{number}",
                metadata={"name": f"{name}-{number}", "labels": {"group": name}},
                data={"role": role.arn},
                opts=child,
            )
        self.register_outputs({"role": role.arn})


def program() -> None:
    """GROUPS x IN_A_GROUP resources."""
    for number in range(GROUPS):
        Group(f"group-{number}")
