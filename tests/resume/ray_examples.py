"""The two examples that run on Ray Train, whose list of complete checkpoints they share, and its limits."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tests.resume.example import Example, Fault, Found, Play, Readable
from tests.resume.gang import Played
from tests.resume.kills import Kill
from tests.resume.ray_gang import RayAttempt, RayGang
from tests.resume.tune import tune

LIST: Final = "proof/checkpoint_manager_snapshot.json"
"""Written by Ray's controller after a checkpoint's files, and before an old one is removed."""
FOLDER: Final = re.compile(r"proof/step-(\d+)-[^/]+")


def listed(store: Readable) -> Sequence[Found]:
    """Complete is what Ray has listed."""
    sizes: dict[str, int] = {}
    steps: dict[str, int] = {}
    paths = store.sizes()
    for path, size in paths.items():
        if match := FOLDER.match(path):
            sizes[match[0]] = sizes.get(match[0], 0) + size
            steps[match[0]] = int(match[1])
    names = {f"proof/{each['checkpoint_dir_name']}" for each in _list(store, paths)}
    return [
        *(Found(name, steps[name], name in names, sizes[name]) for name in sorted(steps, key=lambda each: steps[each])),
        *(
            Found(name, int(found[1]), complete=True, size=0)
            for name in names - steps.keys()
            if (found := FOLDER.match(name))
        ),
    ]


def _list(store: Readable, paths: Mapping[str, int]) -> Sequence[Mapping[str, Any]]:
    return json.loads(store.read(LIST))["checkpoint_results"] if paths.get(LIST) else []


def clusters(played: Played) -> Sequence[int]:
    """The number of the cluster of each start."""
    return [each.cluster for each in played.attempts if isinstance(each, RayAttempt)]


def _finished(played: Played) -> Sequence[str]:
    last = played.attempts[-1]
    return (
        []
        if any(line.startswith("finished at") for _, line in last.lines)
        else [f"it did not finish: {last.errors[-300:]}"]
    )


def _in_clusters(
    kills: Sequence[Kill], told: Mapping[str, str], wanted: Sequence[int]
) -> Callable[[Play], Sequence[str]]:
    def find(play: Play) -> Sequence[str]:
        played = play(kills, told)
        resumed = [
            line for each in played.attempts[1:] for _, line in each.lines[:1] if not line.startswith("resumed at")
        ]
        return [
            *_finished(played),
            *(f"a start says {line!r}" for line in resumed),
            *([] if clusters(played) == wanted else [f"it ran in the clusters {clusters(played)}, not {wanted}"]),
        ]

    return find


LOST: Final = (Kill(step=25, process=0), Kill(step=60, process=1))
"""Early enough that a reclaimed node is gone before the last step."""
RECLAIMED: Final = tuple(replace(kill, told=True) for kill in LOST)

LIMITS: Final[Mapping[str, Callable[[Play], Sequence[str]]]] = {
    "after M failures Ray goes on, after M + 1 the next cluster does": _in_clusters(
        LOST, {"SPOTPROOF_MAX_FAILURES": "1"}, [0, 0, 1]
    ),
}
RECLAIMS: Final[Mapping[str, Callable[[Play], Sequence[str]]]] = {
    "reclaimed nodes are no failures": _in_clusters(RECLAIMED, {"SPOTPROOF_MAX_FAILURES": "0"}, [0, 0, 0]),
    "without a policy a reclaimed node ends the attempt": _in_clusters(
        RECLAIMED[:1], {"SPOTPROOF_MAX_PREEMPTION_FAILURES": "0"}, [0, 1]
    ),
}

REPORT: Final = (
    '        ray.train.report({"step": int(state["step"])}, checkpoint=checkpoint, checkpoint_dir_name=name)\n'
)
RESTORED: Final = "[saved[name] for name in arrays(fresh)])\n"
FORGETS: Final = '        state["random"] = fresh["random"]\n'
SAVED_LATE: Final = """        ray.train.report(
            {"step": int(state["step"])},
            checkpoint=checkpoint,
            checkpoint_dir_name=name,
            checkpoint_upload_fn=_before_it_is_there,
        )
        ray.train.get_all_reported_checkpoints(ray.train.CheckpointConsistencyMode.COMMITTED)
        ray.train.get_context().get_storage().persist_current_checkpoint(checkpoint, name)
"""
BEFORE_IT_IS_THERE: Final = """

def _before_it_is_there(_checkpoint: ray.train.Checkpoint, name: str) -> ray.train.Checkpoint:
    storage = ray.train.get_context().get_storage()
    path = storage.build_checkpoint_path_from_name(name)
    storage.storage_filesystem.create_dir(path)
    return ray.train.Checkpoint(path, storage.storage_filesystem)


def remove_unlisted("""
NEWEST: Final = """checkpoint = ray.train.get_checkpoint()
    storage = ray.train.get_context().get_storage()
    found = storage.storage_filesystem.get_file_info(pyarrow.fs.FileSelector(storage.experiment_fs_path))
    folders = sorted(each.path for each in found if each.base_name.startswith(PREFIX))
    checkpoint = ray.train.Checkpoint(folders[-1], storage.storage_filesystem) if folders else None
"""


RAYS_OWN: Final = ("a marker written first", "a resume that takes the newest directory")
IN_THE_STATE, IN_THE_LIST = (
    Kill(step=21, moment="save", process=2, to=path) for path in (r"/state\.npz", r"/checkpoint_manager_snapshot\.json")
)
"""A save is two writes; with the head everything stops at once. They are told apart by their paths, since Ray lists a
checkpoint when it next looks at its workers, which may be steps later, and its log brings their words a second late."""
SAVED: Final = (Kill(step=70),)
"""The save of step 20 is listed by then: 50 steps are 7.5 s. At step 0 all is well, whatever was not saved."""

RAY_TRAIN: Final = Example(
    name="ray-train-rayjob",
    processes=3,
    find=listed,
    faults=(
        Fault(
            RAYS_OWN[0],
            ((REPORT, SAVED_LATE), ("\n\ndef remove_unlisted(", BEFORE_IT_IS_THERE)),
            [IN_THE_STATE],
        ),
        Fault(
            RAYS_OWN[1],
            (("checkpoint = ray.train.get_checkpoint()\n", NEWEST),),
            [IN_THE_LIST],
        ),
        Fault(
            "an exit with 0 after SIGTERM",
            (),
            (),
            why_not="the program is not told by SIGTERM, and its workers leave when Ray ends them",
        ),
        Fault("a random state not saved", ((RESTORED, f"{RESTORED}{FORGETS}"),), SAVED),
    ),
    steps=120,
    save_steps=20,
    width=1024,
    step_seconds=0.15,
    late_steps=40,  # 6 s: on a busy machine the last of 50 kills found the run at its end
    notice_seconds=15,
    gang=RayGang,
    leaves=False,
    stores=("s3",),
    also=LIMITS,
    rarely=RECLAIMS,
    pages={"a search of Tune is restored": tune},
)

TENSORFLOW: Final = replace(
    RAY_TRAIN,
    name="tensorflow-rayjob",
    faults=(
        *(Fault(words, (), (), why_not="the list is Ray's, as in the other one") for words in RAYS_OWN),
        RAY_TRAIN.faults[2],
        Fault("a random state not saved", (("            random=self.random,\n", ""),), SAVED, store="file"),
    ),
    variables={"TF_CPP_MIN_LOG_LEVEL": "1"},
    stores=("file",),
    also={},
    rarely={},
    pages={},
)
"""Ray's limits, and its list of what is complete, are proven by the other one."""
