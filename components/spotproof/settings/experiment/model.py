"""One training job as its author writes it: the experiment file.

The fields are those of the AIchor manifest, with their meaning there (docs.aichor.ai, manifest reference, 2026); what
is ours is said so. Where a job lands is not in here: that takes an environment (`landing.py`).
"""

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, StringConstraints, Tag, model_validator

from spotproof.settings.base import DNS_LABEL, ListOf, ObjectName, PoolName, Settings
from spotproof.settings.pools import LabelKey, LabelValue

JOBSET = "jobset"
KUBERAY = "kuberay"
OPERATORS = (JOBSET, KUBERAY)

LARGEST_JOB = 5000
"""Pods of one role: Kubernetes is tested to as many nodes."""


class ExtraToleration(Settings):
    """A toleration as Kubernetes has it."""

    key: LabelKey | None = Field(
        default=None, description="Key of the taint. Left out, with `Exists`: every taint.", examples=["dedicated"]
    )
    operator: Literal["Equal", "Exists"] = Field(
        default="Equal", description="`Equal` compares the value too.", examples=["Equal"]
    )
    value: LabelValue | None = Field(default=None, description="Value of the taint.", examples=["training"])
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        default=None, description="Effect of the taint. Left out: every effect.", examples=["NoSchedule"]
    )
    toleration_seconds: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="With `NoExecute`: seconds the pod stays. Left out: for good.", examples=[60]
    )

    @model_validator(mode="after")
    def _as_the_api_server(self) -> Self:
        if self.operator == "Exists" and self.value:
            raise ValueError("has a value beside `operator: Exists`; the API server refuses the pod; Remove the value")
        if self.operator == "Equal" and self.key is None:
            raise ValueError("has no key; the API server refuses the pod; Write the key, or `operator: Exists`")
        if self.toleration_seconds is not None and self.effect != "NoExecute":
            raise ValueError(
                "has tolerationSeconds without `effect: NoExecute`; the API server refuses the pod; "
                "Remove tolerationSeconds, or write that effect"
            )
        return self


Selectors: TypeAlias = dict[LabelKey, LabelValue]


class Gpu(Settings):
    """GPUs of one pod."""

    count: Annotated[int, Field(ge=1, le=16)] = Field(description="GPUs of one pod, whole ones.", examples=[1])
    product: Annotated[str, StringConstraints(min_length=1, max_length=63)] | None = Field(
        default=None,
        description="Which GPU, by NVIDIA's product label or by the type of our pools. Left out: whatever the pool "
        "has. Checked against the pool, where all nodes have the same.",
        examples=["NVIDIA-A100-SXM4-40GB"],
    )
    type: Annotated[str, StringConstraints(min_length=1, max_length=63)] | None = Field(
        default=None, description="`gpu`, a whole one; or, as product, which one.", examples=["gpu"]
    )


class Accelerators(Settings):
    """What one pod computes on."""

    gpu: Gpu = Field(description="GPUs of one pod.", examples=[{"count": 1}])


class Resources(Settings):
    """What one pod of a role asks for."""

    cpus: Annotated[float, Field(gt=0, le=1024)] = Field(
        description="CPUs of one pod, requested. Without a limit, because a throttled loader starves the GPU.",
        examples=[8],
    )
    ram_ratio: Annotated[float, Field(gt=0, le=1024)] | None = Field(
        default=None,
        description="Memory as GiB a CPU: with 3 CPUs and 4 it is 12 GiB. It, or memory.",
        examples=[4],
    )
    memory: Annotated[float, Field(gt=0, le=65536)] | None = Field(
        default=None, description="Memory of one pod, GiB; requested, and the limit. It, or ramRatio.", examples=[32]
    )
    shm_size_gb: Annotated[float, Field(ge=0, le=65536)] = Field(
        default=0,
        alias="shmSizeGB",
        description="Shared memory for data loaders, GiB, out of the pod's memory. 0: the container runtime's 64 MiB, "
        "with kuberay as much as the pod has memory. Ray keeps its objects there, 30 % of the memory.",
        examples=[16],
    )
    accelerators: Accelerators | None = Field(
        default=None, description="GPUs; left out, none.", examples=[{"gpu": {"count": 1}}]
    )
    extra_selectors: Selectors = Field(
        default={},
        description="Node labels the pod asks for. Those that name a capacity decide between spot and on-demand.",
        examples=[{"karpenter.sh/capacity-type": "spot"}],
    )
    extra_tolerations: ListOf[ExtraToleration] = Field(
        default=(),
        description="Tolerations beside those every rendered job carries.",
        examples=[[{"key": "dedicated", "operator": "Exists"}]],
    )

    @model_validator(mode="after")
    def _one_memory(self) -> Self:
        if (self.ram_ratio is None) == (self.memory is None):
            raise ValueError(
                f"has {'both ramRatio and memory' if self.memory else 'neither ramRatio nor memory'}; "
                f"{'one of them would be ignored' if self.memory else 'the pod would be the first to be killed'}; "
                "Write one, as in `ramRatio: 4` or `memory: 32`"
            )
        return self

    @property
    def memory_gib(self) -> float:
        """Memory of one pod, GiB."""
        return self.memory if self.memory is not None else self.cpus * (self.ram_ratio or 0)

    @property
    def gpu(self) -> Gpu | None:
        """GPUs of one pod."""
        return self.accelerators.gpu if self.accelerators else None


