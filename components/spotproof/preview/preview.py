"""One stack, judged: run in each mode, every input linted, every object checked, every policy asked, priced."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from spotproof.preview.lint import lint_inputs
from spotproof.preview.model import MODES, NOTE, Capture, Cost, Finding, Mode, Preview, Violation
from spotproof.preview.run import Program, Target, capture
from spotproof.preview.schemas import Kind, Schema, check_objects
from spotproof.settings.machines import Quota

_S = TypeVar("_S", Finding, Violation)


@dataclass(frozen=True)
class Checks:
    """What a preview is judged with.

    `judge` runs the policies over a capture, `price` estimates its cost (None: no such part in the report), `quotas`
    are what its settings can use up, and `schemas` are definitions known besides those the program installs.
    """

    judge: Callable[[Capture], Iterable[Violation]] | None = None
    price: Callable[[Capture], Cost] | None = None
    quotas: Sequence[Quota] = ()
    schemas: Mapping[Kind, Schema] = field(default_factory=dict)


def preview_stack(
    program: Program, target: Target, modes: Sequence[Mode] = MODES, checks: Checks | None = None
) -> Preview:
    """Return the judged preview of one stack.

    Raises:
        ProgramError: the program cannot be previewed in one of `modes`.
    """
    checks = checks or Checks()
    heard: set[str] = set()
    captures = [capture(program, target, mode, heard) for mode in modes]
    shown = captures[0]
    found = [finding for one in captures for finding in _findings(one, checks)]
    said = [violation for one in captures for violation in _violations(one, checks)]
    secrets = frozenset[str]().union(*(one.secrets for one in captures))
    return Preview(
        project=shown.project,
        stack=shown.stack,
        modes=tuple(modes),
        capture=replace(shown, secrets=secrets, messages=tuple(dict.fromkeys(m for c in captures for m in c.messages))),
        lint=tuple(_merged(found)),
        policies=tuple(v for v in _merged(said) if v.level != NOTE or set(v.modes) == set(modes)),
        cost=checks.price(shown) if checks.price else None,
        quotas=tuple(checks.quotas),
    )


def _findings(one: Capture, checks: Checks) -> list[Finding]:
    return [
        replace(finding, message=one.redact(finding.message))
        for finding in [*lint_inputs(one), *check_objects(one, checks.schemas)]
    ]


def _violations(one: Capture, checks: Checks) -> list[Violation]:
    return [
        replace(violation, message=one.redact(violation.message), modes=(one.mode,))
        for violation in (checks.judge(one) if checks.judge else ())
    ]


def _merged(found: Iterable[_S]) -> list[_S]:
    """Return each finding once, with all modes it was seen in."""
    modes: dict[_S, tuple[Mode, ...]] = {}
    for one in found:
        bare = replace(one, modes=())
        modes[bare] = tuple(dict.fromkeys((*modes.get(bare, ()), *one.modes)))
    return [replace(one, modes=seen) for one, seen in modes.items()]
