"""Trains a small network on several processes with JAX, saves with Orbax, and goes on where it was after an eviction.

Data parallel: every process has its part of each batch, and all of them the same state. What is computed follows from
what is saved alone, so a run that was interrupted ends with the very bits of one that was not.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import time
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import fsspec
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from contract import Run, Saves, report_progress
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as Axes

INPUTS, BATCH = 64, 128
DROPPED = 0.1
MARKER = "uploaded"
"""Not Orbax's commit_success.txt: that is in the folder already, and is copied before the arrays as well as after."""

State = dict[str, Any]
"""All that is saved: `params`, `optimizer` (its count is the schedule), `step`, `position` in the data, `random`, and
`seconds` trained in all attempts."""


def main() -> None:
    """Train until `--steps`, or until SIGTERM."""
    asked, run = arguments(), Run.from_environment()
    # Of the two that want SIGTERM, this program and JAX's preemption service, one must get it.
    jax.config.update("jax_enable_preemption_service", val=False)
    jax.distributed.initialize(f"{run.coordinator}:{asked.port}", run.pods, run.rank)
    saves = Saves(run, asked.save_steps)
    mesh = Mesh(np.asarray(jax.devices()), ("batch",))
    everywhere, split = NamedSharding(mesh, Axes()), NamedSharding(mesh, Axes("batch"))
    optimizer = optax.adamw(optax.cosine_decay_schedule(1e-3, asked.steps))
    update = jax.jit(step_of(optimizer), donate_argnums=0, out_shardings=(everywhere, everywhere))

    shared = run.checkpoint_uri.startswith(("file://", "gs://"))
    checkpoints = (Shared if shared else Mirrored)(run.checkpoint_uri, asked.keep)
    gang = Gang(run, saves, checkpoints)
    state = jax.jit(fresh, static_argnums=(0, 1), out_shardings=everywhere)(optimizer, asked.width)
    step = checkpoints.newest()
    if step:
        state = checkpoints.restore(step, state)
    gang.started(step, int(state["seconds"]))

    while step < asked.steps:
        state, loss = update(state, batch(int(state["position"]), split))
        step += 1
        say(f"step {step} loss {float(loss).hex()} {float(loss):.6g}")
        time.sleep(asked.step_seconds)
        due, told = gang.agree(step, last=step == asked.steps)
        if told:
            gang.leave(step, state)
        if due:
            gang.save(step, state)
    gang.settle()
    say(f"finished at step {step}, state sha256 {digest(state)}")
    jax.distributed.shutdown()


