import json
from collections.abc import Callable

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pytest
from pulumi import ResourceOptions

from spotproof.preview import Finding, capture, lint_inputs
from spotproof.preview.model import MODES, Mode


def found(program: Callable[[], object], mode: Mode = "unknown") -> list[tuple[str, str, str]]:
    def run() -> None:
        program()

    findings: list[Finding] = lint_inputs(capture(run, mode=mode))
    return [(finding.path, finding.message, finding.severity) for finding in findings]


def network() -> list[aws.ec2.Subnet]:
    vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", enable_dns_hostnames=True, tags={"a": "b"})
    return [aws.ec2.Subnet(f"s{i}", vpc_id=vpc.id, cidr_block=f"10.0.{i}.0/24") for i in range(2)]


def cluster() -> aws.eks.Cluster:
    subnets = [subnet.id for subnet in network()]
    document = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "*"}],
    }
    role = aws.iam.Role("role", assume_role_policy=json.dumps(document))
    aws.iam.RolePolicyAttachment("a", role=role.name, policy_arn=aws.iam.ManagedPolicy.AMAZON_EKS_CLUSTER_POLICY)
    aws.iam.RolePolicy("inline", role=role.id, policy=document)  # pyright: ignore[reportArgumentType]
    made = aws.eks.Cluster(
        "cluster",
        role_arn=role.arn,
        version="1.33",
        vpc_config={"subnet_ids": subnets, "endpoint_private_access": True},
        access_config=aws.eks.ClusterAccessConfigArgs(authentication_mode="API"),
    )
    template = aws.ec2.LaunchTemplate(
        "lt",
        instance_type="g6e.xlarge",
        block_device_mappings=[{"device_name": "/dev/xvda", "ebs": {"volume_size": 100, "volume_type": "gp3"}}],
    )
    aws.eks.NodeGroup(
        "group",
        cluster_name=made.name,
        node_role_arn=role.arn,
        subnet_ids=subnets,
        scaling_config={"desired_size": 2, "min_size": 2, "max_size": 2},
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        taints=[{"key": "a", "value": "b", "effect": "NO_SCHEDULE"}],
    )
    return made


def bucket() -> None:
    made = aws.s3.Bucket("b", force_destroy=False)
    aws.s3.BucketVersioning("v", bucket=made.id, versioning_configuration={"status": "Enabled"})
    aws.s3.BucketServerSideEncryptionConfiguration(
        "e", bucket=made.id, rules=[{"apply_server_side_encryption_by_default": {"sse_algorithm": "AES256"}}]
    )
    aws.s3.BucketLifecycleConfiguration(
        "l",
        bucket=made.id,
        rules=[{"id": "x", "status": "Enabled", "abort_incomplete_multipart_upload": {"days_after_initiation": 7}}],
    )


def workloads(options: ResourceOptions) -> None:
    namespace = k8s.core.v1.Namespace("ns", metadata={"labels": {"a": "b"}}, opts=options)
    inside = {"namespace": namespace.metadata.name}
    k8s.core.v1.ServiceAccount("sa", metadata=inside, opts=options)  # pyright: ignore[reportArgumentType]
    k8s.core.v1.ConfigMap("cm", metadata={"namespace": "x"}, data={"a": "1"}, opts=options)
    k8s.rbac.v1.RoleBinding(
        "rb",
        role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": "x"},
        subjects=[{"kind": "ServiceAccount", "name": "x"}],
        opts=options,
    )
    k8s.helm.v3.Release(
        "release",
        chart="karpenter",
        repository_opts={"repo": "https://charts.example.com"},
        values={"a": {"b": [1, True, "x"]}},
        namespace=namespace.metadata.name,
        opts=options,
    )
    k8s.apiextensions.CustomResource(
        "np", api_version="karpenter.sh/v1", kind="NodePool", spec={"anything": {"goes": 1}}, opts=options
    )
    k8s.core.v1.ResourceQuota("rq", spec={"hard": {"pods": 10}}, opts=options)  # pyright: ignore[reportArgumentType, reportCallIssue]
    k8s.core.v1.Service("svc", spec={"ports": [{"port": 80, "target_port": "http"}], "type": "ClusterIP"}, opts=options)


def environment() -> None:
    made = cluster()
    bucket()
    aws.Provider("other", region="us-west-2", default_tags={"tags": {"a": "b"}}, skip_metadata_api_check=True)
    provider = k8s.Provider(
        "k8s",
        kubeconfig=made.endpoint.apply(lambda url: json.dumps({"server": url})),
        cluster_identifier=made.arn,
        enable_server_side_apply=True,
    )
    workloads(ResourceOptions(provider=provider))


