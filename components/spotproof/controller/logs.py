"""What the process says of itself: one line an event on stderr, as JSON or as text, the libraries' lines included."""

import logging
import sys
from typing import Any, Final, Literal, NamedTuple, TextIO, TypeAlias, cast

import structlog

Format: TypeAlias = Literal["json", "text"]


class Saying(NamedTuple):
    """From which level on, and how."""

    level: str
    form: Format


LEVELS: Final = ("debug", "info", "warning", "error")
TALKATIVE: Final = ("urllib3", "client", "kubernetes")
"""Libraries that write whole requests at level debug, tokens included."""


def configure(saying: Saying, stream: TextIO | None = None) -> None:
    """Say everything from this level on, in this form."""
    level, form = saying
    stream = stream or cast("TextIO", sys.stderr)
    last: Any = (
        structlog.processors.JSONRenderer(sort_keys=False)
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=stream.isatty())
    )
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    trace: list[Any] = [structlog.processors.format_exc_info] if form == "json" else []
    structlog.configure(
        processors=[*shared, *trace, last],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[*_PLAIN, *trace, last])
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


_PLAIN: Final[list[Any]] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
