"""One pod template of a job: where it stands in the job's spec, and how many pods it makes."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Template(NamedTuple):
    """One pod template.

    `path` leads from the job to the template itself (which holds `metadata` and `spec`), `pods` is how many it makes.
    `stays` is true for those that a move never touches, whatever they select.
    """

    role: str
    path: tuple[str | int, ...]
    template: Mapping[str, Any]
    pods: int
    stays: bool = False

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod's spec."""
        return self.template.get("spec", {})

    @property
    def selector(self) -> Mapping[str, str]:
        """Its nodeSelector."""
        return self.spec.get("nodeSelector") or {}

    def pointer(self, *parts: str | int) -> str:
        """A JSON pointer (RFC 6901) to something below the template."""
        return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in (*self.path, *parts))

    def dotted(self, *parts: str | int) -> str:
        """The same as people write it: `spec.replicatedJobs[0].template...`."""
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*self.path, *parts))[1:]