def arguments() -> argparse.Namespace:
    """What can be asked of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--save-steps", type=int, default=50, help="save at the latest after so many")
    parser.add_argument("--width", type=int, default=512, help="of the hidden layers")
    parser.add_argument("--keep", type=int, default=3, help="checkpoints to keep")
    parser.add_argument("--step-seconds", type=float, default=0, help="a pause after each step")
    parser.add_argument("--port", type=int, default=1234, help="of the first process, where all of them meet")
    return parser.parse_args()


def fresh(optimizer: optax.GradientTransformation, width: int) -> State:
    """The state before the first step."""
    keys = jax.random.split(jax.random.key(1), 4)
    sizes = (INPUTS, width, width, 1)
    params = [
        {"w": jax.random.normal(key, (before, after)) / before**0.5, "b": jnp.zeros(after)}
        for key, before, after in zip(keys[:3], sizes[:-1], sizes[1:], strict=True)
    ]
    return {
        "params": params,
        "optimizer": optimizer.init(params),
        "step": jnp.int32(0),
        "position": jnp.int32(0),
        "random": jax.random.key_data(keys[3]),
        "seconds": jnp.int32(0),
    }


def step_of(optimizer: optax.GradientTransformation) -> Any:
    """One step: from the state and a batch to the next state and the loss."""

    def loss_of(params: Any, inputs: jax.Array, targets: jax.Array, dropout: jax.Array) -> jax.Array:
        hidden = inputs
        for index, layer in enumerate(params):
            hidden = hidden @ layer["w"] + layer["b"]
            if index < len(params) - 1:
                kept = jax.random.bernoulli(jax.random.fold_in(dropout, index), 1 - DROPPED, hidden.shape)
                hidden = jnp.where(kept, jax.nn.relu(hidden) / (1 - DROPPED), 0)
        return jnp.mean((hidden[:, 0] - targets) ** 2)

    def update(state: State, data: tuple[jax.Array, jax.Array]) -> tuple[State, jax.Array]:
        following, dropout = jax.random.split(jax.random.wrap_key_data(state["random"]))
        loss, gradients = jax.value_and_grad(loss_of)(state["params"], *data, dropout)
        updates, moments = optimizer.update(gradients, state["optimizer"], state["params"])
        after = {
            **state,
            "params": optax.apply_updates(state["params"], updates),
            "optimizer": moments,
            "step": state["step"] + 1,
            "position": state["position"] + BATCH,
            "random": jax.random.key_data(following),
        }
        return after, loss

    return update


def batch(position: int, split: NamedSharding) -> tuple[jax.Array, jax.Array]:
    """The examples from this position on, this process's part of them. None needs those before it."""
    mine = BATCH // jax.process_count()
    first = jax.process_index() * mine
    drawn = np.random.Generator(np.random.Philox(key=2, counter=[0, 0, 0, position])).standard_normal((BATCH, INPUTS))
    inputs = drawn[first : first + mine].astype(np.float32)
    targets = np.sin(inputs[:, :4].sum(axis=1))
    return (
        jax.make_array_from_process_local_data(split, inputs),
        jax.make_array_from_process_local_data(split, targets),
    )


class Checkpoints(Protocol):
    """Where checkpoints are. Every process calls all of it, at the same step."""

    def newest(self) -> int:
        """The step of the newest complete one, 0 where there is none."""
        ...

    def restore(self, step: int, like: State) -> State:
        """Read one into arrays placed as those of `like`."""
        ...

    def save(self, step: int, state: State) -> None:
        """Begin to write one. It goes on while the next steps are done."""
        ...

    def saving(self) -> bool:
        """Whether this process still writes."""
        ...

    def wait(self) -> None:
        """Return when nothing is written any more, and raise what went wrong."""
        ...


class Shared:
    """A folder or gs:// that every process reaches. All of it is Orbax: each writes its part, the first one commits.

    A checkpoint is complete when its folder has its name (a rename on a file system), on gs:// when commit_success.txt
    is there. Orbax keeps the newest `keep`, and removes at the start what an earlier attempt left unfinished.
    """

    def __init__(self, uri: str, keep: int) -> None:
        options = ocp.CheckpointManagerOptions(max_to_keep=keep, cleanup_tmp_directories=True)
        self._manager = ocp.CheckpointManager(uri.removeprefix("file://"), options=options)

    def newest(self) -> int:
        return self._manager.latest_step() or 0

    def restore(self, step: int, like: State) -> State:
        places = jax.tree.map(lambda each: jax.ShapeDtypeStruct(each.shape, each.dtype, sharding=each.sharding), like)
        return self._manager.restore(step, args=ocp.args.StandardRestore(places))

    def save(self, step: int, state: State) -> None:
        self._manager.save(step, args=ocp.args.StandardSave(state), force=True)

    def saving(self) -> bool:
        return self._manager.is_saving_in_progress()

    def wait(self) -> None:
        self._manager.wait_until_finished()


