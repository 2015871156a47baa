"""What is installed on the cluster besides the pools."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from spotproof.settings.base import Settings
from spotproof.settings.errors import shown

CHART_VERSION = r"^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]+)?$"


@dataclass(frozen=True)
class Unfit:
    """Versions of an operator that do not do what jobs need: from `since`, below `before`; `why` is what happens."""

    since: str
    before: str
    why: str


UNFIT: Final[Mapping[str, Unfit]] = MappingProxyType(
    {
        # jobset issue 683 (requirements of v0.7.0) with PR 686: failurePolicy.restartStrategy. Rules of the failure
        # policy came with 0.6.0, and templates that may change while a JobSet is suspended with PR 644 between the two.
        "jobset": Unfit(
            "0",
            "0.7.0",
            "it drops `restartStrategy: BlockingRecreate` without a word, so that after an eviction new pods start "
            "beside old ones and two gangs write one checkpoint",
        ),
        # kuberay PR 2192, and Ray's own page on RayJobs: "added in version 1.2.0"
        "kuberay": Unfit(
            "0",
            "1.2.0",
            "it drops a RayJob's `backoffLimit` without a word, so that the first failure ends the job",
        ),
        # k8s-device-plugin issue 1692; the default of PR 1550 was taken back in 0.19.3
        "gpuPlugin": Unfit(
            "0.19.0",
            "0.19.3",
            "it gives every container all InfiniBand devices, which EFA's and other plugins hand out themselves",
        ),
    }
)
"""By the operator's key."""


def is_unfit(operator: str, version: str) -> bool:
    """Whether this version of an operator is one that does not do."""
    unfit = UNFIT.get(operator)
    return unfit is not None and _order(unfit.since) <= _order(version) < _order(unfit.before)


def _order(version: str) -> tuple[list[int], bool]:
    """What versions are compared by: the numbers, and a release after what came before it (`0.7.0-rc.1`)."""
    numbers, dash, _ = version.partition("+")[0].partition("-")
    return [int(number) for number in numbers.split(".")], not dash


class Operator(Settings):
    """One operator, from its official chart."""

    mode: Literal["install", "existing", "off"] = Field(
        default="install",
        description="`install`: from the official chart. `existing`: somebody else keeps it on this cluster. "
        "`off`: not wanted.",
        examples=["install"],
    )
    version: Annotated[str, StringConstraints(pattern=CHART_VERSION, max_length=60)] | None = Field(
        default=None,
        description="With `install` the chart's version; left out, the one this release was checked with "
        "(operators/versions.py). With `existing` the version that is there, which is then compared with what jobs "
        "here need.",
        examples=["0.12.0"],
    )


IMAGE_BY_DIGEST = r"^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+@sha256:[0-9a-f]{64}$"
"""Registry, path and digest, as references of the OCI distribution specification have them. The registry is there, so
that a mirror can keep it apart from others; no tag, which beside a digest nobody checks."""

TAG: Final = re.compile(r":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}(?=@)")

EXAMPLE_IMAGE = f"ghcr.io/example/spotproof-controller@sha256:{'0123456789abcdef' * 4}"


WRITE_A_DIGEST: Final = "Write it as the workflow `image` prints it, `<registry>/<path>@sha256:<64 hex digits>`"


def by_digest(image: str) -> str:
    """An image that is named by its digest.

    Raises:
        ValueError: it is not, or its registry is left out.
    """
    if re.fullmatch(IMAGE_BY_DIGEST, image, re.ASCII):
        return image
    if "@" not in image:
        raise ValueError(
            f"is {shown(image)}, an image without a digest; whoever may push to its registry could put something else "
            f"there, which would run with the controller's rights; {WRITE_A_DIGEST}"
        )
    if re.fullmatch(IMAGE_BY_DIGEST, without := TAG.sub("", image, count=1), re.ASCII):
        raise ValueError(
            f"is {shown(image)}, which has a tag beside its digest; no node heeds it, and people would take it "
            f"for what runs; leave the tag out: `{without}`"
        )
    raise ValueError(f"is {shown(image)}, which names no image of a registry; no node could pull it; {WRITE_A_DIGEST}")


Image: TypeAlias = Annotated[
    str, AfterValidator(by_digest), WithJsonSchema({"type": "string", "pattern": IMAGE_BY_DIGEST, "maxLength": 500})
]


class Fallback(Settings):
    """The fallback controller."""

    mode: Literal["install", "existing", "off"] = Field(
        default="off",
        description="The controller that moves jobs by the fallback policies. `install`: from `image`, with the "
        "admission policies of jobs. `existing`: somebody else keeps it on this cluster, and it may move the jobs of "
        "this stack's workspaces. `off`: the policies are rendered, and nothing moves jobs. Off unless asked for: "
        "there is no image before you have built and pushed one (docs/how-to/install-the-controller.md).",
        examples=["install"],
    )
    image: Image | None = Field(
        default=None,
        description="With `install`: the controller's image by digest, `<registry>/<path>@sha256:<64 hex digits>`. "
        "The workflow `image` prints it. A tag can be moved to something else, with the controller's rights. "
        "With `imageRegistry` it is pulled from there.",
        examples=[EXAMPLE_IMAGE],
    )

    @property
    def is_there(self) -> bool:
        """Whether there is a controller on the cluster, whoever keeps it."""
        return self.mode != "off"


class Operators(Settings):
    """Each can be installed, be there already, or be left out."""

    jobset: Operator = Field(
        default=Operator(), description="JobSet: gangs of Jobs that restart together.", examples=[{"mode": "install"}]
    )
    kuberay: Operator = Field(
        default=Operator(), description="KubeRay: Ray clusters and RayJobs.", examples=[{"mode": "install"}]
    )
    gpu_plugin: Operator = Field(
        default=Operator(),
        description="NVIDIA's device plugin, without which an AL2023 GPU node never becomes ready. `off` with "
        "Bottlerocket, which brings its own.",
        examples=[{"mode": "install"}],
    )
    fallback: Fallback = Field(
        default=Fallback(),
        description="The fallback controller.",
        examples=[{"mode": "install", "image": EXAMPLE_IMAGE}],
    )
