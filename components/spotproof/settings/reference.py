"""Every setting as pages for people: stacks/README.md and docs/experiments.md. Generated, so they match the models."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from spotproof.settings import defaults
from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.base import render_duration
from spotproof.settings.environment import Environment
from spotproof.settings.experiment.load import REFUSED
from spotproof.settings.experiment.model import Experiment
from spotproof.settings.explain import yaml_flow
from spotproof.settings.near import one_of
from spotproof.settings.providers import PROVIDERS
from spotproof.settings.scope import SCOPED
from spotproof.settings.walk import by_alias, models_in

INTRODUCTION: Final = """\
# Settings

One file an environment, `stacks/Pulumi.<stack>.yaml`, with one structured key, `spotproof:environment`. An unknown
key, a wrong type or a setting that cannot work is refused before anything is built: all errors of a file at once, with
what to write instead. Editors that know JSON schema complete and check it: every stack file names
`docs/stack.schema.json`.

Durations are `90s`, `30m`, `2h` or `1h30m`. A key without a default is required. This page is generated (`make docs`).

The smallest environment, the one flag:

```yaml
config:
  spotproof:environment:
    provider: {cloud: aws, region: us-west-2, accountId: "123456789012"}
    spot: true
```
"""


def settings_reference() -> str:
    """The page as Markdown: a table for every mapping of the settings, then the defaults that are lists."""
    return "\n".join([INTRODUCTION, *_tables(Environment, "", set()), *_defaults(), *_scopes(), *_accelerators()])


EXPERIMENTS: Final = """\
# Experiment files

One training job a file, rendered by `spotproof render` (how: [how-to/jobs.md](how-to/jobs.md)). The fields are those of
the AIchor manifest, and mean what they mean there; what is ours is marked. An unknown key, a wrong type or a job that
could not run on the stack is refused: all errors of a file at once, with what to write instead. Editors that know JSON
schema complete and check a file that names `docs/experiment.schema.json`.

A key without a default is required. This page is generated (`make docs`).
"""


def experiment_reference() -> str:
    """The page of experiment files as Markdown."""
    return "\n".join([EXPERIMENTS, *_tables(Experiment, "", set(), whole="The file"), *_refused()])


def _refused() -> Iterator[str]:
    """What such files hold elsewhere and is not done here."""
    yield "## Refused by name\n\n| key | because | instead |\n| --- | --- | --- |"
    yield from (f"| `{key}` | {why} | {instead} |" for key, (why, instead) in REFUSED.items())
    yield ""


def _tables(
    model: type[BaseModel], path: str, done: set[type[BaseModel]], whole: str = "The environment"
) -> Iterator[str]:
    done.add(model)
    yield f"## {f'`{path}`' if path else whole}\n\n{_sentence(model)}\n"
    yield "| key | default | meaning |\n| --- | --- | --- |"
    for name, field in by_alias(model).items():
        yield f"| `{name}` | {_default(field)} | {_meaning(field)} |"
    yield ""
    for name, field in by_alias(model).items():
        repeated = "[]" if "ListOf" in repr(field.annotation) or _is_list(field) else ""
        if get_origin(field.annotation) is dict:
            repeated = ".<name>"
        for inner in models_in(field.annotation):
            if inner not in done:
                yield from _tables(inner, f"{path}.{name}{repeated}".lstrip("."), done)


def _is_list(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is tuple


def _sentence(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def _meaning(field: FieldInfo) -> str:
    words = _words(field.annotation)
    return f"{field.description or ''}{f' One of {words}.' if words else ''}".replace("|", "\\|")


def _words(annotation: object) -> str:
    if get_origin(annotation) is Literal:
        words = get_args(annotation)
        return ", ".join(f"`{word}`" for word in words) if len(words) > 1 else ""
    return ""


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "filled in" if field.alias == "pools" else "required"
    if value is None:
        return "left out"
    if isinstance(value, BaseModel):
        return "its own defaults"
    if isinstance(value, timedelta):
        return f"`{render_duration(value)}`"
    return "none" if value in ((), {}) else f"`{yaml_flow(value)}`"


def _defaults() -> Iterator[str]:
    yield "## The default pools\n"
    for cloud, provider in PROVIDERS.items():
        for spot in (False, True) if provider.default_types else ():
            filled = defaults.complete({"spot": spot}, provider)
            yield f"With `spot: {str(spot).lower()}` and no `pools`, on {cloud}:\n\n```yaml"
            for key in ("pools", "fallbackPolicies"):
                items = filled.get(key)
                if isinstance(items, list):
                    yield f"{key}:"
                    yield from (f"  - {yaml_flow(item)}" for item in items)
            yield "```\n"


def _scopes() -> Iterator[str]:
    """Which cloud takes which of the settings that not every cloud has."""
    yield "## Settings that only some clouds have\n\nRefused by name elsewhere, never ignored:\n"
    for pattern in SCOPED:
        takers = [cloud for cloud, provider in PROVIDERS.items() if pattern in provider.takes]
        yield f"- `{pattern}`: {one_of(takers)}"
    for cloud, provider in PROVIDERS.items():
        for pattern, (why, remedy) in provider.refuses.items():
            yield f"- `{pattern}`: not on {cloud}, where it {why}. {remedy}."
    yield ""


def _accelerators() -> Iterator[str]:
    yield "## Accelerators\n\n| type | memory of one, GiB |\n| --- | --- |"
    yield from (f"| `{name}` | {gib} |" for name, gib in MEMORY_GIB.items())
    yield ""
