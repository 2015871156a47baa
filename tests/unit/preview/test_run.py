import asyncio
import logging
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pytest
from pulumi import Alias, ResourceOptions

from spotproof.preview import Capture, Configuration, ProgramError, Resource, Target, capture, loop
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


def test_two_resources_with_one_urn_are_refused_by_name_and_line() -> None:
    def program() -> None:
        aws.s3.Bucket("b")
        aws.s3.Bucket("b")

    error = failure(program)
    assert f"two resources have the URN {PREFIX}aws:s3/bucket:Bucket::b" in str(error)
    assert error.location is not None
    assert error.location[0] == __file__


def test_a_blocking_data_source_ends_with_its_token_and_line() -> None:
    error = failure(lambda: aws.get_availability_zones() and None)
    assert "calls aws:index/getAvailabilityZones:getAvailabilityZones" in str(error)
    assert "`get_availability_zones_output`" in str(error)
    assert f"{Path(__file__).name}:" in str(error)


def test_a_blocking_data_source_ends_too_where_transforms_need_threads() -> None:
    def program() -> None:
        pulumi.runtime.register_resource_transform(lambda _: None)
        aws.get_availability_zones()

    assert "whose answer is not known before" in str(failure(program))


def test_an_exception_names_its_type_line_and_resource() -> None:
    error = failure(lambda: aws.s3.Bucket("b", nonsense=1) and None)  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert "TypeError" in str(error)
    assert "Bucket 'b'" in str(error)
    assert error.location is not None


def test_an_input_the_sdk_itself_refuses_is_an_error_with_resource_and_line() -> None:
    error = failure(lambda: aws.s3.Bucket("b", tags={"a": ["b"]}) and None)  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert "While processing resource: 'b'" in str(error)
    assert error.location is not None
    assert error.location[0] == __file__


def test_an_exception_under_apply_names_the_programs_line() -> None:
    error = failure(lambda: pulumi.Output.from_input(0).apply(lambda zero: 1 / zero) and None)
    assert "ZeroDivisionError" in str(error)
    assert f"{Path(__file__).name}:" in str(error)


def test_a_transform_that_raises_is_an_error_with_its_message() -> None:
    def broken(_: pulumi.ResourceTransformArgs) -> None:
        raise ValueError("nope")

    error = failure(lambda: aws.s3.Bucket("b", opts=ResourceOptions(transforms=[broken])) and None)
    assert "a transform raised: nope" in str(error)


def test_a_run_error_is_shown_as_it_is() -> None:
    def program() -> None:
        raise pulumi.RunError("please set region")

    assert str(failure(program)) == "please set region"


def test_exit_zero_is_a_good_end_and_another_status_an_error() -> None:
    assert capture(lambda: sys.exit(0)).resources
    assert "sys.exit(3)" in str(failure(lambda: sys.exit(3)))


def test_an_error_message_does_not_quote_a_secret() -> None:
    def program() -> None:
        raise ValueError(f"cannot use {pulumi.Config().require('word')}")

    target = Target(configuration=Configuration({"project:word": "hunter2"}, frozenset({"project:word"})))
    assert str(failure(program, target)).endswith("cannot use [secret]")


def test_an_error_under_apply_on_a_secret_withholds_its_message() -> None:
    error = failure(lambda: pulumi.Output.secret("swordfish").apply(int) and None)
    assert "swordfish" not in str(error)
    assert "withheld" in str(error)


def test_a_program_that_waits_for_ever_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "IDLE_SECONDS", 0.1)

    async def forever() -> None:
        await asyncio.Event().wait()

    assert "has waited" in str(failure(lambda: pulumi.export("x", pulumi.Output.from_input(forever()))))


def write_program(folder: Path, main: str, **modules: str) -> Path:
    folder.mkdir()
    (folder / "__main__.py").write_text(main)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_two_programs_may_have_modules_of_the_same_name(tmp_path: Path) -> None:
    main = "import pulumi, part\npulumi.export('x', part.X)"
    programs = [write_program(tmp_path / str(number), main, part=f"X = {number}") for number in (1, 2)]
    assert [capture(program).outputs for program in programs] == [{"x": 1}, {"x": 2}]


def test_the_process_is_left_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = (
        "import os, sys\nos.chdir('/')\nsys.argv.append('x')\nsys.path.append('x')\nos.environ['X'] = 'x'\nprint('hi')"
    )
    program = write_program(tmp_path / "p", main)
    before = (Path.cwd(), list(sys.argv), list(sys.path), dict(os.environ))
    capture(program)
    assert (Path.cwd(), sys.argv, sys.path, dict(os.environ)) == before
    assert capsys.readouterr().out == ""


def test_what_a_program_prints_goes_to_stderr_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    target = Target(configuration=Configuration({"project:word": "hunter2"}, frozenset({"project:word"})))
    capture(lambda: print("it is", pulumi.Config().get("word")), target)  # noqa: T201
    assert capsys.readouterr() == ("", "it is [secret]\n")


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


def test_code_that_chokes_on_an_encrypted_value_is_told_what_it_was_given() -> None:
    error = failure(lambda: pulumi.Config().require_secret("word").apply(int) and None, encrypted("project:word"))
    assert "withheld" in str(error)
    assert "stand-in" in str(error)


