"""Helm releases as every chart here gets them: pinned, atomic, from a mirror where the settings name one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

TIMEOUT_SECONDS: Final = 900
"""Three times Helm's own: the first pods wait for images, webhooks' certificates and, once, for the nodes."""


@dataclass(frozen=True)
class Chart:
    """A published chart: `path` below `host`, over OCI or from a classic HTTP repository."""

    host: str
    path: str
    version: str
    oci: bool

    @property
    def name(self) -> str:
        """The chart's bare name."""
        return self.path.rpartition("/")[2]

    def source(self, mirror: str | None) -> dict[str, Any]:
        """The arguments by which a release finds the chart; a mirror keeps every chart over OCI."""
        if mirror or self.oci:
            # repository_opts beside an oci:// chart makes Helm look for an index.yaml that is not there.
            return {"chart": f"oci://{mirrored(f'{self.host}/{self.path}', mirror)}"}
        repository = f"https://{self.host}/{self.path.rpartition('/')[0]}".rstrip("/")
        return {"chart": self.name, "repository_opts": {"repo": repository}}


def mirrored(image: str, mirror: str | None) -> str:
    """An image or chart, `host/path`, as the mirror has it: `<mirror>/<original host>/<path>`."""
    return f"{mirror}/{image}" if mirror else image


def release(  # noqa: PLR0913 - what a release is, each by keyword
    name: str,
    chart: Chart,
    *,
    namespace: str,
    values: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
    mirror: str | None = None,
    version: str | None = None,
    skip_crds: bool = False,
) -> k8s.helm.v3.Release:
    """Install a chart and wait until its workloads run; a failed first installation is taken back.

    Args:
        name: Name of the resource. The release itself is called like the chart, so that its objects have the names
            their documentation uses.
        chart: Which chart.
        namespace: Where; made when it is missing.
        values: Its values.
        opts: Provider, parent, order.
        mirror: Registry to take the chart from instead of its own.
        version: Another version than the pinned one.
        skip_crds: Leave the chart's CRDs out, because something else keeps them.
    """
    return k8s.helm.v3.Release(
        name,
        name=chart.name,
        version=version or chart.version,
        namespace=namespace,
        create_namespace=namespace != "kube-system",
        values=values,
        skip_crds=skip_crds,
        atomic=True,
        cleanup_on_fail=True,
        timeout=TIMEOUT_SECONDS,
        **chart.source(mirror),
        opts=opts,
    )
