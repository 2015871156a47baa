"""Data-parallel training by TensorFlow on Ray Train that goes on at its newest checkpoint, whatever ended it.

`tf.train.Checkpoint` writes the state, and `ray.train.report` gives it to Ray, which keeps the list of complete
checkpoints, restarts the workers, and goes on with a run of the same name. README.md says what it prints.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow.fs
import ray.train
import ray.train.collective
from contract import Run, Saves, report_progress
from ray.train.tensorflow import TensorflowTrainer
from storage import storage

if TYPE_CHECKING:
    import tensorflow as tf

SEED = 20_261_121
BATCH = 64
"""Examples of a step, of all workers together: the number of workers changes no result beyond rounding."""
FEATURES, CLASSES = 32, 8

STATE = "state"
PREFIX = "step-"


def main() -> None:
    """On the head: one run of this name, at one place, whichever cluster it is that runs it."""
    run, options = Run.from_environment(), arguments()
    # Ray looks for reclaimed nodes every 5 s, of the 15 s that Google gives.
    os.environ.setdefault("RAY_TRAIN_PREEMPTION_POLL_INTERVAL_S", "1")
    TensorflowTrainer(
        train,
        train_loop_config={"run": run, "options": options},
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
    import tensorflow as tf  # noqa: PLC0415 - Ray has told TensorFlow who the workers are only now

    run, options, context = config["run"], config["options"], ray.train.get_context()
    first = context.get_world_rank() == 0
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    state = State(options, strategy)
    trained = restored(state, first=first)
    saves, told = Saves(run, options.save_steps), Reclaims(run)
    saves.resumed(state.done)
    since = time.monotonic() - trained
    for number in range(state.done + 1, options.steps + 1):
        loss = state.one_step(context.get_world_rank(), context.get_world_size())
        if first:
            say(f"step {number} loss {loss.hex()} {loss:.6f}")
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
        say(f"finished at step {options.steps}, state sha256 {state.digest()}")


class State:
    """All that the next step depends on, and the step itself. The learning rate's place is the optimizer's own count.

    The random state is of this program's own generator: TensorFlow's global one cannot be saved.
    """

    def __init__(self, options: argparse.Namespace, strategy: "tf.distribute.Strategy") -> None:
        import keras  # noqa: PLC0415
        import tensorflow as tf  # noqa: PLC0415

        self._tf, self._strategy = tf, strategy
        keras.utils.set_random_seed(SEED)
        with strategy.scope():
            layers = [keras.layers.Dense(options.width, activation="relu") for _ in range(2)]
            self.model = keras.Sequential([keras.Input([FEATURES]), *layers, keras.layers.Dense(CLASSES)])
            self.optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, options.steps))
            self.optimizer.build(self.model.trainable_variables)
        self.random = tf.random.Generator.from_seed(SEED)
        self.step = tf.Variable(0, dtype=tf.int64)
        self.position = tf.Variable(0, dtype=tf.int64)  # in the data: examples that were seen
        self.trained = tf.Variable(0.0, dtype=tf.float64)
        self.checkpoint = tf.train.Checkpoint(
            model=self.model,
            optimizer=self.optimizer,
            random=self.random,
            step=self.step,
            position=self.position,
            trained=self.trained,
        )
        self._losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)
        self._compiled = tf.function(self._distributed)

    @property
    def done(self) -> int:
        """Steps so far."""
        return int(self.step)

    def one_step(self, rank: int, workers: int) -> float:
        """A step of all workers, and the loss of the whole batch. Each worker takes its own rows of it."""
        tf = self._tf
        inputs = tf.random.stateless_normal([BATCH, FEATURES], [SEED, int(self.position)])
        labels = tf.argmax(inputs[:, :CLASSES] + 0.5 * inputs[:, CLASSES : 2 * CLASSES], axis=1)
        noisy = inputs + 0.1 * self.random.normal([BATCH, FEATURES])
        mine = slice(rank * BATCH // workers, (rank + 1) * BATCH // workers)
        loss = float(self._compiled(noisy[mine], labels[mine]))
        self.step.assign_add(1)
        self.position.assign_add(BATCH)
        return loss

    def digest(self) -> str:
        """A hash over all bytes of the state, of everything but the time it took."""
        variables = [*self.model.variables, *self.optimizer.variables, self.random.state, self.step, self.position]
        return hashlib.sha256(b"".join(variable.numpy().tobytes() for variable in variables)).hexdigest()

    def _distributed(self, inputs: "tf.Tensor", labels: "tf.Tensor") -> "tf.Tensor":
        losses = self._strategy.run(self._replica, args=(inputs, labels))
        return self._strategy.reduce("SUM", losses, axis=None)

    def _replica(self, inputs: "tf.Tensor", labels: "tf.Tensor") -> "tf.Tensor":
        """The optimizer sums the gradients of all workers, whose losses are therefore parts of one mean."""
        with self._tf.GradientTape() as tape:
            loss = self._tf.reduce_sum(self._losses(labels, self.model(inputs, training=True))) / BATCH
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss


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


def save(run: Run, state: State, trained: float) -> float:
    """Save the state as a checkpoint that Ray lists, and return the seconds it took; every worker calls it.

    `report` returns when the files are there. Complete is what Ray's controller has listed, which it does when it next
    looks at its workers; only then may anybody rely on it.
    """
    began, name = time.monotonic(), f"{PREFIX}{state.done:09d}-{run.attempt}"
    state.trained.assign(trained)
    with tempfile.TemporaryDirectory() as folder:
        # Writing may need all workers, so all of them do; the first one's files are the checkpoint.
        state.checkpoint.write(str(Path(folder) / STATE))
        if ray.train.get_context().get_world_rank() != 0:
            ray.train.report({}, checkpoint=None, checkpoint_dir_name=name)
            return time.monotonic() - began
        (Path(folder) / "attempt").write_text(run.attempt)
        checkpoint = ray.train.Checkpoint.from_directory(folder)
        ray.train.report({"step": state.done}, checkpoint=checkpoint, checkpoint_dir_name=name)
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


def restored(state: State, *, first: bool) -> float:
    """Read the newest complete checkpoint into the state, if there is one; the seconds trained for it."""
    checkpoint = ray.train.get_checkpoint()
    if checkpoint is None:
        if first:
            say("starting at step 0")
        return 0.0
    with checkpoint.as_directory() as folder:
        state.checkpoint.read(str(Path(folder) / STATE)).assert_consumed()
        if first:
            say(f"resumed at step {state.done} of attempt {(Path(folder) / 'attempt').read_text()}")
    return float(state.trained)


def say(line: str) -> None:
    """A line for people, as it is: Ray Train makes log records of what `print` is given."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
