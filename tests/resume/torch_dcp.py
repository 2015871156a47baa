"""examples/torch-dcp-jobset, and what is planted into it."""

from typing import Final

from tests.resume.example import Example, Fault, by_marker
from tests.resume.kills import Kill

SAVE: Final = "        dcp.save(state, storage_writer=writer)\n"
MARK: Final = '        self._files.pipe_file(f"{self._folder(self._root, step)}/.metadata", b"")\n'
TORN: Final = (Kill(step=0, moment="save", write=2, to=r"^step-(?!0*20/)"),)
"""In the middle of the second upload, whichever step it is of."""

TORCH_DCP: Final = Example(
    name="torch-dcp-jobset",
    processes=2,
    find=by_marker(r"step-(?P<step>\d+)", ".metadata"),
    options=("--port", "{port}"),
    faults=(
        Fault(
            "a marker written first",
            ((SAVE, MARK + SAVE),),
            TORN,
        ),
        Fault(
            "a resume that takes the newest directory",
            (("max(self._complete(), default=None)", "max(self._all(), default=None)"),),
            TORN,
        ),
        Fault(
            "an exit with 0 after SIGTERM",
            (("            saves.leave()\n", "            end(0)\n"),),
            (Kill(step=25, told=True, process=1),),
        ),
        Fault(
            "a random state not saved",
            (('            torch.set_rng_state(random["cpu"])\n', ""),),
            (Kill(step=25),),
        ),
    ),
    large="torch brings 3 GB of CUDA packages from the index",
)
