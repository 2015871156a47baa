"""How a kubeconfig and a service account are read: whom the API server sees, and what is said of what is wrong."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from spotproof.kube.access import NoAccess, by_kubeconfig, by_service_account
from tests.clock import Clock

SERVER = "https://cluster.example.org"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def kubeconfig(folder: Path, user: dict[str, Any], **cluster: Any) -> Path:
    file = folder / "kubeconfig"
    document = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "ada"}}],
        "clusters": [{"name": "here", "cluster": {"server": SERVER, **cluster}}],
        "users": [{"name": "ada", "user": user}],
    }
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def bearer(settings: Any) -> str | None:
    """What the API server is told of the user, as each request asks for it anew."""
    return settings.get_api_key_with_prefix("BearerToken")


def test_a_token_is_the_users(tmp_path: Path) -> None:
    settings = by_kubeconfig(kubeconfig(tmp_path, {"token": "ada's"}))
    assert (settings.host, bearer(settings)) == (SERVER, "Bearer ada's")


def test_a_token_file_is_read_again_when_it_is_a_minute_old(tmp_path: Path) -> None:
    token, clock = tmp_path / "token", Clock()
    token.write_text("first\n", encoding="utf-8")
    settings = by_kubeconfig(kubeconfig(tmp_path, {"tokenFile": "token"}), seconds=clock)
    token.write_text("second\n", encoding="utf-8")
    clock.now = 59
    assert (bearer(settings) or "").strip() == "Bearer first"
    clock.now = 60
    assert bearer(settings) == "Bearer second"


def plugin(folder: Path, text: str) -> dict[str, Any]:
    script = folder / "plugin.py"
    script.write_text(text, encoding="utf-8")
    version = "client.authentication.k8s.io/v1"
    return {"exec": {"apiVersion": version, "command": sys.executable, "args": [str(script)]}}


def test_a_plugin_is_asked_for_a_token(tmp_path: Path) -> None:
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "plugged"}}
    settings = by_kubeconfig(kubeconfig(tmp_path, plugin(tmp_path, f"print({json.dumps(json.dumps(answer))})")))
    assert bearer(settings) == "Bearer plugged"


def test_a_plugin_that_fails_is_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(NoAccess, match="gave neither a token nor a certificate"):
        by_kubeconfig(kubeconfig(tmp_path, plugin(tmp_path, "raise SystemExit(3)")))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("just a text", "it is no kubeconfig"),
        ("{}", "Expected key"),
        ("a: [", "it is no kubeconfig"),
    ],
)
def test_a_file_that_is_none_is_told_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(NoAccess, match=says) as none:
        by_kubeconfig(file)
    assert "\n" not in str(none.value)
    assert str(file) in str(none.value)


def test_a_context_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoAccess, match="elsewhere"):
        by_kubeconfig(kubeconfig(tmp_path, {}), "elsewhere")


def test_a_proxy_is_the_files_or_the_environments_and_never_for_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://environment:3128")
    monkeypatch.setenv("NO_PROXY", "cluster.example.org")
    named = by_kubeconfig(kubeconfig(tmp_path, {}, **{"proxy-url": "http://file:3128"}))
    assert (named.proxy, named.no_proxy) == ("http://file:3128", None)
    found = by_kubeconfig(kubeconfig(tmp_path, {}))
    assert (found.proxy, found.no_proxy) == ("http://environment:3128", "cluster.example.org")
    assert by_kubeconfig(kubeconfig(tmp_path, {}, server="https://127.0.0.1:6443")).proxy is None


def test_a_service_account_is_read_from_its_files_and_asks_no_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("token", "ca.crt"):
        (tmp_path / name).write_text(f"the {name}", encoding="utf-8")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setenv("HTTPS_PROXY", "http://environment:3128")
    settings = by_service_account(tmp_path / "token", tmp_path / "ca.crt")
    assert (settings.host, settings.proxy, bearer(settings)) == ("https://10.0.0.1:443", None, "bearer the token")


def test_outside_of_a_pod_there_is_no_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(NoAccess, match="service account"):
        by_service_account(tmp_path / "token", tmp_path / "ca.crt")
