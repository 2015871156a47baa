"""Who suspends and resumes the job: its operator at our word, and nobody beside us."""

from collections.abc import Iterator

from spotproof.controller.jobs import JOBS
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View, label_field
from spotproof.settings.errors import shown
from spotproof.vocabulary import QUEUE_LABEL


def ownership(view: View) -> Iterator[Finding]:
    """A queue label gives `suspend` to Kueue, managedBy the whole job to somebody else."""
    if queue := view.labels.get(QUEUE_LABEL):
        yield finding("Queue", label_field(QUEUE_LABEL), queue=shown(queue))
    own = JOBS[view.job["kind"]].manager
    if (manager := view.spec.get("managedBy") or own) != own:
        yield finding("ManagedBy", "spec.managedBy", manager=shown(manager), own=own)
