import sys
from collections.abc import Callable

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pytest
from pulumi import Alias, ResourceOptions

from spotproof.preview import Capture, Configuration, ProgramError, Resource, Target, capture
from spotproof.preview.model import ENCRYPTED, UNKNOWN, Mode, Secret

PREFIX = "urn:pulumi:dev::project::"


class Store(pulumi.ComponentResource):
    def __init__(self, name: str, opts: ResourceOptions | None = None) -> None:
        super().__init__("test:index:Store", name, {"size": 1}, opts)
        aliases = [Alias(name="old"), Alias(parent=pulumi.ROOT_STACK_RESOURCE)]
        self.bucket = aws.s3.Bucket(f"{name}-bucket", opts=ResourceOptions(parent=self, aliases=aliases))
        self.register_outputs({"arn": self.bucket.arn})


def named(found: Capture, name: str) -> Resource:
    return next(resource for resource in found.resources if resource.name == name)


def failure(program: Callable[[], None], target: Target | None = None, mode: Mode = "unknown") -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        capture(program, target, mode)
    return caught.value


def test_a_urn_holds_the_types_of_all_parents_and_its_own_name() -> None:
    found = capture(lambda: Store("a") and None)
    assert [resource.urn for resource in found.resources] == [
        f"{PREFIX}pulumi:pulumi:Stack::project-dev",
        f"{PREFIX}test:index:Store$aws:s3/bucket:Bucket::a-bucket",
        f"{PREFIX}test:index:Store::a",
    ]


def test_a_child_inherits_provider_protection_and_retention() -> None:
    def program() -> None:
        provider = aws.Provider("west", region="us-west-2")
        Store("a", ResourceOptions(provider=provider, protect=True, retain_on_delete=True))

    bucket = named(capture(program), "a-bucket")
    assert bucket.provider == f"{PREFIX}pulumi:providers:aws::west::$unknown"
    assert (bucket.protect, bucket.retain_on_delete) == (True, True)


def test_an_alias_is_resolved_to_the_urn_it_stands_for() -> None:
    aliases = named(capture(lambda: Store("a") and None), "a-bucket").aliases
    assert f"{PREFIX}test:index:Store$aws:s3/bucket:Bucket::old" in aliases
    assert f"{PREFIX}aws:s3/bucket:Bucket::a-bucket" in aliases


def test_depending_on_a_component_is_depending_on_its_resources() -> None:
    def program() -> None:
        aws.sqs.Queue("q", opts=ResourceOptions(depends_on=[Store("a")]))

    assert named(capture(program), "q").dependencies == (f"{PREFIX}test:index:Store$aws:s3/bucket:Bucket::a-bucket",)


def test_a_missing_output_is_unknown_in_one_mode_and_invented_in_the_other() -> None:
    def program() -> None:
        vpc = aws.ec2.Vpc("v", cidr_block="10.0.0.0/16")
        aws.ec2.Subnet("s", vpc_id=vpc.id, tags={"arn": vpc.arn, "cidr": vpc.cidr_block})

    unknown = named(capture(program), "s").inputs
    known = named(capture(program, mode="known"), "s").inputs
    assert unknown == {"vpcId": UNKNOWN, "tags": {"arn": UNKNOWN, "cidr": "10.0.0.0/16"}}
    assert str(known["vpcId"]).startswith("v-")
    assert str(known["tags"]).count("arn:aws:ec2:")


def test_code_under_apply_runs_in_known_mode_with_values_of_the_sdks_types() -> None:
    def program() -> None:
        cluster = aws.eks.Cluster("c", role_arn="arn:aws:iam::1:role/r", vpc_config={"subnet_ids": ["a"]})
        pulumi.export("issuer", cluster.identities[0].oidcs[0].issuer)  # pyright: ignore[reportOptionalSubscript]
        pulumi.export("ca", cluster.certificate_authority.data)
        namespace = k8s.core.v1.Namespace("n")
        pulumi.export("namespace", namespace.metadata.name)

    outputs = capture(program, mode="known").outputs
    assert str(outputs["issuer"]).startswith("https://")
    assert isinstance(outputs["ca"], str)
    assert str(outputs["namespace"]).startswith("n-")


def test_two_resources_are_invented_differently_and_two_runs_alike() -> None:
    def program() -> None:
        pulumi.export("arns", [aws.s3.Bucket(name).arn for name in ("a", "b")])

    first, second = (capture(program, mode="known").outputs["arns"] for _ in range(2))
    assert isinstance(first, list)
    assert first == second
    assert first[0] != first[1]


