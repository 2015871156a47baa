"""Experiment files: one training job, as its author writes it, against the stack it is to run in."""

from spotproof.settings.experiment.checks import Case
from spotproof.settings.experiment.load import load_experiment, workspace_of
from spotproof.settings.experiment.model import Experiment

__all__ = ["Case", "Experiment", "load_experiment", "workspace_of"]
