"""What every settings model is made of: frozen, closed, complete, camelCase outside and snake_case inside."""

import re
from datetime import timedelta
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, StringConstraints, WithJsonSchema
from pydantic.alias_generators import to_camel


class Settings(BaseModel):
    """Frozen, closed and strict: an unknown key fails with its path, and no text passes for a number."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


Item = TypeVar("Item")
ListOf: TypeAlias = Annotated[tuple[Item, ...], Field(strict=False)]
"""A list in the file, a tuple in the model: frozen is shallow. Its items stay strict."""

DURATION_PATTERN = r"^(?=.)(\d{1,5}h)?(\d{1,6}m)?(\d{1,8}s)?$"
DURATION_FORM = "a number with its unit, as in 90s, 30m, 2h or 1h30m"


def parse_duration(value: object) -> timedelta:
    """Whole seconds from `90s`, `30m`, `2h`, `1h30m`.

    Raises:
        ValueError: the value has another form, or is no time at all.
    """
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str) or not (match := re.fullmatch(DURATION_PATTERN, value, re.ASCII)):
        raise ValueError(f"a duration is {DURATION_FORM}")
    hours, minutes, seconds = (int(part[:-1]) if part else 0 for part in match.groups())
    duration = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if not duration:
        raise ValueError(f"a duration of nothing has no meaning here; write {DURATION_FORM}")
    return duration


def render_duration(duration: timedelta) -> str:
    """The shortest form that parse_duration reads back: `1h30m`, `90s` as `1m30s`."""
    minutes, seconds = divmod(int(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"


Duration: TypeAlias = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(render_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN}),
]

DNS_LABEL = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"

PoolName: TypeAlias = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=40)]
"""At most 40: it becomes a label value (63), an object name and a part of Karpenter's instance profile tags."""
Namespace: TypeAlias = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=40)]
ObjectName: TypeAlias = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=63)]
Count: TypeAlias = Annotated[int, Field(ge=1, le=5000)]
"""5000 nodes is what Kubernetes itself is tested to (kubernetes.io, considerations for large clusters)."""
RetainDays: TypeAlias = Annotated[int, Field(ge=1, le=3653)]
