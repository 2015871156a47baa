"""The report for people: the resources as a tree, what was found, what it costs, and one line with the verdict."""

import os
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.text import Text
from rich.tree import Tree

from spotproof.preview.model import PROVIDER_TYPE_PREFIX, STACK_TYPE, Message, Preview, Resource, Violation

LEVELS: Final = ("mandatory", "advisory")
_STYLES: Final = {"error": "bold red", "mandatory": "bold red", "warning": "yellow", "advisory": "yellow"}
# Rich takes 80 columns when nobody looks; a log or a file is read with more.
UNATTENDED_WIDTH: Final = 120
# Names of siblings are padded to one column, unless one of them is so long that it would push the types out.
NAME_COLUMN: Final = 40
# A line of the tree: a guide is 4 columns a level, and types are cut before names are.
GUIDE: Final = 4
SHORTEST_TYPE: Final = 16


def write(previews: Sequence[Preview], file: IO[str]) -> None:
    """Write the report of every stack; coloured only where `file` is a terminal."""
    console = Console(file=file, highlight=False)
    if not console.is_terminal:
        # Rich reads COLUMNS itself where somebody set it.
        width = None if os.environ.get("COLUMNS", "").isdigit() else UNATTENDED_WIDTH
        console = Console(file=file, highlight=False, width=width)
    for number, preview in enumerate(previews):
        if number:
            console.print()
        for part in _parts(preview, console.width):
            console.print(part)


def verdict(preview: Preview) -> str:
    """Return one line: the stack, whether it may be deployed, and the counts that say why."""
    lint = Counter(finding.severity for finding in preview.lint)
    levels = Counter(violation.level for violation in preview.policies)
    counts = [
        _count(levels["mandatory"], "mandatory violation"),
        _count(lint["error"], "lint error"),
        _count(levels["advisory"], "advisory violation"),
        _count(lint["warning"], "lint warning"),
    ]
    found = ", ".join(count for count in counts if count) or "nothing to object to"
    return f"{preview.stack}: {'refused' if preview.failed else 'good'}: {found}"


def _parts(preview: Preview, width: int) -> Iterator[RenderableType]:
    resources = preview.capture.resources
    modes = " and ".join(preview.modes)
    yield Text.assemble((preview.stack, "bold"), (f"  project {preview.project}, {modes} mode", "dim"))
    yield _tree(preview, width)
    yield Text(_counts(resources), style="dim")
    yield from _section("Messages", [line for m in preview.capture.messages for line in _message(preview, m, width)])
    yield from _section(
        "Lint",
        [
            line
            for f in preview.lint
            for line in _found(f.severity, f"{_where(f.urn)}  {f.path}{_only(preview, f.modes)}", f.message, "", width)
        ],
    )
    yield from _policies(preview, width)
    if preview.cost is not None:
        yield from _section("Cost", [Text(f"  {line}") for line in preview.cost.lines(width - 2)])
    yield from _section("Quotas", [line for quota in preview.quotas for line in _quota(str(quota), width)])
    yield Text()
    yield Text(verdict(preview), style="bold red" if preview.failed else "bold green")


def _tree(preview: Preview, width: int) -> Tree:
    children: dict[str, list[Resource]] = {}
    for resource in preview.capture.resources:
        children.setdefault(resource.parent, []).append(resource)
    roots = [r for r in children.get("", []) if r.type == STACK_TYPE]
    tree = Tree("", hide_root=True, guide_style="dim")
    for root in roots:
        _grow(tree, root.urn, children, width)
    return tree


def _grow(tree: Tree, urn: str, children: dict[str, list[Resource]], width: int) -> None:
    """Add what is below `urn`; `width` is what is left for one line there."""
    siblings = sorted(children.get(urn, []), key=lambda r: (r.urn not in children, r.type, r.name))
    names = _names(siblings, urn.rpartition("::")[2], width)
    column = min(NAME_COLUMN, width - SHORTEST_TYPE, max(map(cell_len, names), default=0))
    for child, name in zip(siblings, names, strict=True):
        _grow(tree.add(_line(child, name, column, width)), child.urn, children, width - GUIDE)


def _names(siblings: Sequence[Resource], parent: str, width: int) -> list[str]:
    """Return the names to show: where a line would not fit, without the parent's name that they begin with."""
    longest = max((cell_len(f"{one.name}  {short_type(one.type)}") for one in siblings), default=0)
    if longest <= width:
        return [one.name for one in siblings]
    return [f"…{one.name.removeprefix(parent)}" if one.name.startswith(f"{parent}-") else one.name for one in siblings]


