"""Drives the real `pulumi`: our stacks as inline programs on a file backend in a temporary folder, no network."""

import gc
import json
import os
import runpy
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pulumi import automation as auto
from pulumi.automation import errors, events

from spotproof.settings import ENVIRONMENT_KEY
from tests.engine.standin.provider import StandIn
from tests.stacks.runs import ROOT

PROJECT: Final = "spotproof"
PASSPHRASE: Final = "of-the-tests"  # noqa: S105  # encrypts a state that lives as long as a test


EVERY_STEP_KEPT: Final = {"PULUMI_SKIP_CHECKPOINTS": "false"}
"""The environment in which the state is written at every step, as people have it."""


@dataclass(frozen=True)
class Step:
    """What the engine plans for, or did to, one resource; `keys` are the inputs that changed."""

    op: str
    urn: str
    keys: tuple[str, ...] = ()

    @property
    def resource(self) -> str:
        """Last type and name, as in "aws:ec2/vpc:Vpc aws-dev-vpc"."""
        return short(self.urn)


@dataclass
class Run:
    """One command of the engine: `error` is the text it ended with, empty when it went well."""

    steps: list[Step] = field(default_factory=list[Step])
    said: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Severity and text of what the engine said, without colours."""
    policies: list[events.PolicyEvent] = field(default_factory=list[events.PolicyEvent])
    error: str = ""
    seconds: float = 0.0

    def changes(self) -> list[tuple[str, str]]:
        """Operation and resource of every step that changes something, sorted."""
        return sorted((step.op, step.resource) for step in self.steps if step.op != "same")

    def hear(self, event: events.EngineEvent) -> None:
        """Keep what one event tells."""
        if event.resource_pre_event:
            meta = event.resource_pre_event.metadata
            self.steps.append(Step(events.OpType(meta.op).value, meta.urn, tuple(sorted(meta.diffs or ()))))
        if event.diagnostic_event and not event.diagnostic_event.ephemeral:
            self.said.append((event.diagnostic_event.severity, event.diagnostic_event.message))
        if event.policy_event:
            self.policies.append(event.policy_event)


def short(urn: str) -> str:
    """Last type and name of a URN."""
    _, _, types, name = urn.split("::", 3)
    return f"{types.rpartition('$')[2]} {name}"


class Engine:
    """The `pulumi` of a tools folder, with a home of its own, a backend of its own and the stand-in as every cloud."""

    def __init__(self, tools: Path, folder: Path, standin: StandIn, providers: str) -> None:
        self.tools = tools
        self.folder = folder
        self.standin = standin
        for name in ("home", "state"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": (folder / "state").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_DEBUG_PROVIDERS": providers,
            # the state is written when a command ends, not at each of its steps: an `up` of 146 resources took 3.4 s
            # instead of 8.4 s; what a killed one leaves is tested without it (`every_step_kept`)
            "PULUMI_EXPERIMENTAL": "true",
            "PULUMI_SKIP_CHECKPOINTS": "true",
        }

    def project(self, name: str) -> Path:
        """Make a folder with our Pulumi.yaml, its program and empty `stacks`, in which a test may write."""
        folder = self.folder / "projects" / name
        (folder / "stacks").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "Pulumi.yaml", folder)
        for linked, to in (("infra", ROOT / "infra"), ("policies", ROOT / "policies"), (".venv", Path(sys.prefix))):
            if not (folder / linked).exists():
                (folder / linked).symlink_to(to)
        return folder

    def start(self, arguments: Sequence[str], folder: Path, **environment: str) -> subprocess.Popen[str]:
        """Start the command as people type it, in a project's folder; our language host runs the program."""
        path = f"{self.tools / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.Popen(
            [self.tools / "bin" / "pulumi", *arguments, "--non-interactive", "--color", "never"],
            cwd=folder,
            env={**os.environ, **self.environment, "PATH": path, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, arguments: Sequence[str], folder: Path, **environment: str) -> tuple[int, str]:
        """Run a command to its end; exit status and what it printed."""
        process = self.start(arguments, folder, **environment)
        printed, _ = process.communicate()
        return process.returncode, printed

    def stack(self, name: str, settings: Mapping[str, Any], program: Callable[[], None] | None = None) -> "Stack":
        """Make a stack that does not exist yet; `name` is the stack's in its URNs."""
        return Stack(self, name, settings, program or our_program)


