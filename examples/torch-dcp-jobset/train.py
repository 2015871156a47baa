"""PyTorch DDP that goes on at its newest checkpoint: gloo on CPUs, nccl on GPUs, torch.distributed.checkpoint to save.

The model is small and the data is computed from its position, so that a run that was killed can be compared with one
that was not, byte by byte. What to put in its place: `Training.__init__` and `batch`.
"""

import argparse
import hashlib
import math
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

# What cuBLAS needs to give the same sums twice; read when torch starts with a GPU.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from contract import TERMINATED, Run, Saves, report_progress
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn.parallel import DistributedDataParallel

SEED, FEATURES, BATCH = 20260, 64, 32
"""BATCH is samples of one process in one step."""
GANG = timedelta(days=30)
"""How long to wait for the other pods: as long as Kubernetes does. torch's own 30 minutes would end as an error of the
program where capacity came for one pod and not yet for the next."""


def main() -> None:
    """Train, and leave with 143 where SIGTERM came."""
    options, run = arguments(), Run.from_environment()
    processes = options.processes or torch.cuda.device_count() or 1
    if "LOCAL_RANK" not in os.environ and processes > 1:
        sys.exit(start_each(processes, run.notice_seconds))
    local = int(os.environ.get("LOCAL_RANK", "0"))
    rendezvous(run, options.port, run.rank * processes + local, run.pods * processes)
    # SIGTERM until here ends the process by itself, as it should: nobody waits in C++ for a gang that will not come.
    training = Training(options, local)
    store = Checkpoints(run.checkpoint_uri, options.keep)
    resume(training, store, run)
    if dist.get_rank() == 0:
        store.tidy()  # a save after SIGTERM leaves no time for it: 50 evictions in a row left 8 of 3
    saves = Saves(run, options.save_steps)
    saves.resumed(training.step)
    try:
        loop(training, store, saves, run, options)
    except Exception:  # noqa: BLE001 - whatever it is, it is told and the process ends
        traceback.print_exc()
        # A peer that left first breaks the collective of those that are leaving too.
        saves.leave() if saves.told else end(1)
    # From here SIGTERM ends the process by itself again: one that comes too late to be seen must not leave with 0.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    saves.leave() if saves.told else end(0)


