"""How a kubeconfig and a service account are read: whom the API server sees, and what is said of what is wrong."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from spotproof.kube.access import NoAccess, NoLogin, by_kubeconfig, by_service_account
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
    with pytest.raises(NoLogin, match="gave neither a token nor a certificate"):
        by_kubeconfig(kubeconfig(tmp_path, plugin(tmp_path, "raise SystemExit(3)")))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"just a text", "is no kubeconfig"),
        (b"- a\n- b\n", "is no kubeconfig"),
        (b"{}", "no context is chosen in"),
        (b"a: [", "is no kubeconfig"),
        (b"\tx: y", "is no kubeconfig"),
        (bytes(range(256)) * 4, "is no kubeconfig"),
        (b"contexts: text\ncurrent-context: a", "kubeconfig"),
        (b"contexts: [{context: {}}, 5]\ncurrent-context: 5\n", "kubeconfig"),
    ],
)
def test_a_file_that_is_none_is_told_in_one_line(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "kubeconfig"
    file.write_bytes(content)
    with pytest.raises(NoAccess, match=says) as none:
        by_kubeconfig(file)
    assert "\n" not in str(none.value)
    assert str(file) in str(none.value)


@pytest.mark.parametrize("current", [None, "", "gone"])
def test_a_context_that_is_named_needs_no_current_one(tmp_path: Path, current: str | None) -> None:
    file = kubeconfig(tmp_path, {"token": "ada's"})
    document = json.loads(file.read_text(encoding="utf-8"))
    document["current-context"] = current
    file.write_text(json.dumps(document), encoding="utf-8")
    assert by_kubeconfig(file, "here").host == SERVER
    with pytest.raises(NoAccess, match="write --context with one of here"):
        by_kubeconfig(file)


@pytest.mark.parametrize(
    ("server", "says"),
    [
        (None, "names no server; write its address as `server: https://HOST:PORT`"),
        ("not a url", "has server not a url, which is no address"),
        ("127.0.0.1:6443", "has server 127.0.0.1:6443, which is no address"),
        ("cluster.example.org", "which is no address; write it as `https://HOST:PORT`"),
        ("ftp://cluster.example.org", "which is no address"),
        ("https://cluster.example.org:port", "which is no address"),
        ("https://", "which is no address"),
        (5, "has server 5, which is no address"),
    ],
)
def test_a_server_that_is_no_address_is_said_before_it_is_asked(tmp_path: Path, server: object, says: str) -> None:
    with pytest.raises(NoAccess, match=says):
        by_kubeconfig(kubeconfig(tmp_path, {}, server=server))


@pytest.mark.parametrize(
    ("user", "cluster", "says"),
    [
        ({}, {"certificate-authority": "nowhere.pem"}, "File does not exist: .*nowhere.pem; put that right"),
        ({"client-certificate": "nowhere.pem", "client-key": "nowhere.key"}, {}, "File does not exist: .*nowhere.pem"),
        ({"tokenFile": "nowhere"}, {}, "No such file or directory: .*nowhere"),
    ],
)
def test_a_file_that_a_kubeconfig_names_and_that_is_not_there_is_named(
    tmp_path: Path, user: dict[str, Any], cluster: dict[str, Any], says: str
) -> None:
    with pytest.raises(NoAccess, match=says) as none:
        by_kubeconfig(kubeconfig(tmp_path, user, **cluster))
    assert not isinstance(none.value, NoLogin)


@pytest.mark.parametrize(("part", "name"), [("clusters", "here"), ("users", "ada")])
def test_a_context_that_names_what_is_not_in_the_file_says_so(tmp_path: Path, part: str, name: str) -> None:
    file = kubeconfig(tmp_path, {})
    document = json.loads(file.read_text(encoding="utf-8"))
    document[part] = []
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(NoAccess, match=rf"context here of .* names the {part[:-1]} {name}, which is not in it"):
        by_kubeconfig(file)


@pytest.mark.parametrize("command", ["no-such-plugin", "./no-such-plugin", "/no/such/plugin"])
def test_a_plugin_that_is_not_installed_is_no_login_that_failed(tmp_path: Path, command: str) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command}}
    with pytest.raises(NoAccess, match=f"by the program {command}, which is not installed here; install it") as none:
        by_kubeconfig(kubeconfig(tmp_path, user))
    assert not isinstance(none.value, NoLogin)


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
