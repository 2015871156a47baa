"""People: a role that lets them reach the cluster, and rights inside it by RBAC."""

from collections.abc import Iterable
from typing import Final, TypedDict

import pulumi
import pulumi_gcp as gcp

from spotproof.clouds.gcp.names import Names
from spotproof.clouds.naming import digest, slug
from spotproof.clouds.objects import apply, object_name
from spotproof.clouds.options import child_of
from spotproof.manifests.rbac import Subject, subject
from spotproof.manifests.workspaces import administrators

PERMISSIONS: Final = ("container.clusters.connect", "container.clusters.get")
"""To come through the DNS endpoint, and to ask where it is. Predefined roles with the first have rights in every
cluster of the project beside it."""


class AccessArgs(TypedDict):
    """Who may do what, as IAM members."""

    cluster_name: str
    """Name of the GKE cluster."""
    project: str
    """The project's id."""
    region: str
    """The region."""
    admins: list[str]
    """Administrators of the cluster, as `user:researcher@example.com`."""
    members: list[str]
    """Who works in a namespace; their rights there are bound with the workspace."""


class Access(pulumi.ComponentResource):
    """A project role with two permissions for everybody, and cluster-admin inside the cluster for administrators.

    No role of IAM's grants anything inside the cluster here: those hold in every cluster of the project.
    """

    def __init__(self, name: str, args: AccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:gcp:Access", name, {"admins": args["admins"], "members": args["members"]}, opts)
        names = Names(args["cluster_name"], args["project"], args["region"])
        people = sorted({*args["admins"], *args["members"]})
        if people:
            role = gcp.projects.IAMCustomRole(
                f"{name}-role",
                project=names.project,
                role_id=names.people_role,
                title=f"Reach {names.cluster}",
                permissions=list(PERMISSIONS),
                opts=pulumi.ResourceOptions(parent=self),
            )
            for person in people:
                gcp.projects.IAMMember(
                    f"{name}-{slug(person.partition(':')[2].partition('@')[0])}-{digest(person)}",
                    project=names.project,
                    role=names.people_role_name,
                    member=person,
                    opts=pulumi.ResourceOptions(parent=self, depends_on=[role]),
                )
        for manifest in administrators(subjects(args["admins"])):
            apply(object_name(name, manifest), manifest, child_of(self, opts))
        self.register_outputs({})


def subjects(people: Iterable[str]) -> list[Subject]:
    """IAM members as RBAC names them: groups as groups, accounts of people and of services as users."""
    return [
        subject("Group" if kind == "group" else "User", name) for kind, _, name in (p.partition(":") for p in people)
    ]
