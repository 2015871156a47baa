"""What a rehearsal came to."""

from dataclasses import dataclass, field

from spotproof.rehearsal.recording import Recording


@dataclass
class Outcome:
    """What a rehearsal came to, also of one that was stopped on its way.

    `ready_seconds` is what the control plane took to start; `unfinished` says why the story did not go to its end, None
    if it did; `failures` are watches that ended before it did.
    """

    recording: Recording = field(default_factory=lambda: Recording(()))
    ready_seconds: float = 0.0
    unfinished: str | None = None
    failures: list[str] = field(default_factory=list[str])
