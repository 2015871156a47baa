"""Why a program failed, in one sentence: the exception, the resource it stopped at, the line of the program."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, TypeAlias

import pulumi
from pulumi.runtime.proto.source_pb2 import StackTrace
from pulumi.runtime.stack import Stack

from spotproof.preview.loop import IDLE_SECONDS, StuckError
from spotproof.preview.model import ENCRYPTED, Location, redact
from spotproof.preview.monitor import RegistrationError, places

# The SDK turns an answer into output types here; it raises on a value of another shape than the type's.
_DESERIALISER: Final = "translate_output_properties"
_CALLBACK_FRAME: Final = re.compile(r'File "([^"]+)", line (\d+)')
Frames: TypeAlias = Sequence[tuple[FrameType, int]]
_APPLY: Final = "pulumi.output"
_SENDING: Final = "pulumi.runtime.rpc"
_WITHHELD: Final = "so its message is withheld"
_CALLBACK: Final = re.compile(r"Invoke callback \S+ error: ")


class ExitError(Exception):
    """The program ended itself with another status than 0, or before it was complete."""

    def __init__(self, stop: SystemExit) -> None:
        super().__init__(f"the program ended itself with sys.exit({stop.code!r})")


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
    error: BaseException, directories: Sequence[Path], secrets: frozenset[str], invokes: Sequence[str]
) -> ProgramError:
    """Return the error to show. `directories` are the program's own, the most telling first."""
    frames = list(_frames(error))
    location = _location(error, frames, directories)
    resource = _constructed(frames)
    if type(error) is pulumi.RunError:
        # A program raises it to say something to people, and the CLI shows nothing else.
        return ProgramError(redact(_text(error), secrets), location, resource)
    if isinstance(error, RegistrationError):
        location = _inside(error.locations, directories) or location
        resource = error.urn
    text = _sentence(error, frames, invokes)
    if ENCRYPTED in secrets and _WITHHELD in text:
        text += ". What a stack file holds encrypted is a stand-in text here; the code may have choked on that"
    if location is None:
        location = _callback(_text(error), directories)
    where = f"{_shown(location[0])}:{location[1]}: " if location else ""
    at = f" (while constructing {resource})" if resource and resource not in text else ""
    return ProgramError(redact(f"{where}{text}{at}", secrets), location, resource)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  # the program's own exception, whose text is broken too
        return ""


def _sentence(error: BaseException, frames: Frames, invokes: Sequence[str]) -> str:
    if isinstance(error, (RegistrationError, ExitError, pulumi.RunError)):
        return _text(error)
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
    module = _given_a_secret(frames)
    if module:
        where = "in code under `apply` that was given a secret" if module == _APPLY else "where a secret was sent"
        return f"{type(error).__name__} {where}, {_WITHHELD}"
    raised = _CALLBACK.match(_text(error))
    message = _text(error).split("\n  File ")[0].rstrip(":\n ") or "no message"
    if raised:
        return f"a transform raised: {message[raised.end() :]}"
    if isinstance(error, SyntaxError):
        message = error.msg
    return f"{type(error).__name__}: {message}{_hint(error, message, invokes)}"


def _hint(error: BaseException, message: str, invokes: Sequence[str]) -> str:
    if isinstance(error, ModuleNotFoundError):
        return ". Install what the program requires into the environment spotproof runs in"
    if invokes and "NoneType" in message:
        return f". It called {invokes[-1]}, whose answer is not known before `pulumi up`"
    return ""


def _given_a_secret(frames: Frames) -> str:
    """Return the SDK's module that was handling a secret when it was raised; such a message may quote the value."""
    modules = ((frame.f_globals.get("__name__"), frame.f_locals) for frame, _ in frames)
    return next((name for name, held in modules if name in (_APPLY, _SENDING) and _is_secret(held)), "")


def _is_secret(held: dict[str, Any]) -> bool:
    data = held.get("data")
    return held.get("is_secret") is True or getattr(data, "is_secret", False) is True


def _blocked(frames: Frames) -> bool:
    """Whether a generated data source function stopped at its unknown answer, which it calls `__ret__`."""
    return any(frame.f_locals.get("__ret__", frames) is None for frame, _ in frames)


def _output_form(frames: Frames) -> str:
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


def _location(error: BaseException, frames: Frames, directories: Sequence[Path]) -> Location | None:
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return error.filename, error.lineno
    own = _inside([(frame.f_code.co_filename, line) for frame, line in reversed(frames)], directories)
    return own or _inside(_registration(frames), directories)


def _registration(frames: Frames) -> list[Location]:
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


def _constructed(frames: Frames) -> str:
    """Return "Class name" of the innermost resource whose constructor or registration was running."""
    for frame, _ in reversed(frames):
        held: dict[str, Any] = frame.f_locals
        # `res` is what the SDK calls the resource in the task that registers it.
        resource = held.get("__self__", held.get("self", held.get("res")))
        name = held.get("resource_name", held.get("name", getattr(resource, "_name", None)))
        if isinstance(resource, pulumi.Resource) and isinstance(name, str) and type(resource) is not Stack:
            return f"{type(resource).__name__} {name!r}"
    return ""


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
