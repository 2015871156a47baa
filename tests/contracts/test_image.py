"""What the controller's image is made of: the same versions as everything else, no Pulumi, nobody's rights."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from spotproof.settings import read_yaml

ROOT: Final = Path(__file__).resolve().parents[2]
REQUIREMENTS: Final = ROOT / "requirements"
CONTAINERFILE: Final = (ROOT / "Containerfile").read_text(encoding="utf-8")
STAGES: Final = CONTAINERFILE.split("\nFROM ")[1:]
IMAGE_WORKFLOW: Final[Any] = read_yaml(ROOT / ".github" / "workflows" / "image.yml")
DIGEST: Final = f"sha256:{'0123456789abcdef' * 4}"
# What buildx prints for a format that begins with .Manifest (docker/buildx#1175), and what it prints as JSON.
DOCKER: Final = """\
#!/usr/bin/env bash
case "$*" in
  *"imagetools inspect"*"{{json .Manifest.Digest}}"*) echo '"DIGEST"' ;;
  *"imagetools inspect"*) printf 'Name:   docker.io/library/python\nDigest: DIGEST\n' ;;
  *"buildx build"*) printf '%s\\n' "$@" >built ;;
esac
"""
WORKFLOWS: Final = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def locked(name: str) -> dict[str, str]:
    """Package -> version of a lock file."""
    text = (REQUIREMENTS / f"{name}.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9][a-z0-9.-]*)==([^ ;\\]+)", text, re.MULTILINE))


def named(lines: list[str]) -> set[str]:
    """Packages of requirements, without versions and remarks."""
    found = (re.match(r"[A-Za-z0-9.-]+", line) for line in lines)
    return {match[0].lower().replace(".", "-") for match in found if match}


def test_the_controller_runs_the_versions_that_everything_was_tested_with() -> None:
    run, controller = locked("run"), locked("controller")

    assert len(controller) > 10
    assert {name: version for name, version in controller.items() if run.get(name) != version} == {}


def test_no_pulumi_and_no_sdk_of_a_cloud_is_in_it() -> None:
    assert [name for name in locked("controller") if re.match("pulumi|boto|google-cloud|azure", name)] == []


def test_what_is_asked_for_is_the_extra_and_what_the_models_need() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = named((REQUIREMENTS / "controller.in").read_text(encoding="utf-8").splitlines())

    assert asked == named(project["optional-dependencies"]["controller"]) | {"pydantic", "ruamel-yaml"}
    assert asked & named(project["dependencies"]) == {"pydantic", "ruamel-yaml"}


def test_every_package_is_installed_by_its_hash_and_the_wheel_alone() -> None:
    installs = [line for line in CONTAINERFILE.replace("\\\n", " ").splitlines() if "pip install" in line]

    assert installs
    assert all("--require-hashes" in line or "--no-deps dist/" in line for line in installs)


def test_it_runs_as_nobody_and_holds_what_was_installed_and_no_more() -> None:
    *_, last = STAGES

    assert re.search(r"^USER (\d+):\1$", last, re.MULTILINE)
    assert re.findall(r"^(?:COPY|ADD) (.*)$", last, re.MULTILINE) == ["--from=build /opt/spotproof /opt/spotproof"]
    assert "RUN" not in last
    assert '"-m", "spotproof.controller"' in last


def test_its_base_has_an_exact_version_and_both_stages_are_of_it() -> None:
    (base,) = re.findall(r"^ARG BASE=(.*)$", CONTAINERFILE, re.MULTILINE)

    assert re.fullmatch(r"docker\.io/library/python:\d+\.\d+\.\d+-slim-\w+", base)
    assert [stage.split()[0] for stage in STAGES] == ["${BASE}", "${BASE}"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_no_action_that_somebody_else_can_change_and_may_do_nothing_by_default(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    written = read_yaml(workflow)

    assert [one for one in re.findall(r"uses: *(\S+)", text) if not re.search(r"@[0-9a-f]{40}$", one)] == []
    assert isinstance(written, dict)
    assert written["permissions"] == {"contents": "read"}


def steps() -> dict[str, str]:
    """Name -> shell of the workflow's named steps."""
    return {each["name"]: each["run"] for each in IMAGE_WORKFLOW["jobs"]["image"]["steps"] if "name" in each}


def built(folder: Path, docker: str) -> "subprocess.CompletedProcess[str]":
    """What the step that builds does beside this `docker`, as a runner starts it."""
    program = folder / "docker"
    program.write_text(docker, encoding="utf-8")
    program.chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "IMAGE": "ghcr.io/Owner/it", "GITHUB_SHA": "f" * 40}
    (folder / "Containerfile").write_text(CONTAINERFILE, encoding="utf-8")
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps()["build and push"]]
    return subprocess.run(
        shell,
        check=False,
        cwd=folder,
        env={**environment, "GITHUB_REPOSITORY": "Owner/it"},
        capture_output=True,
        text=True,
    )


def test_the_workflow_builds_from_the_digest_that_the_registry_has_for_the_base(tmp_path: Path) -> None:
    assert built(tmp_path, DOCKER.replace("DIGEST", DIGEST)).returncode == 0

    words = (tmp_path / "built").read_text(encoding="utf-8").splitlines()
    (base,) = re.findall(r"^ARG BASE=(.*)$", CONTAINERFILE, re.MULTILINE)
    assert f"BASE={base}@{DIGEST}" in words
    assert f"ghcr.io/owner/it:{'f' * 40}" in words


@pytest.mark.parametrize("said", ["", "null", "sha256:0123", f"Name: x {DIGEST}"])
def test_what_is_no_digest_builds_nothing(tmp_path: Path, said: str) -> None:
    made = built(tmp_path, DOCKER.replace("DIGEST", said))

    assert made.returncode != 0
    assert "no digest of docker.io/library/python" in made.stdout
    assert not (tmp_path / "built").exists()


def test_the_workflow_runs_when_anything_changes_that_is_copied_into_the_image() -> None:
    *_, first, _ = ["", *STAGES]
    copied = [word for line in re.findall(r"^COPY (?!--)(.*) \S+$", first, re.MULTILINE) for word in line.split()]
    paths = set(IMAGE_WORKFLOW["on"]["push"]["paths"])

    def is_watched(name: str) -> bool:
        return name in paths or f"{name}/**" in paths or (name.endswith(".lock") and "requirements/*.lock" in paths)

    assert {"README.md", "LICENSE", "components"} <= set(copied)
    assert [name for name in copied if not is_watched(name)] == []
    assert {"Containerfile", "Containerfile.dockerignore"} <= paths
