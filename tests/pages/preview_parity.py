"""docs/preview-parity.md: what tests/engine found when it last compared our preview with the real engine's."""

from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from tests.engine.known_differences import KNOWN
from tests.engine.parity import FIELDS
from tests.stacks.runs import STACKS

_GOLDEN: Final = Path(__file__).resolve().parents[1] / "golden" / "engine" / "parity"

_INTRODUCTION: Final = """\
# Our preview beside the real engine's

`make test-engine` runs the first preview of every stack through the real Pulumi engine, with a stand-in for the
cloud, and compares each resource with what `spotproof preview` shows. It fails on a difference that is not listed here,
and on a line here that is none any more. What the figures are made from is in tests/golden/engine/parity.

| stack | resources | fields compared | resources equal in every field | known differences |
| --- | --- | --- | --- | --- |"""

_BELOW: Final = f"""\
A field is one of: {", ".join(FIELDS)}.

`inputs` and `outputs` are compared with their unknown values and secrets; outputs are those of components and of the
stack. The inputs are read where the engine hands them to the provider; `retainOnDelete`, `deletedWith`,
`replaceOnChanges` and `import` from the state after an `up`; everything else from the plan
(`pulumi preview --save-plan`).

## The known differences

| type | field | stacks | why |
| --- | --- | --- | --- |"""

_REST: Final = """\
## What this does not prove

The stand-in accepts everything and answers at once. A real provider also fills in defaults, checks values and marks
more of its outputs as unknown; the real Kubernetes provider renders charts and knows the cluster's schema. Equal here
means that program, SDK and engine agree with our preview on what is asked of the providers."""


def page() -> str:
    """The whole page."""
    stacks = [_stack(name, _read(name)) for name in STACKS]
    known = [f"| {one.type} | `{one.field}` | {', '.join(one.stacks)} | {one.reason} |" for one in KNOWN]
    return "\n".join([_INTRODUCTION, *stacks, "", _BELOW, *known, "", _REST, ""])


def _read(stack: str) -> dict[str, Any]:
    return YAML(typ="safe", pure=True).load((_GOLDEN / f"{stack}.yaml").read_text(encoding="utf-8"))


def _stack(name: str, found: dict[str, Any]) -> str:
    cells = (found["resources"], f"{found['fields compared']:,}", found["equal in every field"])
    return f"| {name} | {' | '.join(map(str, cells))} | {len(found['known differences'])} |"