@pytest.mark.parametrize("mode", MODES)
def test_a_correct_program_has_no_findings(mode: Mode) -> None:
    assert found(environment, mode) == []


def group(**changes: object) -> aws.eks.NodeGroup:
    right = {"cluster_name": "c", "node_role_arn": "arn", "subnet_ids": ["s"]}
    sizes = {"desired_size": 1, "min_size": 1, "max_size": 1}
    return aws.eks.NodeGroup("group", **{**right, "scaling_config": sizes, **changes})  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_misspelt_nested_key_is_named_with_its_path_and_the_nearest_key() -> None:
    sizes = {"desird_size": 1, "desired_size": 1, "min_size": 1, "max_size": 1}
    assert found(lambda: group(scaling_config=sizes)) == [
        ("scalingConfig.desird_size", "unknown key 'desird_size'; did you mean 'desired_size'?", "error")
    ]


def test_a_missing_nested_key_is_named() -> None:
    assert found(lambda: group(scaling_config={"desired_size": 1, "min_size": 1})) == [
        ("scalingConfig.maxSize", "is missing, and must be there", "error")
    ]


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"subnet_ids": "s"}, "subnetIds", 'must be a list, got text: "s"'),
        ({"taints": {"key": "a"}}, "taints", 'must be a list, got a map: {"key": "a"}'),
        ({"labels": {"a": {"b": 1}}}, "labels.a", 'must be text, got a map: {"b": 1}'),
        ({"disk_size": "large"}, "diskSize", 'must be a whole number, got text: "large"'),
        ({"disk_size": 1.5}, "diskSize", "must be a whole number, got a number: 1.5"),
        ({"disk_size": True}, "diskSize", "must be a whole number, got true or false: true"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(changes: dict[str, object], path: str, message: str) -> None:
    assert found(lambda: group(**changes)) == [(path, message, "error")]


def test_text_that_a_provider_converts_is_a_warning() -> None:
    assert found(lambda: group(disk_size="20")) == [
        ("diskSize", 'must be a whole number, got text: "20" (the provider converts it)', "warning")
    ]


def test_kubernetes_converts_nothing() -> None:
    spec = {"ports": [{"port": "80"}]}
    assert found(lambda: k8s.core.v1.Service("s", spec=spec)) == [  # pyright: ignore[reportArgumentType]
        ("spec.ports[0].port", 'must be a whole number, got text: "80"', "error")
    ]


def test_a_near_miss_of_an_enum_value_is_a_warning() -> None:
    [(path, message, severity)] = found(lambda: k8s.core.v1.Service("s", spec={"type": "ClusterIp"}))
    assert (path, severity) == ("spec.type", "warning")
    assert "did you mean 'ClusterIP'?" in message


def test_an_instance_type_the_sdk_does_not_list_is_no_finding() -> None:
    assert found(lambda: aws.ec2.Instance("i", instance_type="p9.48xlarge", ami="ami-1")) == []


def test_a_secret_is_not_quoted() -> None:
    def program() -> None:
        k8s.core.v1.ConfigMap("c", data={"a": pulumi.Output.secret(987654321)})  # pyright: ignore[reportArgumentType]

    [(_, message, _)] = found(program)
    assert "a secret value" in message
    assert "987654321" not in message


def test_provider_inputs_are_judged_behind_their_json_text() -> None:
    assert found(lambda: aws.Provider("p", default_tags={"tagz": {"a": "b"}})) == [  # pyright: ignore[reportArgumentType, reportCallIssue]
        ("defaultTags.tagz", "unknown key 'tagz'; did you mean 'tags'?", "error")
    ]


def test_a_number_as_an_environment_variable_is_named_and_as_a_metric_it_is_none() -> None:
    container = {"name": "c", "image": "i", "env": [{"name": "A", "value": 1}]}
    [(path, message, _)] = found(lambda: k8s.core.v1.Pod("p", spec={"containers": [container]}))  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert path == "spec.containers[0].env[0].value"
    assert message == "must be text, got a whole number: 1"

    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Value", "value": 3}}}
    target = {"kind": "Deployment", "name": "d"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "metrics": [metric]}
    assert found(lambda: k8s.autoscaling.v2.HorizontalPodAutoscaler("h", spec=spec)) == []  # pyright: ignore[reportArgumentType, reportCallIssue]
