"""Which kinds of job the controller manages, a file and a line each.

What is watched, whose a pod is, what moves and how: all follows from that. What would harm one kind alone is refused by
checks of its own, each a file of `preflight/` and a line there; what the controller may do at all stands in
`manifests.controller_rights`.
"""

from collections.abc import Mapping
from typing import Final

from spotproof.controller.jobs.contract import JobKind
from spotproof.controller.jobs.jobset import JobSetKind
from spotproof.controller.jobs.rayjob import RayJobKind

JOBS: Final[Mapping[str, JobKind]] = {kind.kind.kind: kind for kind in (JobSetKind(), RayJobKind())}
"""By the name of the kind."""
