"""What a kubeconfig says: one file, or several as kubectl merges them, with every way it can be wrong in a sentence."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from kubernetes.config import ConfigException
from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION, KubeConfigMerger
from yaml import YAMLError

SCHEMES: Final = frozenset({"http", "https"})
WRITE_IT: Final = (
    "name one with --kubeconfig, or have the cloud write it: `aws eks update-kubeconfig --name CLUSTER`, `az aks "
    "get-credentials`, `gcloud container clusters get-credentials`"
)


class NoAccess(Exception):  # noqa: N818  # the name is the sentence
    """Nothing says how to reach an API server, or what says it is wrong."""


class NoLogin(NoAccess):
    """The kubeconfig is as it should be, and its user's login does not work."""


class Chosen(NamedTuple):
    """A context of a kubeconfig with what it names. `merged` is the client's form of the files, `said` their names."""

    said: str
    merged: Any
    context: str
    namespace: str
    cluster: dict[str, Any]
    user: dict[str, Any]


def choose(file: Path | None = None, context: str | None = None) -> Chosen:
    """A context of a kubeconfig, its cluster and its user.

    Args:
        file: The file; None for $KUBECONFIG (several, as kubectl merges them) or ~/.kube/config.
        context: One of its contexts; None for its current one, which need not be there where one is named.

    Raises:
        NoAccess: there is no such file or context, it is no kubeconfig, or the context names what is not in it.
    """
    said = str(file) if file is not None else KUBE_CONFIG_DEFAULT_LOCATION
    merged = _merged(said)
    contexts = _named(merged, "contexts")
    name = context if context is not None else str(merged.value.get("current-context") or "")
    others = (
        f"write --context with one of {', '.join(contexts)}" if contexts else f"it has no contexts at all; {WRITE_IT}"
    )
    if not name:
        raise NoAccess(f"no context is chosen in {said}; {others}")
    if name not in contexts:
        wrong = f"there is no context {name} in" if context is not None else f"the current-context {name} is not in"
        raise NoAccess(f"{wrong} {said}; {others}")
    chosen = contexts[name]
    cluster = _of(merged, "clusters", chosen.get("cluster"), f"context {name} of {said}")
    user = _of(merged, "users", chosen["user"], f"context {name} of {said}") if chosen.get("user") else {}
    _check_server(cluster, f"cluster {chosen.get('cluster')} of {said}")
    return Chosen(said, merged, name, str(chosen.get("namespace") or "default"), cluster, user)


def program_of(user: Mapping[str, Any]) -> str:
    """The program that a kubeconfig's user asks for a login; empty where there is none."""
    plugin = user.get("exec")
    return str(plugin.get("command") or "") if isinstance(plugin, dict) else ""


def _merged(said: str) -> Any:
    try:
        merged = KubeConfigMerger(said).config
    except (YAMLError, UnicodeError, TypeError, AttributeError, ValueError) as error:
        raise NoAccess(f"{said} is no kubeconfig: it cannot be read as one; {WRITE_IT}") from error
    except (ConfigException, OSError) as error:
        raise NoAccess(f"{said} cannot be read: {error}; {WRITE_IT}") from error
    if merged is None:
        raise NoAccess(f"no kubeconfig in {said}: there is no such file, or it is empty; {WRITE_IT}")
    return merged


def _named(merged: Any, part: str) -> dict[str, dict[str, Any]]:
    """The contexts, clusters or users by name: the first of the files that has one, as kubectl takes them."""
    listed = merged.value.get(part) or []
    found: dict[str, dict[str, Any]] = {}
    for each in listed if isinstance(listed, list) else []:
        plain = getattr(each, "value", each)
        section = plain.get(part[:-1]) if isinstance(plain, dict) else None
        if isinstance(plain, dict) and isinstance(plain.get("name"), str):
            found.setdefault(plain["name"], section if isinstance(section, dict) else {})
    return found


def _of(merged: Any, part: str, name: object, whose: str) -> dict[str, Any]:
    known = _named(merged, part)
    if not isinstance(name, str) or name not in known:
        there = f"it has {', '.join(known)}" if known else f"it has no {part}"
        raise NoAccess(f"{whose} names the {part[:-1]} {name or '(none)'}, which is not in it ({there}); {WRITE_IT}")
    return known[name]


def _check_server(cluster: dict[str, Any], whose: str) -> None:
    server = cluster.get("server")
    if not server:
        raise NoAccess(f"{whose} names no server; write its address as `server: https://HOST:PORT`")
    try:
        address = urlsplit(str(server))
        usable = address.scheme in SCHEMES and address.hostname and " " not in str(server) and address.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise NoAccess(f"{whose} has server {server}, which is no address; write it as `https://HOST:PORT`")
