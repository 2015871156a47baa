"""docs/how-to/install-the-controller.md: its tables are the rights that the manifests have."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from spotproof.controller.reconcile import FAILED_MARK
from spotproof.manifests.controller import API_SERVER_PORTS, DNS_PORT, HEALTH_PORT, METRICS_PORT
from spotproof.manifests.controller_rights import AT_HOME, IN_A_WORKSPACE, IN_THE_CLUSTER, Right
from spotproof.vocabulary import MANUAL_LABEL, MOVE_ANNOTATION, PAUSED_LABEL, POOL_LABEL, PROGRESS_ANNOTATION

TEXT: Final = Path(__file__).with_name("install_the_controller.md.in")


def page() -> str:
    """The page."""
    values: dict[str, object] = {
        "IN_THE_CLUSTER": _table(IN_THE_CLUSTER),
        "IN_A_WORKSPACE": _table(IN_A_WORKSPACE),
        "AT_HOME": _table(AT_HOME),
        "PROGRESS": PROGRESS_ANNOTATION,
        "PAUSED": PAUSED_LABEL,
        "MANUAL": MANUAL_LABEL,
        "MOVE": MOVE_ANNOTATION,
        "FAILED": FAILED_MARK,
        "POOL": POOL_LABEL,
        "METRICS": METRICS_PORT,
        "HEALTH": HEALTH_PORT,
        "API_SERVER": " and ".join(map(str, API_SERVER_PORTS)),
        "DNS": DNS_PORT,
    }
    text = TEXT.read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def _table(rights: Iterable[Right]) -> str:
    return "\n".join(["| resources | verbs | what for |", "| --- | --- | --- |", *map(_row, rights)])


def _row(right: Right) -> str:
    resources = ", ".join(f"`{name}.{right.group}`" if right.group else f"`{name}`" for name in right.resources)
    named = f" named `{'`, `'.join(right.names)}`" if right.names else ""
    return f"| {resources}{named} | {', '.join(right.verbs)} | {right.why} |"