def our_program() -> None:
    """Run the program of every stack, as it is committed."""
    runpy.run_path(str(ROOT / "infra"), run_name="__main__")


class Stack:
    """One stack on the engine; every command answers with what it heard, and raises only what is no answer of it."""

    def __init__(self, engine: Engine, name: str, settings: Mapping[str, Any], program: Callable[[], None]) -> None:
        self.name = name
        self.folder = engine.project(name)
        self._state = engine.folder / "state" / ".pulumi" / "stacks"
        self.file = self.folder / "stacks" / f"Pulumi.{name}.yaml"
        self.configure(settings)
        options = auto.LocalWorkspaceOptions(
            work_dir=str(self.folder),
            env_vars=engine.environment,
            pulumi_command=auto.PulumiCommand(root=str(engine.tools)),
        )
        self._stack = auto.create_stack(name, project_name=PROJECT, program=program, opts=options)

    def configure(self, settings: Mapping[str, Any], **secrets: str) -> None:
        """Write the stack's file: settings in plain, and what the CLI wrote there of its own kept."""
        kept = [line for line in self._lines() if line.startswith("encryptionsalt:")]
        config: dict[str, object] = {ENVIRONMENT_KEY: settings}
        self.file.write_text("\n".join([json.dumps({"config": config})[1:-1], *kept]) + "\n", encoding="utf-8")
        for key, value in secrets.items():
            self._stack.set_config(f"{PROJECT}:{key}", auto.ConfigValue(value, secret=True))

    def _lines(self) -> list[str]:
        return self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []

    def preview(self, plan: Path | None = None, policy_packs: Sequence[Path] = ()) -> Run:
        """What an `up` would do."""
        packs = [str(pack) for pack in policy_packs]
        return _run(lambda hear: self._stack.preview(on_event=hear, plan=plan and str(plan), policy_packs=packs))

    def up(self) -> Run:
        """Make it so."""
        return _run(lambda hear: self._stack.up(on_event=hear, show_secrets=False))

    def unchanged(self) -> Run:
        """Preview again; the error says if there is any change."""
        return _run(lambda hear: self._stack.preview(on_event=hear, expect_no_changes=True))

    def refresh(self) -> Run:
        """Ask the providers how things are, and take it over; the error says if anything is other than the state."""
        return _run(lambda hear: self._stack.refresh(on_event=hear, expect_no_changes=True, show_secrets=False))

    def preview_destroy(self) -> Run:
        """What `pulumi destroy` does first, before it deletes anything."""
        return _run(lambda hear: self._stack.destroy(on_event=hear, show_secrets=False, preview_only=True))

    def destroy(self) -> Run:
        """Delete everything; the Automation API asks for it without a preview before it."""
        return _run(lambda hear: self._stack.destroy(on_event=hear, show_secrets=False))

    def unprotect(self, urn: str) -> None:
        """What the refusal of a destroy tells people to do."""
        self._stack.workspace.pulumi_command.run(
            ["state", "unprotect", urn, "--yes", "--stack", self.name],
            str(self.folder),
            self._stack.workspace.env_vars,
        )

    def deployment(self) -> dict[str, Any]:
        """The state as the backend keeps it, secrets encrypted; an export by the Automation API opens them."""
        text = (self._state / PROJECT / f"{self.name}.json").read_text(encoding="utf-8")
        return json.loads(text)["checkpoint"].get("latest") or {}


def _run(command: Callable[[Callable[[events.EngineEvent], None]], object]) -> Run:
    run = Run()
    gc.disable()  # the program runs in this process, and a full collection walks every class of the SDKs
    started = time.perf_counter()
    try:
        command(run.hear)
    except errors.CommandError as error:
        run.error = str(error)
    finally:
        gc.enable()
    run.seconds = time.perf_counter() - started
    return run
