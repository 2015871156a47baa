"""One environment, whole: what a stack file holds under `spotproof:environment`."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, StringConstraints

from spotproof.settings.aws import Aws
from spotproof.settings.base import ListOf, Namespace, ObjectName, RetainDays, Settings
from spotproof.settings.fallback import FallbackPolicy
from spotproof.settings.operators import Operators
from spotproof.settings.pools import Network, Pool
from spotproof.vocabulary import SPOT

Provider: TypeAlias = Aws
"""A discriminated union on `cloud` once there are more; the names of the others are reserved in provider.py."""

Arn: TypeAlias = Annotated[
    str,
    StringConstraints(
        pattern=r"^arn:aws(-cn|-us-gov)?:iam::[0-9]{12}:(role|user)/[A-Za-z0-9_+=,.@/-]+$", max_length=600
    ),
]


class Access(Settings):
    """People. Whoever runs `up` is always an administrator."""

    admins: ListOf[Arn] = Field(
        default=(),
        description="IAM roles and users who administer the cluster, besides whoever runs `up`: that one must not be "
        "listed, its entry is made by EKS itself and a second one is refused (ResourceInUseException).",
        examples=[["arn:aws:iam::123456789012:role/Platform"]],
    )


class ControlPlane(Settings):
    """The API server."""

    public_access_cidrs: ListOf[str] = Field(
        default=(),
        description="IPv4 ranges that reach the API server from outside. Left out: only from inside the VPC, "
        "and `up` must run there; with a VPC made here nobody is, and a warning says so.",
        examples=[["203.0.113.0/24"]],
    )
    deletion_protection: bool = Field(
        default=True,
        description="Refuse to delete the cluster. On; a stack that is to go in one command sets false.",
        examples=[True],
    )
    support: Literal["standard", "extended"] = Field(
        default="extended",
        description="What happens when standard support of the version ends: `extended` keeps it for a year at 0.60 "
        "instead of 0.10 USD per hour; `standard` lets AWS upgrade it on its own day, under running training.",
        examples=["extended"],
    )


class Logs(Settings):
    """Control plane and container logs: a dead attempt's logs outlive its pods."""

    retain_days: RetainDays = Field(
        default=30, description="Days in CloudWatch; one of the values CloudWatch takes.", examples=[30]
    )


class Checkpoints(Settings):
    """The bucket that training resumes from."""

    retain_days: RetainDays = Field(
        default=30,
        description="Days an overwritten or deleted checkpoint can still be brought back; after that it costs "
        "nothing more.",
        examples=[30],
    )
    versioning: bool = Field(
        default=True,
        description="Keep what is overwritten or deleted for retainDays. Off, a job's bug can take its only "
        "checkpoint along.",
        examples=[True],
    )
    protect: bool = Field(
        default=True,
        description="Refuse to delete the bucket. On; a stack that is to go in one command sets false, and its "
        "checkpoints go with it.",
        examples=[True],
    )


class Workspace(Settings):
    """A namespace that may train, with a service account bound to its own prefix of the bucket."""

    namespace: Namespace = Field(description="The namespace; made here.", examples=["research"])
    service_account: ObjectName = Field(
        default="trainer", description="The service account of its jobs; made here.", examples=["trainer"]
    )
    members: ListOf[Arn] = Field(
        default=(),
        description="IAM roles and users who may work in the namespace.",
        examples=[["arn:aws:iam::123456789012:role/Research"]],
    )


class Environment(Settings):
    """A cluster with its pools, operators, checkpoints, workspaces and fallback policies."""

    provider: Provider = Field(
        description="The cloud, where in it, and whose account.",
        examples=[{"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}],
    )
    spot: bool = Field(
        default=False,
        description="The one flag: the default pools are spot, each with an on-demand counterpart and a "
        "fallback policy between them.",
        examples=[True],
    )
    kubernetes_version: Annotated[str, StringConstraints(pattern=r"^1\.[0-9]{2}$")] = Field(
        default="1.36",
        description="Minor version, in quotes. 1.35 or newer; 1.36, because admission policies that give pods their "
        "spot tolerations are stable from it.",
        examples=["1.36"],
    )
    access: Access = Field(default=Access(), description="People.", examples=[{"admins": []}])
    network: Network = Field(default=Network(), description="The VPC.", examples=[{"cidr": "10.40.0.0/16"}])
    control_plane: ControlPlane = Field(
        default=ControlPlane(), description="The API server.", examples=[{"deletionProtection": True}]
    )
    logs: Logs = Field(default=Logs(), description="Logs and how long they stay.", examples=[{"retainDays": 30}])
    pools: Annotated[ListOf[Pool], Field(min_length=1, max_length=50)] = Field(
        description="Node pools. Left out: a cpu and a gpu pool, described below.",
        examples=[[{"name": "cpu", "capacity": "on-demand", "instanceTypes": ["m7i.2xlarge"], "maxNodes": 8}]],
    )
    checkpoints: Checkpoints = Field(
        default=Checkpoints(), description="The checkpoint bucket.", examples=[{"retainDays": 30}]
    )
    workspaces: ListOf[Workspace] = Field(
        default=(), description="Namespaces that may train.", examples=[[{"namespace": "research"}]]
    )
    spot_service_linked_role: Literal["existing", "adopt", "create"] = Field(
        default="existing",
        description="EC2 Spot's role, one per account. `existing`: it is there, nothing is made. `adopt`: it is "
        "there "
        "and this stack keeps it. `create`: this stack makes it. Never deleted.",
        examples=["existing"],
    )
    fallback_policies: ListOf[FallbackPolicy] = Field(
        default=(),
        description="Fallback rules jobs can name. Left out with `spot: true`: `standard` and `standard-cpu`.",
        examples=[[{"name": "standard", "tiers": [{"pool": "a100-spot"}, {"pool": "a100"}]}]],
    )
    operators: Operators = Field(
        default=Operators(), description="What is installed on the cluster.", examples=[{"jobset": {"mode": "install"}}]
    )
    prices: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = Field(
        default=None,
        description="A prices file, beside the stack file. Left out: the dated table of this release.",
        examples=["prices.yaml"],
    )
    image_registry: (
        Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+(:[0-9]{1,5})?(/[a-z0-9._-]+)*$", max_length=200)] | None
    ) = Field(
        default=None,
        description="A mirror for every chart and image, as `<mirror>/<original host>/<path>`. Left out: the "
        "originals.",
        examples=["mirror.example.org"],
    )
    tags: dict[
        Annotated[str, StringConstraints(min_length=1, max_length=128)],
        Annotated[str, StringConstraints(max_length=256)],
    ] = Field(
        default={}, description="Tags on every resource of the cloud that takes them.", examples=[{"team": "research"}]
    )

    def pool(self, name: str) -> Pool:
        """The pool of this name.

        Raises:
            KeyError: there is none; a validated environment never names one that is not there.
        """
        return next((pool for pool in self.pools if pool.name == name), None) or _no_pool(name)

    @property
    def spot_pools(self) -> tuple[Pool, ...]:
        """The pools whose nodes can be reclaimed."""
        return tuple(pool for pool in self.pools if pool.capacity == SPOT)

    @property
    def zones(self) -> tuple[str, ...]:
        """Zone names of the network, computed from the region where only their number is set."""
        zones = self.network.zones
        return self.provider.zone_names(zones) if isinstance(zones, int) else zones


def _no_pool(name: str) -> Pool:
    raise KeyError(name)
