"""What a job may write on a TrainingRun: its progress. RBAC knows verbs and resources, not fields: that is left to CEL.

A trainer's service account may patch TrainingRuns of its workspace. Without these rules that patch could name another
policy, cut the run from its job, or hide it from whoever selects by labels.
"""

from typing import Final

from spotproof.fallback.record import PLURAL, PROGRESS_PATTERN
from spotproof.manifests.validating import Rule, Writes, validating
from spotproof.vocabulary import API_GROUP, API_VERSION, PROGRESS_ANNOTATION, Manifest

NAME: Final = "spotproof-progress"

OF_THE_WORKSPACE: Final = "request.userInfo.username.startsWith('system:serviceaccount:' + request.namespace + ':')"
"""Jobs run as accounts of their own workspace; the controller, the garbage collector and people are somebody else."""

ANNOTATIONS: Final = "has({0}.metadata.annotations) ? {0}.metadata.annotations : {{}}"

KEPT: Final = (
    f"variables.before.all(key, key == '{PROGRESS_ANNOTATION}'"
    " || (key in variables.after && variables.after[key] == variables.before[key]))"
    f" && variables.after.all(key, key == '{PROGRESS_ANNOTATION}' || key in variables.before)"
)
UNCHANGED: Final = "has(object.{0}) == has(oldObject.{0}) && (!has(object.{0}) || object.{0} == oldObject.{0})"


ONLY: Final = f"A job may set the annotation {PROGRESS_ANNOTATION} of its TrainingRun"
WRITTEN: Final = f"variables.after['{PROGRESS_ANNOTATION}']"

RULES: Final = (
    Rule("object.spec == oldObject.spec", f"{ONLY}, and not change its spec, which is the controller's."),
    Rule(KEPT, f"{ONLY}, and no other annotation."),
    *(
        Rule(UNCHANGED.format(f"metadata.{field}"), f"{ONLY}, and not change its {field}.")
        for field in ("labels", "ownerReferences", "finalizers")
    ),
    Rule(
        f"!('{PROGRESS_ANNOTATION}' in variables.after) || {WRITTEN}.matches('^{PROGRESS_PATTERN}$')",
        f"{PROGRESS_ANNOTATION} is whole seconds of work in the newest complete checkpoint. Write a number, as 5400.",
    ),
)


def progress_admission() -> list[Manifest]:
    """The admission policy and its binding, for namespaces that are workspaces."""
    by = ("by-an-account-of-the-workspace", OF_THE_WORKSPACE)
    updates = Writes(API_GROUP, API_VERSION.partition("/")[2], PLURAL, "UPDATE", by=by)
    variables = [("before", ANNOTATIONS.format("oldObject")), ("after", ANNOTATIONS.format("object"))]
    return validating(NAME, updates, RULES, variables=variables)
