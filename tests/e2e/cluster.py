"""The stand-in's Kubernetes objects on a real API server: applied, read and deleted as pulumi-kubernetes does it."""

import json
import ssl
import urllib.request
from collections.abc import Iterator
from typing import Any, Final

from spotproof.kube.client import Kube, Refused
from spotproof.rehearsal.control_plane import ControlPlane
from tests.e2e.stacks import established, hyphens
from tests.engine.standin.objects import Object, ObjectRefusedError

NOT_FOUND: Final = 404
GONE_SECONDS: Final = 120
MANAGER: Final = "pulumi-kubernetes"
FLEETING: Final = frozenset({"Event", "Lease"})
"""Kinds that come and go by themselves."""


class OnTheControlPlane:
    """An object store (tests/engine/standin/objects.py) that is a real API server. Charts are no objects, and stay out.

    At a preview, an object of a kind or in a namespace that the same `up` makes first is taken as it is: there is
    nobody to ask yet.
    """

    def __init__(self, kube: Kube) -> None:
        self.kube = kube
        self.warnings: list[tuple[str, str]] = []

    def apply(self, wanted: Object, *, dry_run: bool) -> Object:
        """Server-side apply; returns when what the object stands for can be used."""
        sent = hyphens(wanted)
        try:
            made = self.kube.apply(sent, MANAGER, dry_run=dry_run)
        except Refused as refused:
            if dry_run and refused.status == NOT_FOUND:
                return wanted
            raise ObjectRefusedError(str(refused)) from refused
        if not dry_run:
            self.warnings += [(sent["metadata"]["name"], text) for text in made.warnings]
            established(self.kube, sent)
        return made.object

    def get(self, wanted: Object) -> Object | None:
        """The object as it is now."""
        meta = wanted["metadata"]
        return self.kube.find(wanted["apiVersion"], wanted["kind"], meta["name"], meta.get("namespace"))

    def delete(self, wanted: Object) -> None:
        """Delete the object; returns when it is gone, with all that is in it."""
        meta = wanted["metadata"]
        if self.get(wanted) is None:
            return
        self.kube.delete(wanted["apiVersion"], wanted["kind"], meta["name"], meta.get("namespace"))
        self.kube.wait(lambda: self.get(wanted) is None, f"the end of {wanted['kind']} {meta['name']}", GONE_SECONDS)


def everything(plane: ControlPlane) -> frozenset[tuple[str, str, str]]:
    """Kind, namespace and name of every object that the API server has, of every kind that can be listed."""
    folder = plane.site.user("rehearsal-admin", ("system:masters",))
    context = ssl.create_default_context(cafile=str(plane.site.certificates.authority))
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")

    def read(path: str) -> Any:
        with urllib.request.urlopen(f"{plane.address}{path}", context=context, timeout=GONE_SECONDS) as answer:  # noqa: S310
            return json.load(answer)

    def versions() -> Iterator[str]:
        yield "/api/v1"
        yield from (f"/apis/{group['preferredVersion']['groupVersion']}" for group in read("/apis")["groups"])

    return frozenset(
        (kind["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"])
        for version in versions()
        for kind in read(version)["resources"]
        if "list" in kind["verbs"] and kind["kind"] not in FLEETING
        for item in read(f"{version}/{kind['name']}")["items"]
    )
