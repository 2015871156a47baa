"""Data-parallel training by JAX on Ray Train that goes on at its newest checkpoint, whatever ended it.

Ray keeps the list of complete checkpoints, restarts the workers, and goes on with a run of the same name. What is
saved, and when, is this program's part. README.md says what is proven of it.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import jax
import numpy as np
import optax
import pyarrow.fs
import ray.train
import ray.train.collective
from contract import Run, Saves, report_progress
from jax import numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from ray.train.v2.jax import JaxConfig, JaxTrainer
from storage import storage

SEED = 20_261_121
BATCH = 64
"""Examples of a step, of all workers together: the number of workers changes no result beyond rounding."""
FEATURES, CLASSES = 32, 8

STATE = "state.npz"
PREFIX = "step-"

Tree = dict[str, Any]


def main() -> None:
    """On the head: one run of this name, at one place, whichever cluster it is that runs it."""
    run, options = Run.from_environment(), arguments()
    # Ray looks for reclaimed nodes every 5 s, of the 15 s that Google gives.
    os.environ.setdefault("RAY_TRAIN_PREEMPTION_POLL_INTERVAL_S", "1")
    JaxTrainer(
        train,
        train_loop_config={"run": run, "options": options},
        # `use_gpu` is how JaxTrainer is told to connect the processes; JAX_PLATFORMS says what they compute on.
        jax_config=JaxConfig(use_gpu=True),
        scaling_config=ray.train.ScalingConfig(
            num_workers=options.workers, use_gpu=options.gpus > 0, resources_per_worker=resources(options)
        ),
        run_config=ray.train.RunConfig(
            name=run.name,
            **storage(run.checkpoint_uri),
            checkpoint_config=ray.train.CheckpointConfig(num_to_keep=options.keep),
            failure_config=ray.train.FailureConfig(
                max_failures=int(os.environ.get("SPOTPROOF_MAX_FAILURES", "0")),
                max_preemption_failures=int(os.environ.get("SPOTPROOF_MAX_PREEMPTION_FAILURES", "-1")),
            ),
            worker_runtime_env={"env_vars": {"JAX_PLATFORMS": "cuda" if options.gpus else "cpu"}},
        ),
    ).fit()


def arguments() -> argparse.Namespace:
    """What is trained, how much of it, and how often it is saved."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2, help="training processes; `count` of the experiment")
    parser.add_argument("--gpus", type=int, default=0, help="GPUs of each")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--save-steps", type=int, default=50, help="save at the latest after so many steps")
    parser.add_argument("--keep", type=int, default=3, help="checkpoints to keep")
    parser.add_argument("--width", type=int, default=256, help="of the hidden layers")
    parser.add_argument("--step-seconds", type=float, default=0.0, help="pause after each step")
    return parser.parse_args()


def resources(options: argparse.Namespace) -> dict[str, int]:
    """What a worker asks of Ray: a node's GPUs, or a CPU to try it out."""
    return {"GPU": options.gpus} if options.gpus else {"CPU": 1}


def train(config: dict[str, Any]) -> None:
    """In every worker: the steps from the newest checkpoint to the last."""
    run, options = config["run"], config["options"]
    first = ray.train.get_context().get_world_rank() == 0
    mesh = Mesh(np.array(jax.devices()), ("data",))
    optimizer = optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 40, options.steps))
    state, trained = restored(initial(options.width, optimizer), first=first)
    saves, told = Saves(run, options.save_steps), Reclaims(run)
    saves.resumed(int(state["step"]))
    state = jax.device_put(state, NamedSharding(mesh, PartitionSpec()))
    step, since = jax.jit(partial(one_step, optimizer)), time.monotonic() - trained
    for number in range(int(state["step"]) + 1, options.steps + 1):
        state, loss = step(state, examples(state, mesh))
        if first:
            say(f"step {number} loss {float(loss).hex()} {float(loss):.6f}")
        time.sleep(options.step_seconds)
        reclaim = told.news(saves)
        wanted = number == options.steps or saves.due(number) or (reclaim and saves.fits())
        # Clocks differ, and a save needs all workers: what the first one says is done.
        if ray.train.collective.broadcast_from_rank_zero(wanted):
            trained = time.monotonic() - since
            seconds = save(run, state, trained)
            saves.saved(number, seconds)
            if first:
                say(f"{'SIGTERM: ' if reclaim else ''}saved step {number} in {seconds:.2f} s")
                report_progress(run, trained)
    if first:
        say(f"finished at step {options.steps}, state sha256 {digest(state)}")


