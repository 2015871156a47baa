"""Preview a whole stack in this process: no cloud account, no Pulumi CLI, no cluster, no network.

`capture` runs a program and returns what it registered; `preview_stack` also judges and prices it.
Names are loaded when they are asked for: settings alone must not cost the import of an SDK.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spotproof.preview.errors import ProgramError
    from spotproof.preview.lint import lint_inputs
    from spotproof.preview.model import Capture, Finding, Preview, Resource, Violation
    from spotproof.preview.preview import Checks, preview_stack
    from spotproof.preview.project import Project, ProjectError, load_project
    from spotproof.preview.run import Configuration, Target, capture
    from spotproof.preview.schemas import check_objects, schemas_in

_HOME = {
    "ProgramError": "errors",
    "lint_inputs": "lint",
    "Capture": "model",
    "Finding": "model",
    "Preview": "model",
    "Resource": "model",
    "Violation": "model",
    "Checks": "preview",
    "preview_stack": "preview",
    "Project": "project",
    "ProjectError": "project",
    "load_project": "project",
    "Configuration": "run",
    "Target": "run",
    "capture": "run",
    "check_objects": "schemas",
    "schemas_in": "schemas",
}

__all__ = [
    "Capture",
    "Checks",
    "Configuration",
    "Finding",
    "Preview",
    "ProgramError",
    "Project",
    "ProjectError",
    "Resource",
    "Target",
    "Violation",
    "capture",
    "check_objects",
    "lint_inputs",
    "load_project",
    "preview_stack",
    "schemas_in",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(f"spotproof.preview.{_HOME[name]}"), name)
