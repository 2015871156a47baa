"""The binaries that `make tools` builds, and the files of the operators that go with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TOOLS_VARIABLE: Final = "SPOTPROOF_TOOLS"
FOLDER: Final = ".tools"
"""In the checkout, where `make tools` puts them."""

CONTROL_PLANE: Final = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "jobset-manager",
    "kuberay-operator",
    "karpenter",
)
SHARED: Final = ("jobset", "kuberay", "karpenter")
_CHECKOUT: Final = Path(__file__).resolve().parents[3]


class ToolsMissing(Exception):  # noqa: N818  # the name is the sentence
    """The control plane cannot be started here; the text says what is missing and what to run."""


@dataclass(frozen=True)
class Tools:
    """A folder laid out by `make tools`: `bin` with the binaries, `share` with an operator's CRDs and roles."""

    folder: Path

    def bin(self, name: str) -> Path:
        """The binary called `name`; a name and not its target, since one binary answers to several."""
        return self.folder / "bin" / name

    def share(self, name: str) -> Path:
        """The folder of an operator's files: `jobset`, `kuberay`, `karpenter`."""
        return self.folder / "share" / name

    def missing(self) -> tuple[str, ...]:
        """What of the control plane is not there, as paths below the folder."""
        wanted = [self.bin(name) for name in CONTROL_PLANE] + [self.share(name) for name in SHARED]
        return tuple(path.relative_to(self.folder).as_posix() for path in wanted if not path.exists())


def find_tools(environ: Mapping[str, str]) -> Tools:
    """The tools in the folder that SPOTPROOF_TOOLS of `environ` names, else in the checkout this package is part of.

    Raises:
        ToolsMissing: some or all of them are not there.
    """
    named = environ.get(TOOLS_VARIABLE)
    tools = Tools(Path(named).absolute() if named else _CHECKOUT / FOLDER)
    missing = tools.missing()
    if not missing:
        return tools
    where = f"the folder {tools.folder} that {TOOLS_VARIABLE} names" if named else f"{tools.folder}"
    lacks = "is not there" if not tools.folder.is_dir() else f"lacks {', '.join(missing)}"
    raise ToolsMissing(
        f"{where} {lacks}: there is no control plane to rehearse on. Run `make tools` in a checkout of spotproof "
        f"(it needs Go 1.26.6 or newer), and elsewhere set {TOOLS_VARIABLE} to the folder it has filled"
    )
