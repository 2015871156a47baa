"""Stack files are read as YAML 1.2, and what could be misread is named instead."""

from pathlib import Path

import pytest

from spotproof.settings import SettingsError, read_stack_file
from spotproof.settings.stack_file import join, parse_yaml

VALUES: list[tuple[str, object]] = [
    # words that YAML 1.1 would turn into something else
    ("off", "off"),
    ("on", "on"),
    ("yes", "yes"),
    ("1:30", "1:30"),
    ("2026-11-01", "2026-11-01"),
    ("true", True),
    ("null", None),
    ("~", None),
    ("16", 16),
    ("1.36", 1.36),
    ("0x10", 16),
    ("'16'", "16"),
    ("[a, b]", ["a", "b"]),
    ("{a: {b: 1}}", {"a": {"b": 1}}),
    ("|\n  two\n  lines\n", "two\nlines\n"),
]


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text for text, _ in VALUES])
def test_a_value_is_what_the_pulumi_cli_would_read(text: str, value: object) -> None:
    assert parse_yaml(f"key: {text}", "f.yaml") == {"key": value}


REFUSED = [
    ("a: 1\na: 2", "a", "twice, at lines 1 and 2"),
    ("config:\n  spotproof:environment:\n    spot: true\n    spot: false", "spot", "twice"),
    ("a: [1, {b: 2, b: 3}]", "a[1].b", "twice"),
    ("? [1, 2]\n: 3", "the file", "not text"),
    ("a: 1" + "0" * 5000, "a", "cannot be read"),
    ("a: 1e999", "a", "cannot be read"),
    ("a: .nan", "a", "cannot be read"),
    ('a: "\\ud800"', "a", "half a character"),
    ("a: [", "f.yaml", "not YAML at line"),
    ("a: b: c", "f.yaml", "not YAML at line 1"),
    ("a: 1\n---\nb: 2", "f.yaml", "not YAML"),
    ("a: &a {b: 1}\nc: {<<: *a}", 'c."<<"', "merge key"),
    ("- a", "f.yaml", "not a mapping"),
    ("just words", "f.yaml", "not a mapping"),
    ("[" * 20_000, "f.yaml", "not YAML"),
]


@pytest.mark.parametrize(("text", "key", "says"), REFUSED, ids=[f"{key} {says}" for _, key, says in REFUSED])
def test_what_could_be_misread_is_named_with_its_key(text: str, key: str, says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_yaml(text, "f.yaml")

    assert [problem.key for problem in caught.value.problems] == [key]
    assert says in str(caught.value)


def test_all_duplicates_of_a_file_come_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        parse_yaml("a: 1\na: 2\nb: {c: 1, c: 2}", "f.yaml")

    assert [problem.key for problem in caught.value.problems] == ["a", "b.c"]


def test_an_empty_file_has_no_settings(tmp_path: Path) -> None:
    for text in ("", "config:\n", "# nothing\n", "encryptionsalt: v1:abc\n"):
        file = tmp_path / "Pulumi.dev.yaml"
        file.write_text(text)
        assert read_stack_file(file) == {}


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match=r"Pulumi\.dev\.yaml: cannot be read \(it is not UTF-8 text\)"):
        read_stack_file(file)


@pytest.mark.parametrize(
    ("path", "key", "whole"),
    [("", "a", "a"), ("a", "b", "a.b"), ("tags", "aws:x", "tags.aws:x"), ("a", "b.c", 'a."b.c"'), ("a", "", 'a.""')],
)
def test_a_key_that_would_read_as_a_path_is_quoted(path: str, key: str, whole: str) -> None:
    assert join(path, key) == whole