@pytest.mark.parametrize("raised", [GeneratorExit, asyncio.CancelledError, BaseException])
def test_what_is_no_exception_by_name_is_an_error_too(raised: type[BaseException]) -> None:
    def program() -> None:
        raise raised

    assert raised.__name__ in str(failure(program))


def test_an_exit_under_apply_is_an_error_and_not_our_end() -> None:
    error = failure(lambda: pulumi.Output.from_input(0).apply(sys.exit) and None)
    assert "sys.exit(0)" in str(error)


def test_a_keyboard_interrupt_stays_one() -> None:
    def program() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        capture(program)


class BrokenError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_an_exception_without_a_readable_text_is_named_by_its_type() -> None:
    def program() -> None:
        raise BrokenError

    assert "BrokenError: no message" in str(failure(program))


def test_a_syntax_error_names_its_own_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"part\.py:2: SyntaxError"):
        capture(write_program(tmp_path / "p", "import part", part="x = 1\ndef f(:\n"))


@pytest.mark.parametrize("reading", ["require", "require_int"])
def test_configuration_that_is_missing_or_wrong_names_key_and_line(reading: str) -> None:
    target = Target(configuration=Configuration({"project:size": "big"} if reading == "require_int" else {}))
    error = failure(lambda: getattr(pulumi.Config(), reading)("size"), target)
    assert "project:size" in str(error)
    assert f"{Path(__file__).name}:" in str(error)


def test_a_low_level_call_that_blocks_names_its_token() -> None:
    def program() -> None:
        answer = pulumi.runtime.invoke("aws:index/getRegion:getRegion", {})
        print(answer.value["name"])  # noqa: T201

    assert "It called aws:index/getRegion:getRegion" in str(failure(program))


def test_an_exception_of_a_registration_names_its_resource() -> None:
    error = failure(lambda: aws.s3.Bucket("b", tags={1: "a"}) and None)  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert "Bucket 'b'" in str(error)


SECRET = "swordfish-of-the-program"  # noqa: S105


def quoted_after_it_was_sent() -> None:
    aws.ssm.Parameter("p", type="SecureString", value=pulumi.Output.secret(SECRET))
    raise ValueError(SECRET)


def quoted_by_a_transform() -> None:
    def transform(args: pulumi.ResourceTransformArgs) -> None:
        raise ValueError(str(args.props))

    value = pulumi.Output.secret(SECRET)
    aws.ssm.Parameter("p", type="SecureString", value=value, opts=ResourceOptions(transforms=[transform]))


def quoted_as_a_name() -> None:
    for _ in range(2):
        aws.ssm.Parameter(SECRET, type="SecureString", value=pulumi.Output.secret(SECRET))


def quoted_by_the_sdk() -> None:
    aws.s3.Bucket("b", tags=pulumi.Output.secret({SECRET: object()}))  # pyright: ignore[reportArgumentType, reportCallIssue]


@pytest.mark.parametrize(
    "program", [quoted_after_it_was_sent, quoted_by_a_transform, quoted_as_a_name, quoted_by_the_sdk]
)
def test_no_error_quotes_a_secret_of_the_program(program: Callable[[], None]) -> None:
    assert SECRET not in str(failure(program))


def test_a_thread_that_fails_is_a_warning_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def program() -> None:
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()

    [message] = capture(program).messages
    assert message.severity == "warning"
    assert "ZeroDivisionError" in message.text
    assert capsys.readouterr().err == ""


def test_filters_of_warnings_and_logging_are_taken_back() -> None:
    def program() -> None:
        warnings.simplefilter("always")
        logging.basicConfig(level=logging.DEBUG, force=True)

    before = (list(warnings.filters), logging.getLogger().level, list(logging.getLogger().handlers))
    capture(program)
    assert (list(warnings.filters), logging.getLogger().level, logging.getLogger().handlers) == before


def test_a_program_has_an_output_as_python_gives_it(capfd: pytest.CaptureFixture[str]) -> None:
    target = Target(configuration=Configuration({"project:word": "hunter2"}, frozenset({"project:word"})))

    def program() -> None:
        sys.stdout.buffer.write(b"bytes of hunter2\n")
        assert not sys.stdout.isatty()
        subprocess.run([sys.executable, "-c", "print('a child')"], check=True)

    capture(program, target)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == ["bytes of [secret]", "a child"]


def test_a_module_beside_the_program_is_read_anew_for_every_stack(tmp_path: Path) -> None:
    (tmp_path / "common.py").write_text("import pulumi\nSTACK = pulumi.get_stack()")
    main = "import sys, pulumi\nsys.path.append('..')\nimport common\npulumi.export('x', common.STACK)"
    program = write_program(tmp_path / "p", main)
    assert [capture(program, Target(stack=stack)).outputs for stack in "ab"] == [{"x": "a"}, {"x": "b"}]


def test_keys_and_dates_of_a_yaml_group_are_text_as_in_json() -> None:
    def program() -> None:
        text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {1: 2026-01-01}}"
        k8s.yaml.ConfigGroup("g", yaml=[text])

    assert named(capture(program), "x").inputs["data"] == {"1": "2026-01-01"}
