"""Where the stand-in keeps Kubernetes objects: in memory, or wherever a test puts them."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

Object: TypeAlias = dict[str, Any]
Configuration: TypeAlias = Mapping[str, object]
"""What a provider instance was configured with, in plain: `kubeconfig` (text or path) and `context` among it."""


class ObjectStore(Protocol):
    """Kubernetes objects of one cluster. An object is plain: `apiVersion`, `kind`, `metadata.name` and so on."""

    def apply(self, wanted: Object, *, dry_run: bool) -> Object:
        """Make or change an object, and return it as the cluster has it.

        Raises:
            ObjectRefusedError: the cluster does not take it; the text is the cluster's own.
        """
        ...

    def get(self, wanted: Object) -> Object | None:
        """Return the object of that kind, namespace and name, None if there is none."""
        ...

    def delete(self, wanted: Object) -> None:
        """Delete the object of that kind, namespace and name, and wait until it is gone; none is fine."""
        ...


class ObjectRefusedError(Exception):
    """The cluster refused an object."""


Objects: TypeAlias = Callable[[Configuration], ObjectStore]
"""The store of the cluster that a provider instance was configured for."""


def key(wanted: Object) -> tuple[str, str, str, str]:
    """Return what tells objects of a cluster apart: apiVersion, kind, namespace, name."""
    metadata = wanted.get("metadata") or {}
    return str(wanted["apiVersion"]), str(wanted["kind"]), str(metadata.get("namespace", "")), str(metadata["name"])


class InMemory:
    """A cluster that takes everything and adds nothing."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str, str], Object] = {}

    def apply(self, wanted: Object, *, dry_run: bool) -> Object:
        if not dry_run:
            self.objects[key(wanted)] = wanted
        return wanted

    def get(self, wanted: Object) -> Object | None:
        return self.objects.get(key(wanted))

    def delete(self, wanted: Object) -> None:
        self.objects.pop(key(wanted), None)
