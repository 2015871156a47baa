"""How to reach an API server, and as whom: a certificate, a kubeconfig file, or the service account of a pod."""

import ipaddress
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

from kubernetes.client import Configuration
from kubernetes.config import ConfigException
from kubernetes.config.incluster_config import (
    SERVICE_CERT_FILENAME,
    SERVICE_TOKEN_FILENAME,
    InClusterConfigLoader,
)
from kubernetes.config.kube_config import KubeConfigLoader

from spotproof.kube.kubeconfig import Chosen, NoAccess, NoLogin, choose, program_of

__all__ = ["NoAccess", "NoLogin", "by_certificate", "by_kubeconfig", "by_service_account"]

TOKEN_SECONDS: Final = 60.0
"""A token file is read again so often, as client-go does it: the kubelet writes a new one at 80 % of its lifetime."""

REFRESH_HOOK: Final = "refresh_api_key_hook"
"""What the client calls before each request, with its settings."""


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
        NoAccess: there is no such file or context, it is no kubeconfig, or what it names is not there.
        NoLogin: its user's plugin failed.
    """
    chosen = choose(file, context)
    _check_plugin(chosen)
    try:
        return _of_file(chosen, seconds)
    except (ConfigException, OSError) as error:
        raise NoAccess(
            f"context {chosen.context} of {chosen.said} cannot be used: {_first_line(error)}; put that right in the "
            "kubeconfig, or have it written anew"
        ) from error
    except (ValueError, TypeError, AttributeError, KeyError) as error:  # how the client reads what is no kubeconfig
        raise NoAccess(f"{chosen.said} is no kubeconfig that can be read; have it written anew") from error


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


def _of_file(chosen: Chosen, seconds: Callable[[], float]) -> Configuration:
    settings = Configuration()
    # None: each file's own folder, which the stub does not know of
    loader = KubeConfigLoader(chosen.merged, chosen.context, config_base_path=cast("str", None))
    loader.load_and_set(settings)
    _check_user(chosen, settings)
    if chosen.cluster.get("proxy-url"):
        settings.no_proxy = None
    elif _on_this_machine(settings.host):
        settings.proxy = None
    if "tokenFile" in chosen.user and "token" not in chosen.user:
        path = Path(chosen.merged.path or chosen.said).parent / str(chosen.user["tokenFile"])
        setattr(settings, REFRESH_HOOK, _TokenFile(path, seconds).refresh)  # typed as None upstream
    return settings


def _check_plugin(chosen: Chosen) -> None:
    """The client says of one that is not there what it says of one that failed, and logging in helps only the one."""
    command = program_of(chosen.user)
    folder = Path(chosen.merged.path).parent  # of a command with a path, as kubectl has it
    if command and not shutil.which(str(folder / command) if "/" in command else command):
        raise NoAccess(
            f"context {chosen.context} of {chosen.said} logs in by the program {command}, which is not installed here; "
            "install it, or put it on the PATH"
        )


def _check_user(chosen: Chosen, settings: Configuration) -> None:
    """The client logs that a plugin failed and goes on as nobody, whose refusals would tell less."""
    if "exec" in chosen.user and not settings.api_key and not settings.cert_file:
        raise NoLogin(
            f"context {chosen.context} of {chosen.said} cannot be used: the plugin {program_of(chosen.user)} gave "
            "neither a token nor a certificate"
        )


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
