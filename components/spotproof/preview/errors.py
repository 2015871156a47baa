"""Why a program failed, in one sentence: the exception, the resource it stopped at, the line of the program."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final

import pulumi
from pulumi.runtime.proto.source_pb2 import StackTrace

from spotproof.preview.loop import IDLE_SECONDS, StuckError
from spotproof.preview.model import Location, redact
from spotproof.preview.monitor import RegistrationError, places

# The SDK turns an answer into output types here; it raises on a value of another shape than the type's.
_DESERIALISER: Final = "translate_output_properties"
_CALLBACK_FRAME: Final = re.compile(r'File "([^"]+)", line (\d+)')


_CALLBACK: Final = re.compile(r"Invoke callback \S+ error: ")


class ProgramError(Exception):
    """A program that cannot be previewed. `str()` is complete; `location` and `resource` repeat its parts."""

    def __init__(self, text: str, location: Location | None = None, resource: str = "") -> None:
        super().__init__(text)
        self.location = location
        self.resource = resource


def is_wrong_shape(error: ProgramError) -> bool:
    """Whether the SDK choked on an input of the wrong shape when our monitor echoed it."""
    cause = error.__cause__
    return cause is not None and any(frame.f_code.co_name == _DESERIALISER for frame, _ in _frames(cause))


def explain(
    error: Exception, directories: Sequence[Path], secrets: frozenset[str], invokes: Sequence[str]
) -> ProgramError:
    """Return the error to show. `directories` are the program's own, the most telling first."""
    frames = list(_frames(error))
    location = _location(frames, directories)
    resource = _constructed(frames)
    if isinstance(error, pulumi.RunError):
        return ProgramError(redact(str(error), secrets), location, resource)
    if isinstance(error, RegistrationError):
        location = _inside(error.locations, directories) or location
        resource = error.urn
    text = _sentence(error, frames, invokes)
    if location is None:
        location = _callback(str(error), directories)
    where = f"{_shown(location[0])}:{location[1]}: " if location else ""
    at = f" (while constructing {resource})" if resource and resource not in text else ""
    return ProgramError(redact(f"{where}{text}{at}", secrets), location, resource)


def _sentence(error: Exception, frames: Sequence[tuple[FrameType, int]], invokes: Sequence[str]) -> str:
    if isinstance(error, RegistrationError):
        return str(error)
    if isinstance(error, StuckError):
        return (
            f"the program has waited {IDLE_SECONDS:.0f} seconds for something that will not happen: nothing was left "
            "to do and nothing to wait for. Look for a future that is never set, or an output that awaits itself."
        )
    if _blocked(frames) and invokes:
        return (
            f"calls {invokes[-1]}, whose answer is not known before `pulumi up` and is never asked for here. "
            f"Use {_output_form(frames)} and `apply`, or take the answer from the stack's configuration."
        )
    if _given_a_secret(frames):
        return f"{type(error).__name__} in code under `apply` that was given a secret, so its message is withheld"
    raised = _CALLBACK.match(str(error))
    message = str(error).split("\n  File ")[0].rstrip(":\n ") or "no message"
    if raised:
        return f"a transform raised: {message[raised.end() :]}"
    hint = ""
    if isinstance(error, ModuleNotFoundError):
        hint = ". Install what the program requires into the environment spotproof runs in"
    return f"{type(error).__name__}: {message}{hint}"


def _given_a_secret(frames: Sequence[tuple[FrameType, int]]) -> bool:
    """Whether an exception came out of `apply` on a secret output; such a message may quote the value."""
    return any(frame.f_globals.get("__name__") == "pulumi.output" and _is_secret(frame.f_locals) for frame, _ in frames)


def _is_secret(held: dict[str, Any]) -> bool:
    data = held.get("data")
    return held.get("is_secret") is True or getattr(data, "is_secret", False) is True


def _blocked(frames: Sequence[tuple[FrameType, int]]) -> bool:
    """Whether a generated data source function stopped at its unknown answer, which it calls `__ret__`."""
    return any(frame.f_locals.get("__ret__", frames) is None for frame, _ in frames)


def _output_form(frames: Sequence[tuple[FrameType, int]]) -> str:
    name = next(frame.f_code.co_name for frame, _ in frames if frame.f_locals.get("__ret__", frames) is None)
    return f"`{name}_output`"


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """Every frame of an exception and of what caused it, outermost first."""
    chain: list[BaseException] = [error]
    while (below := chain[-1].__cause__) is not None and below not in chain:
        chain.append(below)
    for one in chain:
        yield from _walk(one.__traceback__)


def _walk(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _location(frames: Sequence[tuple[FrameType, int]], directories: Sequence[Path]) -> Location | None:
    own = _inside([(frame.f_code.co_filename, line) for frame, line in reversed(frames)], directories)
    return own or _inside(_registration(frames), directories)


def _registration(frames: Sequence[tuple[FrameType, int]]) -> list[Location]:
    """A registration runs later, in a task of the SDK's; the stack that asked for it is one of its variables."""
    traces = [frame.f_locals.get("stack_trace") for frame, _ in frames]
    return [place for trace in traces if isinstance(trace, StackTrace) for place in places(trace)]


def _inside(candidates: Sequence[Location], directories: Sequence[Path]) -> Location | None:
    for directory in directories:
        for file, line in candidates:
            path = Path(file)
            if path.is_relative_to(directory) and "site-packages" not in path.parts and not _engine(path):
                return file, line
    return None


def _engine(path: Path) -> bool:
    return path.is_relative_to(Path(__file__).parent)


def _callback(text: str, directories: Sequence[Path]) -> Location | None:
    """A transform's exception arrives as text, with the frames in it."""
    found = [(file, int(line)) for file, line in _CALLBACK_FRAME.findall(text)]
    return _inside(found[::-1], directories)


def _constructed(frames: Sequence[tuple[FrameType, int]]) -> str:
    """Return "Class name" of the innermost resource whose constructor was running."""
    for frame, _ in reversed(frames):
        held: dict[str, Any] = frame.f_locals
        resource = held.get("__self__", held.get("self"))
        name = held.get("resource_name", held.get("name"))
        if isinstance(resource, pulumi.Resource) and isinstance(name, str):
            return f"{type(resource).__name__} {name!r}"
    return ""


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
