"""Which kinds of job the controller manages, a file and a line each.

That is what moves them. What is watched of them (`kinds`), which pods are theirs (`relations`, `cache`), where their
templates stand (`templates`) and what is refused of them (`preflight`) has lines of its own for each kind.
"""

from collections.abc import Mapping
from typing import Final

from spotproof.controller.jobs.contract import JobKind
from spotproof.controller.jobs.jobset import JobSetKind
from spotproof.controller.jobs.rayjob import RayJobKind

JOBS: Final[Mapping[str, JobKind]] = {kind.kind.kind: kind for kind in (JobSetKind(), RayJobKind())}
"""By the name of the kind."""