def _line(resource: Resource, name: str, column: int, width: int) -> Text:
    """Return name, type and marks in `width` columns: the type gives way first, and the marks never."""
    marks = " ".join(_marks(resource))
    shown = _cut(name, max(column, width - SHORTEST_TYPE - len(marks)))
    padded = shown + " " * (column - cell_len(shown))
    line = Text(padded, "" if resource.custom else "bold", no_wrap=True, overflow="ellipsis")
    room = width - line.cell_len - 2 - (len(marks) + 2 if marks else 0)
    line.append(f"  {_cut(short_type(resource.type), max(SHORTEST_TYPE // 2, room))}", style="dim")
    return line.append(f"  {marks}", style="cyan") if marks else line


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{set_cell_size(text, max(width - 1, 1))}…"


def _marks(resource: Resource) -> list[str]:
    return [
        name
        for name, held in (
            ("protect", resource.protect),
            ("retain", resource.retain_on_delete),
            ("read", resource.read),
            ("remote", resource.remote),
            (f"import {resource.import_id}", bool(resource.import_id)),
        )
        if held
    ]


def short_type(token: str) -> str:
    """Return a type token without its repetition: `aws:ec2/vpc:Vpc` is `aws:ec2:Vpc`."""
    parts = token.split(":")
    if len(parts) != 3:  # noqa: PLR2004  # package, module, class
        return token
    package, module, name = parts
    head, _, tail = module.rpartition("/")
    return f"{package}:{head if head and tail.lower() == name.lower() else module}:{name}"


def _counts(resources: Sequence[Resource]) -> str:
    kinds = Counter(_kind(resource) for resource in resources if resource.type != STACK_TYPE)
    listed = [_count(kinds[kind], kind) for kind in ("resource", "component", "provider")]
    return ", ".join(part for part in listed if part) or "no resources"


def _kind(resource: Resource) -> str:
    if resource.type.startswith(PROVIDER_TYPE_PREFIX):
        return "provider"
    return "resource" if resource.custom else "component"


def _section(title: str, lines: Sequence[RenderableType]) -> Iterator[RenderableType]:
    if lines:
        yield Text()
        yield Text(title, style="bold")
        yield from lines


def _policies(preview: Preview, width: int) -> Iterator[RenderableType]:
    by_level: dict[str, list[Violation]] = {}
    for violation in preview.policies:
        by_level.setdefault(violation.level, []).append(violation)
    notes = [violation for level in by_level for violation in by_level[level] if level not in LEVELS]
    for level in LEVELS:
        lines = [
            line
            for v in by_level.get(level, [])
            for line in _found(
                level, f"{v.policy}  {_where(v.urn)}{_only(preview, v.modes)}", v.message, v.remedy, width
            )
        ]
        yield from _section(f"Policies, {level}", lines)
    if notes:
        names = ", ".join(sorted({note.policy for note in notes}))
        yield from _section("Policies that need values known only at `up`", _wrapped(names, width, "dim"))


def _found(severity: str, head: str, message: str, remedy: str, width: int) -> list[Text]:
    mark = "✗" if severity in ("error", "mandatory") else "!"
    lines = [Text("  ").append(f"{mark} ", style=_STYLES[severity]).append(head), *_wrapped(message, width)]
    return [*lines, *_wrapped(f"→ {remedy}", width, "green")] if remedy else lines


def _wrapped(text: str, width: int, style: str = "") -> list[Text]:
    return [Text(f"      {line}", style=style) for line in textwrap.wrap(text, max(20, width - 6))]


def _quota(sentence: str, width: int) -> list[Text]:
    return [
        Text(f"  {line}")
        for line in textwrap.wrap(sentence, max(20, width - 2), subsequent_indent="    ", break_on_hyphens=False)
    ]


def _message(preview: Preview, message: Message, width: int) -> list[Text]:
    where = f"{_where(message.urn)}: " if message.urn else ""
    first, *more = preview.capture.redact(message.text).strip().splitlines() or [""]
    style = _STYLES.get(message.severity, "")
    head = textwrap.wrap(f"{message.severity}: {where}{first}", max(20, width - 6), subsequent_indent="    ")
    lines = [Text(f"  {line}", style=style) for line in head]
    return [*lines, *(part for line in more for part in _wrapped(line, width, style))]


def _where(urn: str) -> str:
    parts = urn.split("::", 3)
    if len(parts) != 4:  # noqa: PLR2004  # a policy's own word for the whole stack
        return urn or "the whole stack"
    return f"{parts[3]} ({short_type(parts[2].rpartition('$')[2])})"


def _only(preview: Preview, modes: Iterable[str]) -> str:
    seen = tuple(modes)
    return "" if len(seen) == len(preview.modes) else f"  [{' and '.join(seen)} mode only]"


def _count(number: int, noun: str) -> str:
    return "" if not number else f"{number} {noun}{'' if number == 1 else 's'}"
