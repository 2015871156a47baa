"""How to reach an API server, and as whom: a certificate, a kubeconfig file, or the service account of a pod."""

import ipaddress
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from kubernetes.client import Configuration
from kubernetes.config import ConfigException
from kubernetes.config.incluster_config import (
    SERVICE_CERT_FILENAME,
    SERVICE_TOKEN_FILENAME,
    InClusterConfigLoader,
)
from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION, KubeConfigLoader, KubeConfigMerger
from yaml import YAMLError

TOKEN_SECONDS: Final = 60.0
"""A token file is read again so often, as client-go does it: the kubelet writes a new one at 80 % of its lifetime."""

REFRESH_HOOK: Final = "refresh_api_key_hook"
"""What the client calls before each request, with its settings."""


class NoAccess(Exception):  # noqa: N818  # the name is the sentence
    """Nothing says how to reach an API server, or what says it is wrong."""


def by_certificate(address: str, authority: Path, certificate: Path, key: Path) -> Configuration:
    """As the user of a client certificate, at an address on this machine: no proxy of the environment is asked."""
    settings = Configuration()
    settings.host = address
    settings.ssl_ca_cert = str(authority)
    settings.cert_file = str(certificate)
    settings.key_file = str(key)
    settings.proxy = None
    return settings


def by_kubeconfig(
    file: Path | None = None, context: str | None = None, *, seconds: Callable[[], float] = time.monotonic
) -> Configuration:
    """As a kubeconfig says: certificate, token, token file, exec plugin or password, each again when it has expired.

    A proxy is the one that the file names (`proxy-url`), or the environment's; for an address on this machine the
    environment's is not asked, as kubectl does it.

    Args:
        file: The file; None for $KUBECONFIG (several, as kubectl merges them) or ~/.kube/config.
        context: One of its contexts; None for its current one.
        seconds: A monotonic clock, for how old a token file may be.

    Raises:
        NoAccess: there is no such file or context, it is no kubeconfig, or its user cannot be made out.
    """
    said = str(file) if file is not None else KUBE_CONFIG_DEFAULT_LOCATION
    try:
        return _of_file(said, context, seconds)
    except (ConfigException, OSError) as error:
        raise NoAccess(f"{said} cannot be used to reach a cluster: {_first_line(error)}") from error
    except (YAMLError, ValueError, TypeError, AttributeError, KeyError) as error:  # how the client reads other files
        raise NoAccess(f"{said} cannot be used to reach a cluster: it is no kubeconfig") from error


def by_service_account(
    token: Path = Path(SERVICE_TOKEN_FILENAME), authority: Path = Path(SERVICE_CERT_FILENAME)
) -> Configuration:
    """As the pod's service account, at the address that every pod is told; the token is read again every minute.

    Raises:
        NoAccess: this is no pod, or it has no token.
    """
    settings = Configuration()
    settings.proxy = None  # the address is inside the cluster, whatever the environment says of the world outside
    try:
        InClusterConfigLoader(token_filename=str(token), cert_filename=str(authority)).load_and_set(settings)
    except (ConfigException, OSError) as error:
        raise NoAccess(f"the pod's service account cannot be used: {_first_line(error)}") from error
    return settings


def _of_file(said: str, context: str | None, seconds: Callable[[], float]) -> Configuration:
    merged = KubeConfigMerger(said).config
    if merged is None:
        raise ConfigException("there is no such file, or it is empty")
    settings = Configuration()
    # None: each file's own folder, which the stub does not know of
    loader = KubeConfigLoader(merged, context, config_base_path=cast("str", None))
    loader.load_and_set(settings)
    chosen = loader.current_context["context"]
    cluster, user = _named(merged, "clusters", chosen["cluster"]), _named(merged, "users", chosen.get("user", ""))
    if not cluster.get("server"):
        raise ConfigException(f"cluster {chosen['cluster']} names no server")
    _check_user(user, settings)
    if cluster.get("proxy-url"):
        settings.no_proxy = None
    elif _on_this_machine(settings.host):
        settings.proxy = None
    if "tokenFile" in user and "token" not in user:
        path = Path(merged.path or said).parent / str(user["tokenFile"])
        setattr(settings, REFRESH_HOOK, _TokenFile(path, seconds).refresh)  # typed as None upstream
    return settings


def _named(merged: Any, part: str, name: str) -> dict[str, Any]:
    """The cluster or user of that name: the first of the files that has it, as kubectl takes them."""
    found = next((each for each in merged.value.get(part) or [] if each["name"] == name), {"name": name})
    section: Any = getattr(found, "value", found)
    return section.get(part[:-1]) or {}


def _check_user(user: dict[str, Any], settings: Configuration) -> None:
    """The client logs that a plugin failed and goes on as nobody, whose refusals would tell less."""
    if "exec" in user and not settings.api_key and not settings.cert_file:
        raise ConfigException(f"the plugin {user['exec'].get('command')} gave neither a token nor a certificate")


def _on_this_machine(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


class _TokenFile:
    """A token that somebody writes anew before it expires; the client itself reads such a file once."""

    def __init__(self, path: Path, seconds: Callable[[], float]) -> None:
        self._path = path
        self._seconds = seconds
        self._lock = threading.Lock()
        self._read_at = seconds()

    def refresh(self, settings: Configuration) -> None:
        with self._lock:
            if self._seconds() - self._read_at < TOKEN_SECONDS:
                return
            if token := self._path.read_text(encoding="utf-8").strip():
                settings.api_key["BearerToken"] = f"Bearer {token}"
                self._read_at = self._seconds()
