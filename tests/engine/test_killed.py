"""An `up` that is killed halfway is finished by the next one."""

import signal
from collections.abc import Callable
from threading import Event

from spotproof.kube.waiting import wait
from tests.engine.driver import EVERY_STEP_KEPT, Engine, Stack
from tests.engine.standin.provider import Call
from tests.stacks.runs import settings_of

HUNG = "ManagedCluster"
PATIENCE_SECONDS = 60.0
LOOKS = 10


def _only_the_cluster_is_under_way(stack: Stack) -> Callable[[], bool]:
    """Whether it has been so for several looks: killed in the middle of a write, the engine leaves a file cut short."""
    looks: list[list[str]] = []

    def look() -> bool:
        looks.append([one["resource"]["urn"] for one in stack.deployment().get("pending_operations", [])])
        return len(looks) >= LOOKS and all(len(each) == 1 and HUNG in each[0] for each in looks[-LOOKS:])

    return look


def test_an_up_killed_while_the_cloud_does_not_answer_is_repaired_by_the_next(engine: Engine) -> None:
    stack = engine.stack("killed", settings_of("azure-dev"))
    arrived, released = Event(), Event()

    def hang(call: Call) -> None:
        if call.method == "Create" and call.urn.split("::")[2].endswith(f":{HUNG}"):
            arrived.set()
            released.wait(PATIENCE_SECONDS)

    engine.standin.before = hang
    up = engine.start(["up", "--yes", "--skip-preview", "--stack", stack.name], stack.folder, **EVERY_STEP_KEPT)
    try:
        assert arrived.wait(PATIENCE_SECONDS), f"the cluster was not asked for: {up.communicate()[0]}"
        wait(
            _only_the_cluster_is_under_way(stack),
            "nothing but the cluster to be under way",
            PATIENCE_SECONDS,
            patient=(ValueError, OSError),
        )
        up.send_signal(signal.SIGKILL)
        up.communicate()
    finally:
        released.set()
        engine.standin.before = lambda _: None

    # what was under way is written down, and so is the lock of whoever died
    left = stack.deployment()
    made = {one["urn"] for one in left["resources"]}
    pending = {one["resource"]["urn"] for one in left["pending_operations"]}
    assert [urn for urn in pending if HUNG in urn]
    assert not any(HUNG in urn for urn in made)
    locked = stack.up()
    assert "the stack is currently locked" in locked.error
    assert "pulumi cancel" in locked.error

    status, printed = engine.run(["cancel", "--yes", "--stack", stack.name], stack.folder)
    assert status == 0, printed
    repaired = stack.up()

    assert repaired.error == ""
    created = {step.urn for step in repaired.steps if step.op == "create"}
    assert created.isdisjoint(made)
    assert pending <= created
    # nobody knows whether the cloud made them after all: the engine keeps saying so until it is told
    (warning,) = {text for severity, text in repaired.said if severity == "warning" and "pending" in text}
    assert "pulumi refresh" in warning
    assert HUNG in warning
    status, printed = engine.run(
        ["refresh", "--clear-pending-creates", "--yes", "--skip-preview", "--stack", stack.name], stack.folder
    )
    assert status == 0, printed
    assert stack.deployment().get("pending_operations", []) == []
    assert [(step.op, step.resource, step.keys) for step in stack.unchanged().steps if step.op != "same"] == []
    assert stack.destroy().error == ""
