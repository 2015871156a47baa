"""One page for every report: a single file that asks nobody for anything, and can be read without a script."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from spotproof.page.sections import Section
from spotproof.page.text import NBSP, visible

_TEMPLATE: Final = "template.html.j2"
_BEFORE_PERCENT: Final = re.compile(r"(?<=\d) (?=%)")


def page(title: str, summary: str, sections: Sequence[Section]) -> str:
    """A whole HTML document.

    Args:
        title: Heading of the page and name of its tab.
        summary: One sentence below the heading: what was reckoned, for what.
        sections: What it holds, in order.

    Raises:
        ValueError: two sections have the same title, so that a link could not tell them apart.
    """
    anchors = [section.anchor for section in sections]
    if twice := sorted({anchor for anchor in anchors if anchors.count(anchor) > 1}):
        raise ValueError(f"more than one section is called {', '.join(twice)}")
    style = _style()
    return _template().render(
        title=title,
        summary=summary,
        sections=sections,
        style=Markup(style),  # noqa: S704 - our own file
        security_policy=_security_policy(style),
    )


def _security_policy(style: str) -> str:
    """Nothing may be loaded, run or sent; the one style sheet is known by its hash."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    return files("spotproof.page").joinpath("style.css").read_text(encoding="utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("spotproof.page", ""),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["sentence"] = _sentence
    return environment.get_template(_TEMPLATE)


def _sentence(text: str) -> Markup:
    """What stands between two backticks as code; a backtick that has no other stays one. A `%` keeps to its number."""
    whole = _BEFORE_PERCENT.sub(NBSP, visible(text))
    parts = whole.split("`")
    if len(parts) % 2 == 0:
        return escape(whole)
    return Markup().join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


def _shown(value: Any) -> Any:
    """Every text of the page, but for pictures and style, as it may be shown."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
