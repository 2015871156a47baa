"""A cluster by its kubeconfig, and what is said where it cannot be reached."""

import json
from pathlib import Path
from typing import Any

import pytest

from spotproof.cli import status_connect
from spotproof.cli.status_cluster import look
from spotproof.cli.status_connect import NotSeen, connect
from tests.unit.status.worlds import NOW

KUBECONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "dev",
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    "contexts": [
        {"name": "dev", "context": {"cluster": "c", "user": "ada"}},
        {"name": "prod", "context": {"cluster": "c", "user": "bob", "namespace": "speech"}},
    ],
    "users": [
        {"name": "ada", "user": {"token": "t"}},
        {
            "name": "bob",
            "user": {
                "exec": {
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "command": "aws",
                    "interactiveMode": "Never",
                }
            },
        },
    ],
}


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    file = tmp_path / "config"
    file.write_text(json.dumps(KUBECONFIG))
    return file


def test_a_kubeconfig_gives_context_and_namespace(kubeconfig: Path) -> None:
    found = connect(kubeconfig, None)
    assert (found.context, found.namespace, found.login) == ("dev", "default", status_connect.AGAIN)


def test_a_server_that_is_not_there_is_told_in_one_sentence(kubeconfig: Path) -> None:
    with pytest.raises(NotSeen, match="the cluster of context dev does not answer") as caught:
        look(connect(kubeconfig, None), "research", lambda: NOW)
    assert not caught.value.used_wrongly


def test_a_login_that_does_not_work_is_told_with_the_program_that_makes_it(
    kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "aws"
    program.write_text("#!/bin/sh\necho 'the session\nhas expired' >&2\nexit 255\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(NotSeen, match=r"the session has expired; log in again by `aws sso login`") as caught:
        connect(kubeconfig, "prod")
    assert not caught.value.used_wrongly


def test_a_program_that_is_not_installed_is_not_logged_in_with(
    kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotSeen, match="logs in by the program aws, which is not installed here; install it") as caught:
        connect(kubeconfig, "prod")
    assert caught.value.used_wrongly


def test_a_context_or_a_file_that_is_not_there_is_used_wrongly(kubeconfig: Path, tmp_path: Path) -> None:
    with pytest.raises(NotSeen, match=r"there is no context test in .*write --context with one of dev, prod") as caught:
        connect(kubeconfig, "test")
    assert caught.value.used_wrongly
    with pytest.raises(NotSeen, match=r"no kubeconfig in .*aws eks update-kubeconfig") as caught:
        connect(tmp_path / "none", None)
    assert caught.value.used_wrongly