def test_a_secret_stays_one_through_configuration_inputs_and_exports() -> None:
    def program() -> None:
        word = pulumi.Config().require_secret("word")
        aws.ssm.Parameter("p", type="SecureString", value=word)
        pulumi.export("word", word)

    target = Target(configuration=Configuration({"project:word": "hunter2"}, frozenset({"project:word"})))
    found = capture(program, target)
    assert isinstance(found.outputs["word"], Secret)
    assert isinstance(named(found, "p").inputs["value"], Secret)
    assert "hunter2" not in repr(found)


def test_a_stack_wide_transform_changes_inputs_and_options() -> None:
    def tag(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if args.type_ != "aws:s3/bucket:Bucket":
            return None
        args.opts.protect = True
        return pulumi.ResourceTransformResult({**args.props, "tags": {"team": "a"}}, args.opts)

    def program() -> None:
        pulumi.runtime.register_resource_transform(tag)
        Store("a")

    bucket = named(capture(program), "a-bucket")
    assert bucket.inputs == {"tags": {"team": "a"}}
    assert bucket.protect


def test_a_parents_transform_reaches_its_children() -> None:
    def tag(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        return pulumi.ResourceTransformResult({**args.props, "tags": {"team": "a"}}, args.opts)

    found = capture(lambda: Store("a", ResourceOptions(transforms=[tag])) and None)
    assert named(found, "a-bucket").inputs == {"tags": {"team": "a"}}


def test_a_resource_that_is_read_is_marked_and_keeps_its_id() -> None:
    def program() -> None:
        pulumi.export("id", aws.ec2.Vpc.get("v", "vpc-1").id)

    found = capture(program)
    assert named(found, "v").read
    assert found.outputs["id"] == "vpc-1"


def test_outputs_of_another_stack_are_unknown() -> None:
    def program() -> None:
        pulumi.export("vpc", pulumi.StackReference("org/network/prod").get_output("vpc"))

    assert capture(program).outputs["vpc"] is UNKNOWN


def test_a_yaml_group_has_its_children() -> None:
    def program() -> None:
        k8s.yaml.ConfigGroup("g", yaml=["{apiVersion: v1, kind: Namespace, metadata: {name: x}}"])

    types = {resource.type for resource in capture(program).resources}
    assert "kubernetes:core/v1:Namespace" in types


def test_the_output_form_of_a_data_source_is_unknown() -> None:
    def program() -> None:
        pulumi.export("zones", aws.get_availability_zones_output(state="available").names)

    assert capture(program).outputs["zones"] is UNKNOWN


def test_an_asynchronous_program_exports_what_it_returns() -> None:
    async def main() -> dict[str, int]:
        return {"answer": 42}

    assert capture(lambda: pulumi.run(main)).outputs == {"answer": 42}


def test_what_a_program_logs_is_kept() -> None:
    found = capture(lambda: pulumi.log.warn("careful"))
    assert [(message.severity, message.text) for message in found.messages] == [("warning", "careful")]


def test_an_input_of_the_wrong_shape_does_not_stop_the_run() -> None:
    found = capture(lambda: aws.s3.Bucket("b", tags={"a": "b"}, cors_rules={"x": 1}) and None)  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert named(found, "b").inputs["corsRules"] == {"x": 1}


def test_exit_zero_is_a_good_end_and_another_status_an_error() -> None:
    assert capture(lambda: sys.exit(0)).resources
    assert "sys.exit(3)" in str(failure(lambda: sys.exit(3)))


def test_configuration_does_not_leak_into_the_next_run() -> None:
    def program() -> None:
        pulumi.runtime.set_config("project:size", "2")
        pulumi.export("size", pulumi.Config().get("size"))

    assert capture(program).outputs == {"size": "2"}
    assert capture(lambda: pulumi.export("size", pulumi.Config().get("size") or "unset")).outputs == {"size": "unset"}


def encrypted(key: str) -> Target:
    return Target(configuration=Configuration({key: ENCRYPTED}, frozenset({key})))


def test_an_encrypted_number_is_read_as_one() -> None:
    found = capture(
        lambda: pulumi.export("size", pulumi.Config().require_secret_int("size")), encrypted("project:size")
    )
    assert found.outputs == {"size": Secret(1)}


def test_a_keyboard_interrupt_stays_one() -> None:
    def program() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        capture(program)


def test_keys_and_dates_of_a_yaml_group_are_text_as_in_json() -> None:
    def program() -> None:
        text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {1: 2026-01-01}}"
        k8s.yaml.ConfigGroup("g", yaml=[text])

    assert named(capture(program), "x").inputs["data"] == {"1": "2026-01-01"}


def test_a_providers_version_is_among_its_inputs_as_the_engine_writes_it() -> None:
    def program() -> None:
        aws.Provider("there", region="us-east-1")

    (provider,) = (one for one in capture(program).resources if one.type == "pulumi:providers:aws")
    assert provider.inputs["version"] == provider.version != ""
