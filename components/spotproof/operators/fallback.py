"""The fallback controller: its kind, its Deployment, and what the API server refuses so that jobs can be moved."""

from typing import Any, Final

import pulumi

from spotproof.clouds.contract import Cluster
from spotproof.clouds.helm import mirrored
from spotproof.clouds.objects import apply, object_name
from spotproof.clouds.options import after, child_of
from spotproof.manifests import training_run
from spotproof.manifests.claim_admission import claim_admission
from spotproof.manifests.controller import controller
from spotproof.manifests.controller_rights import NAME
from spotproof.manifests.job_admission import job_admission
from spotproof.manifests.progress_admission import progress_admission
from spotproof.operators.common import options, placed
from spotproof.settings import Environment
from spotproof.vocabulary import PROBE_IMAGE

TYPE: Final = "spotproof:kubernetes:FallbackController"


class FallbackController(pulumi.ComponentResource):
    """The TrainingRun kind, the admission policies of jobs, of their progress and of nodes, and the controller itself.

    The FallbackPolicy kind and the policies are the cluster's own (`clouds.rendered.FallbackPolicies`): they are there
    without a controller too. Its rights in a workspace are among the workspace's objects.
    """

    def __init__(  # noqa: PLR0913 - a component, and one default
        self,
        name: str,
        environment: Environment,
        image: str,
        placing: dict[str, Any],
        opts: pulumi.ResourceOptions | None = None,
        *,
        probe_image: str = PROBE_IMAGE,
    ) -> None:
        super().__init__(TYPE, name, {"image": image}, opts)
        child = child_of(self, opts)
        kinds = [training_run.crd(), *progress_admission(), *claim_admission(), *job_admission(environment)]
        made = [apply(object_name(name, manifest), manifest, child) for manifest in kinds]
        home, *parts = controller(image, placing, probe_image)
        inside = after(child, apply(object_name(name, home), home, child))
        *rest, process = parts
        made += [apply(object_name(name, manifest), manifest, inside) for manifest in rest]
        # The last, so that it starts with its rights and its kind; on destroy the first, while both are still there.
        apply(object_name(name, process), process, after(inside, *made))
        self.register_outputs({})


def install(name: str, environment: Environment, cluster: Cluster) -> pulumi.Resource | None:
    """Install the controller from the image of the settings, which its checks have made sure is there."""
    image = environment.operators.fallback.image
    if image is None:
        return None
    return FallbackController(
        f"{name}-controller",
        environment,
        mirrored(image, environment.image_registry),
        placed(NAME, cluster.system_scheduling),
        options(cluster),
        probe_image=mirrored(PROBE_IMAGE, environment.image_registry),
    )