def arguments() -> argparse.Namespace:
    """What can be said on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400, help="train so many steps")
    parser.add_argument("--save-steps", type=int, default=50, help="save at the latest after so many")
    parser.add_argument("--width", type=int, default=256, help="of the hidden layers: the size of a checkpoint")
    parser.add_argument("--keep", type=int, default=3, help="complete checkpoints to keep, 1 at least")
    parser.add_argument("--step-seconds", type=float, default=0.0, help="pause in every step")
    parser.add_argument("--port", type=int, default=29500, help="of the first process, where all of them meet")
    parser.add_argument("--processes", type=int, help="of one pod; left out, one for each of its GPUs")
    return parser.parse_args()


def start_each(processes: int, notice_seconds: float) -> int:
    """Start this program once for each GPU of the pod, pass SIGTERM on, and give the first status that is not 0.

    Not torchrun: it gives its workers 30 seconds after SIGTERM whatever the pod's grace is, and leaves with 1 whatever
    they left with (measured, torch 2.15), so that JobSet would count every eviction as an error of the program.
    """
    children = [
        subprocess.Popen([sys.executable, *sys.argv], env=os.environ | {"LOCAL_RANK": str(local)})  # noqa: S603 - itself
        for local in range(processes)
    ]

    def terminate(*_: object) -> None:
        for child in children:
            child.terminate()

    signal.signal(signal.SIGTERM, terminate)
    first, over = 0, math.inf
    while any(child.poll() is None for child in children):
        time.sleep(0.1)
        first = first or next((child.returncode for child in children if child.poll()), 0)
        if first and over == math.inf:
            over = time.monotonic() + notice_seconds
            terminate()
        if time.monotonic() > over:
            for child in children:
                child.kill()
    first = first or next((child.returncode for child in children if child.returncode), 0)
    return 128 - first if first < 0 else first


def rendezvous(run: Run, port: int, rank: int, world: int) -> None:
    """Meet the processes of all pods at the first pod. Its name may not be in DNS yet: torch tries again until it is.

    CPU tensors go by gloo on GPUs too: what the processes agree on in each step then does not wait for the GPU's queue.
    """
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    store = dist.TCPStore(run.coordinator, port, world, is_master=rank == 0, timeout=GANG)
    store.set_timeout(dist.default_pg_timeout)
    dist.init_process_group(backend, store=store, rank=rank, world_size=world)


class Training:
    """All that is trained, and what has to be saved of it."""

    def __init__(self, options: argparse.Namespace, local: int) -> None:
        torch.use_deterministic_algorithms(mode=True)
        self.device = torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu")
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        else:
            torch.set_num_threads(1)
        self.step, self.position, self.seconds = 0, 0, 0.0
        torch.manual_seed(SEED)
        hidden = options.width
        model = nn.Sequential(
            *(nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Dropout(0.1)),
            *(nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(0.1)),
            nn.Linear(hidden, 1),
        ).to(self.device)
        self.model = DistributedDataParallel(model, device_ids=[local] if self.device.type == "cuda" else None)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, options.steps)
        # After its first backward pass DDP puts the gradients into other buckets, and more than two processes then add
        # them in another order: without this pass of no effect the first step after a restart differs in the last bits.
        self.model(batch(0)[0].to(self.device)).sum().backward()
        self.model.zero_grad()  # where there are gradients, get_state_dict makes no optimizer state to load into
        # Dropout differs between the processes, so each has a random state of its own, and each is saved.
        torch.manual_seed(SEED + 1 + dist.get_rank())

    def one_step(self) -> float:
        """Train one step.

        Returns:
            The loss of this process.
        """
        inputs, target = batch(self.position + dist.get_rank() * BATCH)
        loss = nn.functional.mse_loss(self.model(inputs.to(self.device)), target.to(self.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        self.step += 1
        self.position += dist.get_world_size() * BATCH
        return loss.item()

    def snapshot(self) -> dict[str, Any]:
        """What is saved. Model and optimizer are the same everywhere: DCP writes each tensor once, by one of them."""
        model, optimizer = get_state_dict(self.model, self.optimizer)
        random = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state()
        return {
            "model": model,
            "optimizer": optimizer,
            "schedule": self.schedule.state_dict(),
            "step": self.step,
            "position": self.position,
            "seconds": self.seconds,
            "random": {str(dist.get_rank()): random},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where this was taken."""
        set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=state["model"],
            optim_state_dict=state["optimizer"],
        )
        self.schedule.load_state_dict(state["schedule"])
        self.step, self.position, self.seconds = state["step"], state["position"], state["seconds"]
        if random := state.get("random", {}).get(str(dist.get_rank())):
            torch.set_rng_state(random["cpu"])
            if self.device.type == "cuda":
                torch.cuda.set_rng_state(random["cuda"])

    def digest(self) -> str:
        """SHA-256 over the bytes of what all processes save, the seconds aside; the same on every process."""
        state = self.snapshot()
        del state["seconds"]
        parts: list[str | None] = [None] * dist.get_world_size()
        dist.all_gather_object(parts, hashlib.sha256(b"".join(leaves(state))).hexdigest())
        return hashlib.sha256("".join(map(str, parts)).encode()).hexdigest()


