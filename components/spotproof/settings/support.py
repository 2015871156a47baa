"""Which Kubernetes versions there are, and until when: data, judged against a date that is given."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem

OLDEST, NEWEST = "1.35", "1.36"
"""1.35: JobSet 0.12 and Karpenter 1.14 are tested on it. 1.36: the newest that Karpenter 1.14.1 supports."""
WARNED_BEFORE = timedelta(days=60)


@dataclass(frozen=True)
class Support:
    """Last days of one version's support; None where the cloud has not published them."""

    standard_ends: date | None
    extended_ends: date | None


EKS: Final[Mapping[str, Support]] = MappingProxyType(
    {
        # EKS user guide, Kubernetes release calendar, as of April 2026; 1.36 was not listed yet
        "1.35": Support(date(2027, 3, 27), date(2028, 3, 27)),
        "1.36": Support(None, None),
    }
)

KEY = "kubernetesVersion"


def problems(env: Environment, today: date) -> Iterator[Problem]:
    """Versions that are too old, too new, or out of extended support on this day."""
    version = env.kubernetes_version
    minor = int(version.partition(".")[2])
    if minor < int(OLDEST.partition(".")[2]):
        yield Problem(
            KEY,
            f"is {version}, which is older than {OLDEST}",
            "jobs could not be moved while suspended, and its support ends or has ended",
            f'Write `{KEY}: "{NEWEST}"`',
        )
    elif minor > int(NEWEST.partition(".")[2]):
        yield Problem(
            KEY,
            f"is {version}, which is newer than {NEWEST}",
            "Karpenter of this release does not support it, and nodes would not join",
            f'Write `{KEY}: "{NEWEST}"`',
        )
    else:
        ends = EKS[version].extended_ends
        if ends is not None and today > ends:
            yield Problem(
                KEY,
                f"is {version}, whose extended support ended on {ends}",
                "the cluster would be upgraded by AWS on its own day, under running training",
                f'Write `{KEY}: "{NEWEST}"`',
            )


def warnings(env: Environment, today: date) -> Iterator[Problem]:
    """From 60 days before the end of standard support: what it will cost or do."""
    ends = EKS[env.kubernetes_version].standard_ends
    if ends is None or today < ends - WARNED_BEFORE:
        return
    what = f"is {env.kubernetes_version}, whose standard support {'ended' if today > ends else 'ends'} on {ends}"
    consequence = (
        "the control plane then costs 0.60 instead of 0.10 USD per hour"
        if env.control_plane.support == "extended"
        else "AWS then upgrades it on its own day, under running training"
    )
    yield Problem(KEY, what, consequence, f'Plan the upgrade: `{KEY}: "{NEWEST}"`')
