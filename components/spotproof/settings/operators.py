"""What is installed on the cluster besides the pools."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spotproof.settings.base import Settings

CHART_VERSION = r"^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]+)?$"


class Operator(Settings):
    """One operator, from its official chart."""

    mode: Literal["install", "existing", "off"] = Field(
        default="install",
        description="`install`: from the official chart. `existing`: somebody else keeps it on this cluster. "
        "`off`: not wanted.",
        examples=["install"],
    )
    version: Annotated[str, StringConstraints(pattern=CHART_VERSION)] | None = Field(
        default=None,
        description="Chart version. Left out: the one this release was checked with (operators/versions.py).",
        examples=["0.12.0"],
    )


class Fallback(Settings):
    """The fallback controller."""

    mode: Literal["off"] = Field(
        default="off",
        description="The controller that carries the fallback rule out. `off`: the policies are rendered, and "
        "nothing moves jobs yet.",
        examples=["off"],
    )


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
    fallback: Fallback = Field(default=Fallback(), description="The fallback controller.", examples=[{"mode": "off"}])
