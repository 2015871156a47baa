"""One environment, whole: what a stack file holds under `spotproof:environment`."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, TypeAlias, TypeVar, Union

from pydantic import Field, StringConstraints, field_validator

from spotproof.settings.base import ListOf, Namespace, ObjectName, RetainDays, Settings
from spotproof.settings.errors import shown
from spotproof.settings.fallback import FallbackPolicy
from spotproof.settings.operators import Operators
from spotproof.settings.pools import Network, Pool
from spotproof.settings.provider import Provider
from spotproof.settings.providers import PROVIDERS
from spotproof.vocabulary import SPOT

if TYPE_CHECKING:
    AnyProvider: TypeAlias = Provider
else:
    AnyProvider = Annotated[Union[tuple(PROVIDERS.values())], Field(discriminator="cloud")]  # noqa: UP007 - from a table

One = TypeVar("One", bound=Provider)

Principal: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=600)]
"""Somebody, as the cloud names people: an IAM ARN, an e-mail address, an Entra object id. Its form is the cloud's."""


STORE_URI = r"^((s3|gs|abfss?)://[^/\s]+|pvc://[a-z0-9]([a-z0-9-]*[a-z0-9])?)(/[^\s/]+)*$"
BLOB_URI = "abfss://<container>@<account>.dfs.core.windows.net"
OTHER_STORES: Final[Mapping[str, tuple[str, str]]] = {
    "az": (
        "it leaves the account to each library's own variables, and pyarrow, and Ray by it, do not read it",
        BLOB_URI,
    ),
    "https": (
        "no training framework saves there",
        f"{BLOB_URI} on Azure, or s3://<bucket> and the store's address (AWS_ENDPOINT_URL) in checkpoints.secret",
    ),
    "file": (
        "every pod would save to a disk of its own, which goes with its node",
        "pvc://<claim>, a ReadWriteMany claim of that name in every workspace",
    ),
}
"""What people write too: what would happen, and what to write instead."""


class Access(Settings):
    """People. Whoever runs `up` is always an administrator."""

    admins: ListOf[Principal] = Field(
        default=(),
        description="Who administers the cluster besides whoever runs `up`: on AWS ARNs of IAM roles and users (not "
        "the one who runs `up`: EKS makes that entry itself and refuses a second one), on GCP `user:` or `group:` with "
        "an e-mail address, on Azure object ids of Entra groups.",
        examples=[["arn:aws:iam::123456789012:role/Platform"]],
    )


class ControlPlane(Settings):
    """The API server."""

    public_access_cidrs: ListOf[str] = Field(
        default=(),
        description="IPv4 ranges that reach the API server from outside. Left out: only from inside the network, "
        "and `up` must run there; in one made here nobody is, and a warning says so. GKE also answers by name, to "
        "whoever IAM lets in.",
        examples=[["203.0.113.0/24"]],
    )
    deletion_protection: bool = Field(
        default=True,
        description="Refuse to delete the cluster: EKS does it itself, elsewhere Pulumi alone keeps it. On; a stack "
        "that is to go in one command sets false.",
        examples=[True],
    )
    support: Literal["standard", "extended"] = Field(
        default="extended",
        description="On AWS: what happens when standard support of the version ends: `extended` keeps it for a year at "
        "0.60 instead of 0.10 USD per hour; `standard` lets AWS upgrade it on its own day, under running training.",
        examples=["extended"],
    )


class Logs(Settings):
    """Control plane and container logs: a dead attempt's logs outlive its pods."""

    retain_days: RetainDays = Field(
        default=30,
        description="Days logs are kept, where the cloud has them: CloudWatch takes certain numbers only, Log "
        "Analytics 30 to 730, a log bucket of GCP up to 3650.",
        examples=[30],
    )


class Checkpoints(Settings):
    """The store that training resumes from: a bucket (on Azure a container a workspace), or a store that exists."""

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

    uri: Annotated[str, StringConstraints(pattern=STORE_URI, max_length=500)] | None = Field(
        default=None,
        description="Where training saves, on a cluster somebody else made: `s3://`, `gs://` or `abfss://` (`abfs://`) "
        "with a prefix of its own, or `pvc://<claim>[/path]` for a ReadWriteMany claim of that name in every "
        "workspace, which pods see as `file://`.",
        examples=["s3://team-checkpoints/kind-dev"],
    )
    secret: ObjectName | None = Field(
        default=None,
        description="Secret of every workspace there, whose keys pods get as environment variables, as the store's "
        "own library reads them (AWS_ACCESS_KEY_ID). Somebody else writes it.",
        examples=["checkpoint-store"],
    )
    service_account_annotations: dict[
        Annotated[str, StringConstraints(min_length=1, max_length=317)],
        Annotated[str, StringConstraints(max_length=512)],
    ] = Field(
        default={},
        description="Annotations of every workspace's service account there, where an identity is bound by them.",
        examples=[{"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/trainer"}],
    )

    @field_validator("uri", mode="before")
    @classmethod
    def _is_a_store_that_frameworks_know(cls, value: object) -> object:
        scheme = value.partition("://")[0] if isinstance(value, str) and "://" in value else ""
        if scheme in OTHER_STORES:
            consequence, instead = OTHER_STORES[scheme]
            raise ValueError(f"is {shown(value)}; {consequence}; Write {instead}")
        return value


class Workspace(Settings):
    """A namespace that may train, with a service account bound to its own prefix of the bucket."""

    namespace: Namespace = Field(description="The namespace; made here.", examples=["research"])
    service_account: ObjectName = Field(
        default="trainer", description="The service account of its jobs; made here.", examples=["trainer"]
    )
    members: ListOf[Principal] = Field(
        default=(),
        description="Who may work in the namespace; written as `access.admins`. On a cluster somebody else made, "
        "`user:` or `group:` with the name Kubernetes knows them by.",
        examples=[["arn:aws:iam::123456789012:role/Research"]],
    )


class Environment(Settings):
    """A cluster with its pools, operators, checkpoints, workspaces and fallback policies."""

    cloud_examples: ClassVar[Mapping[str, object]] = {}
    """Examples that are others on this cloud, as in `Provider.examples`."""

    provider: AnyProvider = Field(
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
        description="On AWS: EC2 Spot's role, one per account. `existing`: it is there, nothing is made. `adopt`: it "
        "is there and this stack keeps it. `create`: this stack makes it. Never deleted.",
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
        """Zone names of the network, computed from the region where only their number is set; none if nobody knows."""
        zones = self.network.zones
        return self.provider.zone_names(zones) if isinstance(zones, int) else zones

    @property
    def people(self) -> Iterator[tuple[str, str]]:
        """Everybody whom the settings name, each with the key that names them."""
        yield from ((f"access.admins[{i}]", person) for i, person in enumerate(self.access.admins))
        for index, workspace in enumerate(self.workspaces):
            yield from ((f"workspaces[{index}].members[{i}]", person) for i, person in enumerate(workspace.members))

    def zones_of(self, pool: Pool) -> tuple[str, ...]:
        """Zones the pool's nodes may be in; none where nobody knows."""
        return pool.zones or self.zones

    def provided_by(self, model: type[One]) -> One:
        """The provider as the one of its cloud, whose folder this is called from.

        Raises:
            TypeError: the environment is of another cloud.
        """
        if not isinstance(self.provider, model):
            raise TypeError(f"an environment of {self.provider.cloud} is not {model.__name__}'s to build")
        return self.provider


def _no_pool(name: str) -> Pool:
    raise KeyError(name)