def batch(first: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Samples from this one on. They depend on their position alone, so a number says what was read."""
    inputs = torch.randn(BATCH, FEATURES, generator=torch.Generator().manual_seed(SEED + first))
    return inputs, torch.sin(inputs.sum(dim=1, keepdim=True) / math.sqrt(FEATURES))


def leaves(value: Any) -> list[bytes]:
    """The bytes of a nested state, by the order of its keys."""
    if isinstance(value, dict):
        return [part for key in sorted(value) for part in (repr(key).encode(), *leaves(value[key]))]
    if isinstance(value, torch.Tensor):
        return [value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()]
    return [repr(value).encode()]


class Checkpoints:
    """One folder `step-<done>` for each checkpoint, complete once `.metadata` is there: DCP renames it to that last."""

    def __init__(self, uri: str, keep: int) -> None:
        self._uri, self._keep = uri, max(keep, 1)
        self._files, self._root = url_to_fs(uri)

    def newest(self) -> int | None:
        """The newest complete checkpoint: the number of steps that are done."""
        return max(self._complete(), default=None)

    def read(self, step: int, state: dict[str, Any]) -> None:
        """Fill this state in place; all processes together."""
        reader = dcp.FsspecReader(self._folder(self._uri, step))
        if f"random.{dist.get_rank()}.cpu" not in reader.read_metadata().state_dict_metadata:
            del state["random"]  # more processes than before: a new one keeps the random state it started with
        dcp.load(state, storage_reader=reader)

    def write(self, step: int, state: dict[str, Any]) -> None:
        """Save this state; all processes together. What an earlier attempt left half-written is written over."""
        # Files on a disk need the sync, or a lost node has the name without the bytes. An object is there or it is not.
        disk = isinstance(self._files, LocalFileSystem)
        writer = dcp.FsspecWriter(self._folder(self._uri, step), sync_files=disk)
        if not disk:
            # A role for one prefix may list that and no more: s3fs takes the bucket for missing and tries to make it,
            # and S3 answers 403 to a HEAD of an object that is not there (s3fs issues 532 and 591). Neither is needed:
            # a bucket has no folders, and this checkpoint is not complete, or nobody would write it.
            writer.fs.mkdir = lambda _path: None
            writer.fs.exists = lambda _path: False
        dcp.save(state, storage_writer=writer)

    def tidy(self) -> None:
        """Remove all but the newest complete ones, also what was left half-written. One process, while none saves."""
        complete = self._complete()
        for step in [step for step in self._all() if complete and step not in complete[-self._keep :]]:
            folder = self._folder(self._root, step)
            # The mark first: a folder that is half removed must not look complete.
            if step in complete:
                self._files.rm_file(f"{folder}/.metadata")
            self._files.rm(folder, recursive=True)

    def _complete(self) -> list[int]:
        return [step for step in self._all() if ".metadata" in self._names(self._folder(self._root, step))]

    def _all(self) -> list[int]:
        found = (re.fullmatch(r"step-(\d+)", name) for name in self._names(self._root))
        return sorted(int(name[1]) for name in found if name)

    def _names(self, folder: str) -> list[str]:
        """Of what lies in a folder, asked anew because others write there; nothing where there is no folder."""
        self._files.invalidate_cache()
        try:
            return [PurePosixPath(path).name for path in self._files.ls(folder, detail=False)]
        except FileNotFoundError:
            return []

    @staticmethod
    def _folder(root: str, step: int) -> str:
        return f"{root}/step-{step:09d}"


def resume(training: Training, store: Checkpoints, run: Run) -> None:
    """Go on at the newest complete checkpoint, the same on all processes: only the first one looks which that is."""
    told: list[int | None] = [store.newest() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(told)
    if told[0] is None:
        say("starting at step 0")
        return
    state = training.snapshot()
    store.read(told[0], state)
    training.restore(state)
    say(f"resumed at step {training.step} of attempt {run.attempt}")


def loop(training: Training, store: Checkpoints, saves: Saves, run: Run, options: argparse.Namespace) -> None:
    """Train to the last step, or to SIGTERM."""
    began, before = time.monotonic(), training.seconds

    def save() -> str:
        training.seconds = before + time.monotonic() - began
        start = time.monotonic()
        store.write(training.step, training.snapshot())
        seconds = time.monotonic() - start
        saves.saved(training.step, seconds)
        if dist.get_rank() == 0:
            report_progress(run, training.seconds)
        return f"saved step {training.step} in {seconds:.2f} s"

    while training.step < options.steps:
        loss = training.one_step()
        time.sleep(options.step_seconds)
        due = dist.get_rank() == 0 and (saves.due(training.step) or training.step == options.steps)
        loss, due, told, late = agreed(loss, due, saves.told, saves.told and not saves.fits())
        say(f"step {training.step} loss {loss.hex()} {loss:.6g}")
        if told:
            say(f"SIGTERM: {'no time to save' if late else save()}, leaving with {TERMINATED}")
            saves.leave()
        if due:
            say(save())
            if dist.get_rank() == 0:
                store.tidy()
    say(f"finished at step {training.step}, state sha256 {training.digest()}")


def agreed(loss: float, *flags: bool) -> tuple[float, ...]:
    """The mean loss, and which of these any process says: SIGTERM comes to one node, and one clock is asked."""
    everywhere = torch.tensor([loss, *flags], dtype=torch.float64)
    dist.all_reduce(everywhere)
    total, *counts = everywhere.tolist()
    return total / dist.get_world_size(), *(count > 0 for count in counts)


def say(line: str) -> None:
    """Tell people, once a gang."""
    if dist.get_rank() == 0:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def end(status: int) -> None:
    """End at once: the teardown of a process group waits for processes that may be gone."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