class Mirrored:
    """s3:// and abfs://, to which Orbax 0.12 writes no arrays: one process saves to a folder, and copies that up.

    It is the first, and has all of the state, as every process has. A checkpoint is complete when `uploaded` is there,
    which is written last; an upload that was cut off has none. All processes read it, each into its own folder.
    """

    def __init__(self, uri: str, keep: int) -> None:
        self._files, self._root = fsspec.core.url_to_fs(uri)
        self._keep, self._first = keep, jax.process_index() == 0
        self._folder = Path(tempfile.mkdtemp(prefix="checkpoints-"))
        self._thread, self._writing = ThreadPoolExecutor(1), Future[None]()
        self._writing.set_result(None)

    def newest(self) -> int:
        newest = max(self._complete(self._listed()), default=0) if self._first else 0
        return int(multihost_utils.broadcast_one_to_all(np.int32(newest)))

    def restore(self, step: int, like: State) -> State:
        for path in self._listed():
            name = path.removeprefix(f"{self._root}/")
            if name.startswith(f"{step}/") and name != f"{step}/{MARKER}":
                (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
                self._files.get_file(path, str(self._folder / name))
        state = self._manager().restore(step, args=ocp.args.StandardRestore(jax.device_get(like)))
        return jax.tree.map(placed, state, like)

    def save(self, step: int, state: State) -> None:
        if self._first:
            self._writing = self._thread.submit(self._write, step, jax.device_get(state))

    def saving(self) -> bool:
        return not self._writing.done()

    def wait(self) -> None:
        self._writing.result()

    def _write(self, step: int, state: State) -> None:
        manager = self._manager()
        manager.save(step, args=ocp.args.StandardSave(state), force=True)
        manager.close()
        self._remove(step, self._listed())  # what an upload that was cut off left of it
        for path in sorted(each for each in (self._folder / str(step)).rglob("*") if each.is_file()):
            self._files.put_file(str(path), f"{self._root}/{path.relative_to(self._folder)}")
        self._files.pipe_file(f"{self._root}/{step}/{MARKER}", b"")
        there = self._listed()
        kept = self._complete(there)[-self._keep :]
        for each in {self._step_of(path) for path in there}:
            if each < step and each not in kept:
                self._remove(each, there)

    def _manager(self) -> ocp.CheckpointManager:
        index = jax.process_index()
        alone = ocp.options.MultiprocessingOptions(
            primary_host=index, active_processes={index}, barrier_sync_key_prefix=f"process-{index}"
        )
        options = ocp.CheckpointManagerOptions(
            create=False, max_to_keep=1, enable_async_checkpointing=False, multiprocessing_options=alone
        )
        return ocp.CheckpointManager(self._folder, options=options)

    def _complete(self, listed: list[str]) -> list[int]:
        """Steps whose checkpoint has its marker, the oldest first."""
        return sorted(self._step_of(path) for path in listed if path.endswith(f"/{MARKER}"))

    def _step_of(self, path: str) -> int:
        return int(path.removeprefix(f"{self._root}/").partition("/")[0])

    def _listed(self) -> list[str]:
        """Every file of the run.

        A role for one prefix of a bucket may list that, and nothing else may be asked of it: S3 answers 403 to whoever
        wants to know of an object that is not there, or of the bucket (s3fs issues 532 and 591).
        """
        self._files.invalidate_cache()
        try:
            return self._files.find(self._root) if self._files.ls(self._root, detail=False) else []
        except FileNotFoundError:
            return []

    def _remove(self, step: int, listed: list[str]) -> None:
        """The marker goes first, so that no checkpoint is complete while it is removed."""
        files = [path for path in listed if self._step_of(path) == step]
        for path in sorted(files, key=lambda path: not path.endswith(f"/{MARKER}")):
            self._files.rm_file(path)


@dataclass
class Begun:
    """A save that was begun."""

    step: int
    at: float
    trained: int


class Gang:
    """What all processes have to do together: to save, and to leave."""

    def __init__(self, run: Run, saves: Saves, checkpoints: Checkpoints) -> None:
        self._run, self._saves, self._checkpoints = run, saves, checkpoints
        self._first = jax.process_index() == 0
        self._before, self._since = 0, time.monotonic()
        self._trained, self._progress, self._begun, self._newest = 0, 0, None, 0

    def started(self, step: int, trained: int) -> None:
        """Training goes on after this step, `trained` seconds of work into it."""
        self._saves.resumed(step)
        self._newest, self._progress, self._before, self._since = step, trained, trained, time.monotonic()
        say(f"resumed at step {step} of attempt {self._run.attempt}" if step else "starting at step 0")

    def agree(self, step: int, *, last: bool = False) -> tuple[bool, bool]:
        """Whether to save now, and whether anybody was told to end: the same answer in every process."""
        ended = self._begun is not None and not self._checkpoints.saving()
        due = last or (self._begun is None and self._saves.due(step))
        return self._gathered(due=due, ended=ended)

    def save(self, step: int, state: State) -> None:
        """Begin a checkpoint of this step, when the one before is complete."""
        self.settle()
        self._begun = Begun(step, time.monotonic(), self._trained)
        self._checkpoints.save(step, {**state, "seconds": placed(self._trained, state["seconds"])})

    def settle(self) -> None:
        """Wait until the last checkpoint is complete."""
        if self._begun:
            self._checkpoints.wait()
            self._gathered(due=False, ended=True)

    def leave(self, step: int, state: State) -> None:
        """Save if there is time, and end. The process that was told knows how much there is."""
        self.settle()
        said = "SIGTERM: no time to save"
        if step > self._newest and self._all(fits=self._saves.fits()):
            began = time.monotonic()
            self.save(step, state)
            self._checkpoints.wait()
            said = f"SIGTERM: saved step {step} in {time.monotonic() - began:.2f} s"
            self._progress = self._trained
        elif step == self._newest:
            said = f"SIGTERM: step {step} was saved"
        multihost_utils.sync_global_devices("leave")
        say(f"{said}, leaving with 143")
        if self._first:
            report_progress(self._run, self._progress)
            # It is the one by which JAX's processes know of each other: without it the others would be aborted.
            time.sleep(1)
        self._saves.leave()

    def _gathered(self, *, due: bool, ended: bool) -> tuple[bool, bool]:
        """Tell the others what this process knows. Of saves and of time, what the first one says holds."""
        took = time.monotonic() - self._begun.at if self._begun and ended else 0.0
        trained = self._before + time.monotonic() - self._since
        every = multihost_utils.process_allgather(
            np.asarray([due, self._saves.told, ended, took, trained], np.float32)
        ).reshape(-1, 5)
        first = every[0]
        self._trained = int(first[4])
        if first[2] and self._begun:
            done, self._begun = self._begun, None
            self._newest = done.step
            self._saves.saved(done.step, float(first[3]))
            say(f"saved step {done.step} in {first[3]:.2f} s")
            self._progress = done.trained
            if self._first:
                report_progress(self._run, self._progress)
        return bool(first[0]), bool(every[:, 1].any())

    @staticmethod
    def _all(*, fits: bool) -> bool:
        return bool(multihost_utils.process_allgather(np.asarray([fits], np.int32)).all())


def placed(value: Any, like: jax.Array) -> jax.Array:
    """What every process has, as an array of all of them. jax.device_put would compare it among them first."""
    return jax.make_array_from_process_local_data(like.sharding, np.asarray(value, like.dtype), like.shape)


def digest(state: State) -> str:
    """Of all that is saved, except the seconds it took."""
    sha = hashlib.sha256()
    for path, leaf in jax.tree_util.tree_leaves_with_path({**state, "seconds": None}):
        sha.update(jax.tree_util.keystr(path).encode())
        sha.update(np.asarray(leaf).tobytes())
    return sha.hexdigest()


def say(line: str) -> None:
    """One process speaks for all."""
    if jax.process_index() == 0:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    try:
        main()
    except Exception:  # noqa: BLE001 - whatever it was
        traceback.print_exc()
        os._exit(1)  # an ordinary end would wait for the other processes, which wait for this one
