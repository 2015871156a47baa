import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pytest
from pulumi import ResourceOptions

from spotproof.preview import Configuration, ProgramError, Target, capture, loop
from spotproof.preview.model import ENCRYPTED, Mode

PREFIX = "urn:pulumi:dev::project::"


def failure(program: Callable[[], None], target: Target | None = None, mode: Mode = "unknown") -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        capture(program, target, mode)
    return caught.value


def encrypted(key: str) -> Target:
    return Target(configuration=Configuration({key: ENCRYPTED}, frozenset({key})))


def write_program(folder: Path, main: str, **modules: str) -> Path:
    folder.mkdir()
    (folder / "__main__.py").write_text(main)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


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


def test_a_yaml_group_that_is_not_yaml_is_an_error_in_one_line() -> None:
    text = str(failure(lambda: k8s.yaml.ConfigGroup("g", yaml=["a: ["]) and None))
    assert "is not YAML" in text
    assert "\n" not in text
