"""What a training program and spotproof agree on, to be copied beside the program. Needs nothing but Python 3.11.

`Run` reads what a rendered pod is told, `Saves` says when to save, and `report_progress` tells the fallback controller
what is saved. The saving itself is the framework's. What has to hold, and why, is in docs/how-to/write-a-trainer.md.
"""

import json
import os
import signal
import ssl
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from types import FrameType
from typing import NoReturn, Self

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TERMINATED = 128 + signal.SIGTERM
"""The status to leave with after SIGTERM. 0 would say that this process has nothing more to do, ever."""


@dataclass(frozen=True)
class Run:
    """What the pod was told. The defaults are those of a program that is tried out by hand."""

    name: str
    """The run: the same name goes on where it was, in every attempt and on every tier."""
    checkpoint_uri: str
    """Where this run alone saves: s3://, gs://, abfs:// or file://, without a slash at the end."""
    attempt: str
    """Restarts so far, with Ray the cluster's name; text, because only its being another one means something."""
    rank: int
    """This pod among those of its role, from 0."""
    pods: int
    """Pods of this role."""
    coordinator: str
    """Host name of the first pod."""
    checkpoint_seconds: float
    """Save at least so often: checkpointEvery of the fallback policy, and without a policy a quarter of an hour."""
    notice_seconds: float
    """From SIGTERM to SIGKILL at most. The cloud may give less."""

    @classmethod
    def from_environment(cls) -> Self:
        """Read it from the variables of a rendered pod.

        Raises:
            SystemExit: CHECKPOINT_URI is missing: a run that saves nowhere would start afresh at every eviction.
        """
        told = os.environ
        if not told.get("CHECKPOINT_URI"):
            sys.exit("CHECKPOINT_URI is not set; to try this by hand, write CHECKPOINT_URI=file://$PWD/checkpoints")
        return cls(
            name=told.get("SPOTPROOF_RUN", "run"),
            checkpoint_uri=told["CHECKPOINT_URI"].rstrip("/"),
            attempt=told.get("SPOTPROOF_ATTEMPT", "0"),
            rank=int(told.get("JOB_COMPLETION_INDEX", "0")),
            pods=int(told.get("SPOTPROOF_PODS", "1")),
            coordinator=told.get("SPOTPROOF_COORDINATOR", "localhost"),
            checkpoint_seconds=float(told.get("SPOTPROOF_CHECKPOINT_SECONDS", "900")),
            notice_seconds=float(told.get("SPOTPROOF_NOTICE_SECONDS", "15")),
        )


class Saves:
    """When to save: every so many steps or seconds, whichever comes first, and after SIGTERM if there is time.

    Clocks of two processes never agree, and a save needs all of them. So the framework makes one answer of theirs, each
    step: one process asks `due`, all save after SIGTERM where any is `told` and each says that it `fits`.

    Args:
        run: What the pod was told.
        steps: Save at the latest after so many steps.
        clock: Seconds that never go back.
    """

    def __init__(self, run: Run, steps: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.told_at: float | None = None
        self._run, self._steps, self._clock = run, steps, clock
        self._last_step, self._last, self._longest = 0, clock(), 0.0
        # Ray Train runs a program in a thread of its worker, where Python takes no handlers; Ray says it by itself.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._terminate)

    @property
    def told(self) -> bool:
        """Whether this process is to end: SIGTERM arrived here, which is on one node as a rule."""
        return self.told_at is not None

    def tell(self, seconds: float) -> None:
        """Something else than SIGTERM said it: the process ends in so many seconds. Of several the soonest counts."""
        heard = self._clock() - (self._run.notice_seconds - seconds)
        self.told_at = heard if self.told_at is None else min(self.told_at, heard)

    def due(self, step: int) -> bool:
        """Whether to save after this step, by steps and by time."""
        return step - self._last_step >= self._steps or self._clock() - self._last >= self._run.checkpoint_seconds

    def fits(self) -> bool:
        """Whether a save as long as the longest so far, and half of it more, ends before SIGKILL."""
        gone = 0.0 if self.told_at is None else self._clock() - self.told_at
        return 1.5 * self._longest < self._run.notice_seconds - gone

    def resumed(self, step: int) -> None:
        """The checkpoint of this step was read; 0 where there was none."""
        self._last_step, self._last = step, self._clock()

    def saved(self, step: int, seconds: float) -> None:
        """A checkpoint of this step is complete; writing it took so long."""
        self._last_step, self._last, self._longest = step, self._clock(), max(self._longest, seconds)

    def leave(self) -> NoReturn:
        """End this process as one that SIGTERM ended, at once: what waits for other processes would wait for ever."""
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(TERMINATED)

    def _terminate(self, _signal: int, _frame: FrameType | None) -> None:
        self.tell(self._run.notice_seconds)


def report_progress(run: Run, seconds: float) -> None:
    """Tell the fallback controller how many seconds of useful work the newest complete checkpoint holds.

    Of all attempts together, and by one process. Outside a cluster it does nothing, and no failure of it is a reason to
    stop: the controller then reckons by itself.
    """
    if not ACCOUNT.exists():
        return
    try:
        namespace = (ACCOUNT / "namespace").read_text()
        request = urllib.request.Request(
            f"https://kubernetes.default.svc/apis/spotproof.dev/v1alpha1/namespaces/{namespace}/trainingruns/{run.name}",
            method="PATCH",
            data=json.dumps({"metadata": {"annotations": {"spotproof.dev/progress": str(int(seconds))}}}).encode(),
            headers={
                # Kubernetes replaces the token, so it is read each time.
                "Authorization": f"Bearer {(ACCOUNT / 'token').read_text()}",
                "Content-Type": "application/merge-patch+json",
            },
        )
        trust = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
        urllib.request.urlopen(request, timeout=10, context=trust).close()  # noqa: S310 - the cluster it runs in
    except (OSError, HTTPException, ValueError) as error:
        sys.stderr.write(f"progress was not reported: {error}\n")
