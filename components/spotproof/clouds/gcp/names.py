"""Every name and identity of an environment, computed from what the settings say, within every limit of GCP.

Nothing here asks GCP: members and roles are plain text at the first preview, and policies can judge them.
"""

from dataclasses import dataclass
from typing import Final

from spotproof.clouds.naming import digest, shortened, slug
from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.settings import Environment
from spotproof.settings.gcp import Gcp

CLUSTER_LIMIT: Final = 40
"""Of a cluster and of a node pool (Kubernetes Engine API)."""
COMPUTE_LIMIT: Final = 63
"""Of networks, subnets and routers, and of a bucket without dots."""
ACCOUNT_LIMIT: Final = 30
ROLE_LIMIT: Final = 64
LOGGING_LIMIT: Final = 100


def cluster_name(stack: str) -> str:
    """The GKE cluster of a stack: `spotproof-<stack>`."""
    return shortened(f"spotproof-{slug(stack)}", CLUSTER_LIMIT)


@dataclass(frozen=True)
class Names:
    """Names of one cluster in one project and region. Buckets and identities of pods need the project's number too."""

    cluster: str
    project: str
    region: str
    project_number: str = ""

    @property
    def _placed(self) -> str:
        """The cluster's name where a name is the whole project's: one stack name may exist in two regions."""
        return f"{self.cluster}-{self.region}"

    @property
    def cluster_id(self) -> str:
        """The cluster as Google's APIs name it."""
        return f"projects/{self.project}/locations/{self.region}/clusters/{self.cluster}"

    @property
    def context(self) -> str:
        """The context of its kubeconfig, as gcloud writes it."""
        return f"gke_{self.project}_{self.region}_{self.cluster}"

    @property
    def network(self) -> str:
        """The VPC."""
        return shortened(self._placed, COMPUTE_LIMIT)

    def part(self, word: str) -> str:
        """A subnet, router or other part of the network."""
        return shortened(f"{self.cluster}-{word}", COMPUTE_LIMIT)

    @property
    def node_account(self) -> str:
        """Id of the nodes' service account. The whole name hardly ever fits, so its hash is part of it."""
        return shortened(f"{self._placed}-nodes", ACCOUNT_LIMIT)

    @property
    def node_account_email(self) -> str:
        """The nodes' service account as IAM names it."""
        return f"{self.node_account}@{self.project}.iam.gserviceaccount.com"

    @property
    def people_role(self) -> str:
        """Id of the role that lets people reach the cluster; role ids have no hyphens."""
        return shortened(f"{self._placed}-people", ROLE_LIMIT).replace("-", "_")

    @property
    def people_role_name(self) -> str:
        """That role as a binding names it."""
        return f"projects/{self.project}/roles/{self.people_role}"

    @property
    def logs(self) -> str:
        """The log bucket, its sink, and the exclusion that keeps its lines out of the project's own bucket."""
        return shortened(self._placed, LOGGING_LIMIT)

    @property
    def log_bucket(self) -> str:
        """The log bucket, whole."""
        return f"projects/{self.project}/locations/{self.region}/buckets/{self.logs}"

    @property
    def bucket(self) -> str:
        """The checkpoint bucket. Bucket names are global, so project number and region are always in it, whole.

        Cloud Storage refuses names with `google` in them, whoever asks.
        """
        suffix = f"-{self.project_number}-{self.region}"
        name = shortened(f"{self.cluster}-ckpt", COMPUTE_LIMIT - len(suffix))
        return (f"spotproof-{digest(name)}-ckpt" if "goog" in name else name) + suffix

    @property
    def workload_pool(self) -> str:
        """The pool of Kubernetes identities: one a project, there from its first cluster on."""
        return f"{self.project}.svc.id.goog"

    def service_account(self, namespace: str, name: str) -> str:
        """A Kubernetes service account as a member of IAM bindings.

        All clusters of a project share the pool: the same namespace and name in another one is the same member.
        """
        pool = f"projects/{self.project_number}/locations/global/workloadIdentityPools/{self.workload_pool}"
        return f"principal://iam.googleapis.com/{pool}/subject/ns/{namespace}/sa/{name}"


def names_of(stack: str, gcp: Gcp) -> Names:
    """The names of a stack."""
    return Names(cluster_name(stack), gcp.project, gcp.region, gcp.project_number)


def checkpoint_store(stack: str, environment: Environment) -> CheckpointStore:
    """Where training of a stack saves, from its settings alone."""
    return CheckpointStore(f"gs://{names_of(stack, environment.provided_by(Gcp)).bucket}")
