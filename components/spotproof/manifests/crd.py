"""CustomResourceDefinitions of our kinds: what both have in common, and the shape of a condition."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from spotproof.manifests.metadata import metadata
from spotproof.manifests.structural import Schema
from spotproof.vocabulary import API_GROUP, API_VERSION, Manifest

CATEGORY: Final = "spotproof"
"""`kubectl get spotproof` lists both kinds."""


class Column(NamedTuple):
    """A column of `kubectl get`; of priority 1 only with `-o wide`."""

    name: str
    kind: Literal["string", "integer", "date"]
    path: str
    priority: int = 0


AGE: Final = Column("Age", "date", ".metadata.creationTimestamp")


def definition(  # noqa: PLR0913 - what names a kind, each by keyword
    *,
    kind: str,
    plural: str,
    scope: Literal["Cluster", "Namespaced"],
    short_name: str,
    schema: Schema,
    columns: Sequence[Column],
) -> Manifest:
    """The definition of one kind of ours: one version, served and stored, its status a resource of its own."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata(f"{plural}.{API_GROUP}"),
        "spec": {
            "group": API_GROUP,
            "scope": scope,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": [short_name],
                "categories": [CATEGORY],
            },
            "versions": [
                {
                    "name": API_VERSION.partition("/")[2],
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [_column(each) for each in columns],
                }
            ],
        },
    }


def _column(column: Column) -> Manifest:
    shown: Manifest = {"name": column.name, "type": column.kind, "jsonPath": column.path}
    return {**shown, "priority": column.priority} if column.priority else shown


def top_level(description: str, *, spec: Schema, status: Schema) -> Schema:
    """The schema of an object that has a spec, and a status as soon as somebody has looked at it."""
    return {
        "type": "object",
        "description": description,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status,
        },
    }


def keyed(items: Schema, key: str) -> Schema:
    """A list as a map by one of its items' fields, so that a writer of one item leaves the others alone."""
    return {**items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