class Reclaims:
    """What Ray says about nodes that are being taken, each of them once. Until a node is gone its worker goes on.

    A worker that returned would say that training is finished, and one that raised an error would count as an error of
    the program: Ray itself ends and restarts the workers when the node's time is over.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: ray.train.PreemptionInfo | None = None

    def news(self, saves: Saves) -> bool:
        """Whether another node is being taken; asked by every worker after every step."""
        notice = ray.train.get_preemption_info()
        if notice is None or notice == self._known:
            return False
        self._known = notice
        saves.tell(notice.deadline_ms / 1000 - time.time() if notice.deadline_ms else self._run.notice_seconds)
        return True


def initial(width: int, optimizer: optax.GradientTransformation) -> Tree:
    """All that the next step depends on, before the first. The learning rate's place is in the optimizer's state."""
    sizes = [FEATURES, width, width, CLASSES]
    keys = jax.random.split(jax.random.PRNGKey(SEED), len(sizes))
    params = [
        {"weights": jax.random.normal(key, (rows, columns)) * rows**-0.5, "bias": jnp.zeros(columns)}
        for key, rows, columns in zip(keys[1:], sizes[:-1], sizes[1:], strict=True)
    ]
    return {
        "params": params,
        "optimizer": optimizer.init(params),
        "random": keys[0],
        "step": jnp.int32(0),
        "position": jnp.int32(0),  # in the data: examples that were seen
    }


def examples(state: Tree, mesh: Mesh) -> tuple[jax.Array, jax.Array]:
    """The next examples, computed from their position, each worker's share on its own devices."""
    random = np.random.default_rng([SEED, int(state["position"])])
    inputs = random.normal(size=(BATCH, FEATURES)).astype(np.float32)
    labels = (inputs[:, :CLASSES] + inputs[:, CLASSES : 2 * CLASSES] * 0.5).argmax(axis=1)
    split = NamedSharding(mesh, PartitionSpec("data"))
    return (
        jax.make_array_from_callback(inputs.shape, split, inputs.__getitem__),
        jax.make_array_from_callback(labels.shape, split, labels.__getitem__),
    )


def one_step(optimizer: optax.GradientTransformation, state: Tree, batch: tuple[jax.Array, jax.Array]) -> Any:
    """The state after a step, and its loss: the mean over the batch, so JAX averages the gradients of all workers."""
    inputs, labels = batch
    random, dropout = jax.random.split(state["random"])

    def loss_of(params: Any) -> jax.Array:
        hidden = inputs
        for number, layer in enumerate(params[:-1]):
            hidden = jax.nn.relu(hidden @ layer["weights"] + layer["bias"])
            kept = jax.random.bernoulli(jax.random.fold_in(dropout, number), 0.9, hidden.shape)
            hidden = jnp.where(kept, hidden / 0.9, 0.0)
        logits = hidden @ params[-1]["weights"] + params[-1]["bias"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, gradients = jax.value_and_grad(loss_of)(state["params"])
    updates, optimizer_state = optimizer.update(gradients, state["optimizer"], state["params"])
    return {
        "params": optax.apply_updates(state["params"], updates),
        "optimizer": optimizer_state,
        "random": random,
        "step": state["step"] + 1,
        "position": state["position"] + BATCH,
    }, loss


def save(run: Run, state: Tree, trained: float) -> float:
    """Save the state as a checkpoint that Ray lists, and return the seconds it took; every worker calls it.

    `report` returns when the files are there. Complete is what Ray's controller has listed, which it does when it next
    looks at its workers; only then may anybody rely on it.
    """
    began, name = time.monotonic(), f"{PREFIX}{int(state['step']):09d}-{run.attempt}"
    if ray.train.get_context().get_world_rank() != 0:
        ray.train.report({}, checkpoint=None, checkpoint_dir_name=name)
        return time.monotonic() - began
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / STATE, **arrays(state), attempt=np.str_(run.attempt), trained=np.float64(trained))
        checkpoint = ray.train.Checkpoint.from_directory(folder)
        ray.train.report({"step": int(state["step"])}, checkpoint=checkpoint, checkpoint_dir_name=name)
    listed = ray.train.get_all_reported_checkpoints(ray.train.CheckpointConsistencyMode.COMMITTED)
    remove_unlisted([each.checkpoint for each in listed])
    return time.monotonic() - began


def remove_unlisted(listed: list[ray.train.Checkpoint]) -> None:
    """Remove what was half-written when workers were lost: Ray never reads it, and never removes it either."""
    store, folder = listed[-1].filesystem, PurePosixPath(listed[-1].path).parent
    names = {PurePosixPath(each.path).name for each in listed}
    for found in store.get_file_info(pyarrow.fs.FileSelector(str(folder))):
        if found.base_name.startswith(PREFIX) and found.base_name not in names:
            store.delete_dir(found.path)


def restored(fresh: Tree, *, first: bool) -> tuple[Tree, float]:
    """The state of the newest complete checkpoint and the seconds trained for it, else the fresh one."""
    checkpoint = ray.train.get_checkpoint()
    if checkpoint is None:
        if first:
            say("starting at step 0")
        return fresh, 0.0
    with checkpoint.as_directory() as folder, np.load(Path(folder) / STATE) as saved:
        state = jax.tree.unflatten(jax.tree.structure(fresh), [saved[name] for name in arrays(fresh)])
        if first:
            say(f"resumed at step {int(state['step'])} of attempt {saved['attempt']}")
        return state, float(saved["trained"])


def arrays(state: Tree) -> dict[str, np.ndarray]:
    """Every array of the state by its path, in an order that never changes."""
    leaves = jax.tree_util.tree_leaves_with_path(state)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def digest(state: Tree) -> str:
    """A hash over all bytes of the state."""
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays(state).values())).hexdigest()


def say(line: str) -> None:
    """A line for people, as it is: Ray Train makes log records of what `print` is given."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
