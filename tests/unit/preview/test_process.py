import logging
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pulumi
import pulumi_aws as aws
import pytest

from spotproof.preview import Configuration, Target, capture, preview_stack

PREFIX = "urn:pulumi:dev::project::"


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


def test_a_line_that_both_modes_print_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    def program() -> None:
        print("same", end=" ")  # noqa: T201
        print("line")  # noqa: T201
        aws.s3.Bucket("b").arn.apply(lambda arn: print(arn[:3]))  # noqa: T201

    preview_stack(program, Target())
    assert capsys.readouterr().err == "same line\narn\n"
