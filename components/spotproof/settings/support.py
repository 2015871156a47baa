"""Which Kubernetes versions there are, and until when: each cloud's data, judged against a date that is given."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from spotproof.settings.errors import Problem

if TYPE_CHECKING:
    from spotproof.settings.environment import Environment

OLDEST, NEWEST = "1.35", "1.36"
"""1.35: JobSet 0.12 and Karpenter 1.14 are tested on it. 1.36: the newest that Karpenter 1.14.1 supports."""
WARNED_BEFORE = timedelta(days=60)


@dataclass(frozen=True)
class Support:
    """Last days of one version's support; None where the cloud has not published them.

    `then` is what the cloud does at the end of standard support, as the consequence of a warning.
    """

    standard_ends: date | None
    extended_ends: date | None
    then: str = "the cloud then upgrades it on its own day, under running training"


KEY = "kubernetesVersion"


def problems(env: "Environment", today: date) -> Iterator[Problem]:
    """Versions that are too old, too new, or out of extended support on this day."""
    version = env.kubernetes_version
    minor = int(version.partition(".")[2])
    if minor < int(OLDEST.partition(".")[2]):
        yield Problem(
            KEY,
            f"is {version}, which is older than {OLDEST}",
            "jobs could not be moved while suspended, and its support ends or has ended",
            f'Write `{KEY}: "{NEWEST}"`' if env.provider.makes_nodes else "Upgrade the cluster, then write its version",
        )
    elif minor > int(NEWEST.partition(".")[2]):
        yield Problem(
            KEY,
            f"is {version}, which is newer than {NEWEST}",
            "what this release installs does not support it, and nodes may not join",
            f'Write `{KEY}: "{NEWEST}"`',
        )
    else:
        ends = _of(env).extended_ends
        if ends is not None and today > ends:
            yield Problem(
                KEY,
                f"is {version}, whose extended support ended on {ends}",
                "the cluster would be upgraded by the cloud on its own day, under running training",
                f'Write `{KEY}: "{NEWEST}"`',
            )


def warnings(env: "Environment", today: date) -> Iterator[Problem]:
    """From 60 days before the end of standard support: what it will cost or do."""
    support = _of(env)
    ends = support.standard_ends
    if ends is None or today < ends - WARNED_BEFORE:
        return
    what = f"is {env.kubernetes_version}, whose standard support {'ended' if today > ends else 'ends'} on {ends}"
    pays = support.extended_ends is not None and env.control_plane.support == "extended"
    consequence = support.then if pays else Support.then
    yield Problem(KEY, what, consequence, f'Plan the upgrade: `{KEY}: "{NEWEST}"`')


def _of(env: "Environment") -> Support:
    return env.provider.versions.get(env.kubernetes_version, Support(None, None))
