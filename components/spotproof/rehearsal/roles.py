"""Every part is a user of its own, with the rules it needs and no others."""

from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from spotproof.rehearsal.parts import Site

ROLES: Final = Path(__file__).with_name("roles")
"""For parts whose own files have no plain role."""
_RBAC: Final = "rbac.authorization.k8s.io"


def grant(site: Site, part: str, path: Path) -> None:
    """Give the user `system:<part>` the rules of every role in a file, in the role's namespace or everywhere."""
    name = f"system:{part}"
    for document in documents(path):
        kind = document["kind"]
        metadata = {**document["metadata"], "name": name}
        site.kube.apply({"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "rules": document["rules"]})
        site.kube.apply(
            {
                "apiVersion": f"{_RBAC}/v1",
                "kind": f"{kind}Binding",
                "metadata": metadata,
                "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": name},
                "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": name}],
            }
        )


def documents(path: Path) -> list[dict[str, Any]]:
    """The objects in a file of YAML documents."""
    return [document for document in YAML(typ="safe").load_all(path) if document]
