"""Every name and ARN of an environment, computed from what the settings say, within every limit of AWS.

Nothing here asks AWS: IAM documents are plain text at the first preview, and policies can judge them.
"""

from dataclasses import dataclass
from typing import Final

from spotproof.clouds.naming import HASH, digest, shortened, slug
from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.settings import Environment
from spotproof.settings.aws.model import Aws, partition

CLUSTER_LIMIT: Final = 63
"""EKS takes 100; 63 lets the name be a Kubernetes label value too."""
ROLE_LIMIT: Final = 64
POLICY_LIMIT: Final = 128
RULE_LIMIT: Final = 64
QUEUE_LIMIT: Final = 80
BUCKET_LIMIT: Final = 63
NODE_GROUP_LIMIT: Final = 63


def cluster_name(stack: str) -> str:
    """The EKS cluster of a stack: `spotproof-<stack>`."""
    return shortened(f"spotproof-{slug(stack)}", CLUSTER_LIMIT)


@dataclass(frozen=True)
class Names:
    """Names of one cluster in one account and region."""

    cluster: str
    account_id: str
    region: str

    @property
    def partition(self) -> str:
        """`aws`, `aws-cn` or `aws-us-gov`."""
        return partition(self.region)

    @property
    def ec2_principal(self) -> str:
        """EC2 as a service principal; China has its own domain for it."""
        return "ec2.amazonaws.com.cn" if self.partition == "aws-cn" else "ec2.amazonaws.com"

    def arn(self, service: str, resource: str) -> str:
        """An ARN in this account and region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account_id}:{resource}"

    @property
    def cluster_arn(self) -> str:
        """The EKS cluster."""
        return self.arn("eks", f"cluster/{self.cluster}")

    def role(self, word: str) -> str:
        """A role. IAM has no regions, so the region is in the name: one stack name may exist in two regions."""
        return shortened(f"{self.cluster}-{self.region}-{word}", ROLE_LIMIT)

    def role_arn(self, word: str) -> str:
        """The ARN of `role(word)`."""
        return self.iam_arn(f"role/{self.role(word)}")

    def iam_arn(self, resource: str) -> str:
        """An ARN of IAM, which has no region."""
        return f"arn:{self.partition}:iam::{self.account_id}:{resource}"

    def policy(self, word: str) -> str:
        """A managed policy of ours."""
        return shortened(f"{self.cluster}-{self.region}-{word}", POLICY_LIMIT)

    def managed_policy_arn(self, name: str) -> str:
        """A policy that AWS keeps, by its path and name."""
        return f"arn:{self.partition}:iam::aws:policy/{name}"

    def access_policy_arn(self, name: str) -> str:
        """A policy of EKS for people, as AmazonEKSClusterAdminPolicy."""
        return f"arn:{self.partition}:eks::aws:cluster-access-policy/{name}"

    @property
    def queue(self) -> str:
        """The interruption queue; one a cluster, because two controllers would eat each other's messages."""
        return shortened(self.cluster, QUEUE_LIMIT)

    @property
    def queue_arn(self) -> str:
        """The ARN of the interruption queue."""
        return self.arn("sqs", self.queue)

    def rule(self, word: str) -> str:
        """An EventBridge rule."""
        return shortened(f"{self.cluster}-{word}", RULE_LIMIT)

    def node_group(self, word: str, fingerprint: str) -> str:
        """A managed node group.

        What cannot change in place is in the fingerprint: the new group then has another name, and can be made before
        the old one goes.
        """
        return f"{shortened(f'{self.cluster}-{word}', NODE_GROUP_LIMIT - HASH - 1)}-{digest(fingerprint)}"

    @property
    def bucket(self) -> str:
        """The checkpoint bucket. Bucket names are global, so account and region are always in it, whole."""
        suffix = f"-{self.account_id}-{self.region}"
        return shortened(f"{self.cluster}-ckpt", BUCKET_LIMIT - len(suffix)) + suffix

    @property
    def key_alias(self) -> str:
        """The alias of the key that encrypts the cluster's secrets."""
        return f"alias/{self.cluster}"

    @property
    def control_plane_logs(self) -> str:
        """The log group of the control plane; EKS writes nowhere else."""
        return f"/aws/eks/{self.cluster}/cluster"

    def container_logs(self, kind: str) -> str:
        """A log group of the CloudWatch add-on, which writes nowhere else."""
        return f"/aws/containerinsights/{self.cluster}/{kind}"


def checkpoint_store(stack: str, environment: Environment) -> CheckpointStore:
    """Where training of a stack saves, from its settings alone."""
    aws = environment.provided_by(Aws)
    return CheckpointStore(f"s3://{Names(cluster_name(stack), aws.account_id, aws.region).bucket}")


def bucket_arn(bucket: str, region: str) -> str:
    """The ARN of a bucket; S3's ARNs have neither region nor account."""
    return f"arn:{partition(region)}:s3:::{bucket}"
