"""Which kinds of job the controller manages: one file and one line each."""

from collections.abc import Mapping
from typing import Final

from spotproof.controller.jobs.contract import JobKind
from spotproof.controller.jobs.jobset import JobSetKind
from spotproof.controller.jobs.rayjob import RayJobKind

JOBS: Final[Mapping[str, JobKind]] = {kind.kind.kind: kind for kind in (JobSetKind(), RayJobKind())}
"""By the name of the kind."""
