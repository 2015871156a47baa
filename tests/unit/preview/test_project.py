from pathlib import Path

import pytest

from spotproof.preview import Project, ProjectError, load_project
from spotproof.preview.model import ENCRYPTED
from spotproof.preview.project import UnknownStackError


def project(folder: Path, declared: str = "", **stacks: str) -> Project:
    (folder / "infra").mkdir()
    (folder / "infra" / "__main__.py").write_text("")
    (folder / "Pulumi.yaml").write_text(f"name: demo\nruntime: python\nmain: infra\nstackConfigDir: stacks\n{declared}")
    (folder / "stacks").mkdir()
    for name, text in stacks.items():
        (folder / "stacks" / f"Pulumi.{name}.yaml").write_text(text)
    return load_project(folder)


def test_stacks_are_the_files_of_the_stack_folder(tmp_path: Path) -> None:
    assert list(project(tmp_path, dev="config: {}", prod="config: {}").stack_files) == ["dev", "prod"]


def test_an_unknown_stack_names_the_nearest_and_all(tmp_path: Path) -> None:
    with pytest.raises(UnknownStackError, match=r"Did you mean dev\? Known: dev, prod"):
        project(tmp_path, dev="", prod="").target("dve")


def test_configuration_goes_to_the_wire_as_text_under_full_keys(tmp_path: Path) -> None:
    found = project(tmp_path, dev="config: {aws:region: us-east-1, size: 3, on: true, list: [1, {a: b}]}")
    assert found.target("dev").configuration.values == {
        "aws:region": "us-east-1",
        "demo:size": "3",
        "demo:on": "true",
        "demo:list": '[1,{"a":"b"}]',
    }


def test_an_encrypted_value_becomes_a_secret_stand_in(tmp_path: Path) -> None:
    configuration = project(tmp_path, dev="config: {word: {secure: AAAA}}").target("dev").configuration
    assert configuration.values == {"demo:word": ENCRYPTED}
    assert configuration.secret_keys == {"demo:word"}


def test_a_default_of_the_project_file_yields_to_the_stack(tmp_path: Path) -> None:
    declared = "config: {size: {type: integer, default: 3}, other: {default: x}}"
    values = project(tmp_path, declared, dev="config: {size: 4}").target("dev").configuration.values
    assert values == {"demo:size": "4", "demo:other": "x"}


def test_a_value_without_default_that_a_stack_lacks_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="stack 'dev' is missing the configuration value 'size'"):
        project(tmp_path, "config: {size: {type: integer}}", dev="config: {}").target("dev")


def test_a_value_of_another_type_than_declared_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="'size' must be of type integer"):
        project(tmp_path, "config: {size: {type: integer}}", dev="config: {size: [1]}").target("dev")


def test_a_project_in_another_language_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: nodejs\n")
    with pytest.raises(ProjectError, match="nodejs"):
        load_project(tmp_path)


def test_a_folder_without_a_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"no Pulumi\.yaml"):
        load_project(tmp_path)


@pytest.mark.parametrize(
    ("kind", "text", "good"),
    [
        ("integer", '"3"', True),
        ("integer", '"big"', False),
        ("integer", '"1.5"', False),
        ("boolean", '"True"', True),
        ("boolean", '"yes"', False),
        ("array", '"[1]"', True),
        ("object", '"[1]"', False),
        ("string", '"3"', True),
    ],
)
def test_a_value_written_as_text_is_of_the_declared_type(tmp_path: Path, kind: str, text: str, *, good: bool) -> None:
    found = project(tmp_path, f"config: {{size: {{type: {kind}}}}}", dev=f"config: {{size: {text}}}")
    if good:
        assert found.target("dev").configuration.values
    else:
        with pytest.raises(ProjectError, match=f"'size' must be of type {kind}"):
            found.target("dev")


def test_a_secret_in_plain_text_is_an_error_that_does_not_quote_it(tmp_path: Path) -> None:
    found = project(tmp_path, "config: {word: {type: string, secret: true}}", dev="config: {word: hunter2}")
    with pytest.raises(ProjectError, match="pulumi config set --secret word") as caught:
        found.target("dev")
    assert "hunter2" not in str(caught.value)


def test_a_bare_path_as_config_is_the_folder_of_the_stacks(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("")
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: python\nconfig: ./stacks\n")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.qa.yaml").write_text("")
    assert list(load_project(tmp_path).stack_files) == ["qa"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("name: demo\n", "has no `runtime`"), ("name: demo\nruntime: python\nconfig: [a]\n", "`config` must map")],
)
def test_a_project_file_of_another_shape_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "__main__.py").write_text("")
    (tmp_path / "Pulumi.yaml").write_text(text)
    with pytest.raises(ProjectError, match=message):
        load_project(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"there is no folder .*nowhere"):
        load_project(tmp_path / "nowhere")


def test_a_folder_of_stacks_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("")
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: python\nstackConfigDir: stakcs\n")
    with pytest.raises(ProjectError, match="stackConfigDir names stakcs"):
        load_project(tmp_path)
