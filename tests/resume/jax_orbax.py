"""examples/jax-orbax-jobset, and what is planted into it."""

from collections.abc import Sequence
from typing import Final

from tests.resume.example import Example, Fault, Found, Readable, by_marker
from tests.resume.kills import Kill

PUT: Final = (
    '        for path in sorted(each for each in (self._folder / str(step)).rglob("*") if each.is_file()):\n'
    '            self._files.put_file(str(path), f"{self._root}/{path.relative_to(self._folder)}")\n'
)
MARK: Final = '        self._files.pipe_file(f"{self._root}/{step}/{MARKER}", b"")\n'
TORN: Final = (Kill(step=0, moment="save", write=3, to=r"^(?!20/)\d+/"),)
"""In the middle of the second upload, whichever step it is of. The first is always of step 20; the next one begins when
that is complete, which nobody waits for: beside four busy loops it was of step 41 to 56 in 11 of 16 runs."""

RENAMED: Final = by_marker(r"(?P<step>\d+)(?P<unfinished>\.orbax-checkpoint-tmp[^/]*)?", "_CHECKPOINT_METADATA")
"""Orbax gives a folder its name once it is whole."""
MARKED: Final = by_marker(r"(?P<step>\d+)", "uploaded")
"""What the program copies to a bucket gets its marker last."""


def _find(store: Readable) -> Sequence[Found]:
    return (MARKED if store.uri.startswith("s3://") else RENAMED)(store)


JAX_ORBAX: Final = Example(
    name="jax-orbax-jobset",
    processes=2,
    find=_find,
    options=("--port", "{port}"),
    variables={"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"},
    faults=(
        Fault(
            "a marker written first",
            ((PUT + MARK, MARK + PUT),),
            TORN,
        ),
        Fault(
            "a resume that takes the newest directory",
            (("max(self._complete(self._listed()), default=0)", "max(map(self._step_of, self._listed()), default=0)"),),
            TORN,
        ),
        Fault(
            "an exit with 0 after SIGTERM",
            (("        self._saves.leave()\n", '        __import__("os")._exit(0)\n'),),
            (Kill(step=25, told=True, process=1),),
        ),
        Fault(
            "a random state not saved",
            (
                (
                    "state = checkpoints.restore(step, state)",
                    'state = {**checkpoints.restore(step, state), "random": state["random"]}',
                ),
            ),
            # Told, so that it saves: a save that nobody waits for may not be complete yet, and at step 0 all is well.
            (Kill(step=25, told=True),),
        ),
    ),
)