class Role(Settings):
    """Pods of one kind."""

    count: Annotated[int, Field(ge=1, le=LARGEST_JOB)] = Field(
        default=1, description="How many pods. All of them train, or none does.", examples=[4]
    )
    resources: Resources = Field(description="What each asks for.", examples=[{"cpus": 8, "ramRatio": 4}])
    extra_selectors: Selectors = Field(
        default={}, description="As inside resources.", examples=[{"cloud.google.com/gke-spot": "true"}]
    )
    extra_tolerations: ListOf[ExtraToleration] = Field(
        default=(), description="As inside resources.", examples=[[{"key": "dedicated", "operator": "Exists"}]]
    )
    pool: PoolName | None = Field(
        default=None, description="Ours: the pool of this role; it stays there when the job moves.", examples=["cpu"]
    )


GroupName: TypeAlias = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=40)]


class Group(Role):
    """One of several groups of Ray workers."""

    name: GroupName = Field(
        description="Its name as a DNS label without capitals and underscores.", examples=["gpu-workers"]
    )


def _shape(value: object) -> str:
    return "several" if isinstance(value, list | tuple) else "one"


AnyRole: TypeAlias = Annotated[
    Annotated[Role, Tag("one")] | Annotated[Annotated[ListOf[Group], Field(min_length=1)], Tag("several")],
    Discriminator(_shape),
]


class RestartPolicy(Settings):
    """When the job is given up."""

    backoff_limit: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=5,
        description="Restarts; one failure more ends the job. Without a fallback policy evictions count; with one, "
        "software errors alone. 5, as in the document this file is from.",
        examples=[5],
    )


def _not_blank(command: str | tuple[str, ...]) -> str | tuple[str, ...]:
    if not (command.strip() if isinstance(command, str) else command and command[0].strip()):
        raise ValueError("is empty; the container would run whatever its image does; Write what starts the training")
    return command


class Spec(Settings):
    """What runs, on what, and what becomes of it when a node is taken away."""

    operator: Annotated[str, StringConstraints(min_length=1, max_length=63)] = Field(
        description="`jobset` or `kuberay`: the two that recover from an eviction.",
        examples=[JOBSET],
        json_schema_extra={"enum": list(OPERATORS)},
    )
    image: Annotated[str, StringConstraints(pattern=r"^\S+$", max_length=500)] = Field(
        description="The container image, as nodes pull it; by digest, so that a restart runs the same.",
        examples=["registry.example.org/research/train:1.4"],
    )
    command: Annotated[
        str | ListOf[Annotated[str, StringConstraints(max_length=32768)]], AfterValidator(_not_blank)
    ] = Field(
        description="What every role runs, with kuberay what is submitted: a line for a shell, or a list of words for "
        "none, where Kubernetes fills in `$(NAME)`.",
        examples=["python3 -u train.py"],
    )
    types: Annotated[dict[str, AnyRole], Field(min_length=1, max_length=20)] = Field(
        description="Roles by name: any for jobset; `Head` with `Worker`, or `Workers` as a list, for kuberay.",
        examples=[{"Worker": {"count": 2, "resources": {"cpus": 8, "ramRatio": 4}}}],
    )
    restart_policy: RestartPolicy = Field(
        default=RestartPolicy(), description="When the job is given up.", examples=[{"backoffLimit": 5}]
    )
    fallback_policy: ObjectName | None = Field(
        default=None,
        description="Ours: a fallback policy of the stack, whose tiers the job moves along. It, or pool.",
        examples=["standard"],
    )
    pool: PoolName | None = Field(
        default=None,
        description="Ours: the pool of every role that names none. With neither, on-demand, unless extraSelectors "
        "select spot.",
        examples=["a100-spot"],
    )


class Experiment(Settings):
    """A whole experiment file."""

    kind: Literal["AIchorManifest"] | None = Field(
        default=None, description="As such files say what they are; may be left out.", examples=["AIchorManifest"]
    )
    api_version: Annotated[str, StringConstraints(pattern=r"^0\.2\.[0-9]+$")] | None = Field(
        default=None, description="Version of that format, 0.2.x; may be left out.", examples=["0.2.3"]
    )
    name: Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=47)] | None = Field(
        default=None,
        description="The run's name as a DNS label without capitals and underscores. The same name resumes the "
        "same run, another one starts afresh. Left out: the name of the file.",
        examples=["llama-7b"],
    )
    spec: Spec = Field(
        description="The job.",
        examples=[
            {
                "operator": JOBSET,
                "image": "registry.example.org/research/train:1.4",
                "command": "python3 -u train.py",
                "types": {"Worker": {"count": 2, "resources": {"cpus": 8, "ramRatio": 4}}},
            }
        ],
    )
