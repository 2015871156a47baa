"""What one look into a cluster has come to, and the same as JSON."""

from typing import Any, Final, NamedTuple

from spotproof.fallback.record import Outlook, Past, RunTier
from spotproof.fallback.run import Instant
from spotproof.status.rows import Row, rows
from spotproof.status.story import Story, stories
from spotproof.status.times import stamp
from spotproof.status.without_policy import Unmanaged, without_policy
from spotproof.status.world import World

FORMAT: Final = "spotproof-status/1"


class Report(NamedTuple):
    """Jobs under a policy, jobs on spot without one, and what could not be looked at.

    `stories` are of the one job that was asked for; without one they are empty.
    """

    at: Instant
    where: str
    rows: tuple[Row, ...]
    unmanaged: tuple[Unmanaged, ...]
    stories: tuple[Story, ...]
    notes: tuple[str, ...]


def report(world: World, at: Instant, where: str, job: str = "") -> Report:
    """What is told of a cluster.

    Args:
        world: What was found.
        at: Now.
        where: The namespace, or all of them, as people read it.
        job: Name of the only job that is told of; empty for all.
    """
    found = tuple(each for each in rows(world) if job in {"", each.name})
    others = tuple(each for each in without_policy(world) if job in {"", each.name})
    return Report(at, where, found, others, stories(world, job) if job else (), world.notes)


def document(found: Report) -> dict[str, Any]:
    """The report as JSON: times in RFC 3339, what is not known left out."""
    told = {story.row.place: story for story in found.stories}
    return {
        "format": FORMAT,
        "at": stamp(found.at),
        "where": found.where,
        "jobs": [_row(each) | _story(told.get(each.place)) for each in found.rows],
        "withoutPolicy": [_unmanaged(each) for each in found.unmanaged],
        "notes": list(found.notes),
    }


def _row(row: Row) -> dict[str, Any]:
    return _known(
        {
            "namespace": row.namespace,
            "name": row.name,
            "kind": row.kind,
            "policy": row.policy,
            "phase": row.phase,
            "tier": row.tier,
            "attempt": row.attempt,
            "evictions": row.evictions,
            "errors": row.errors,
            "since": _stamp(row.since),
            "waitsFor": row.waits_for,
            "reason": row.reason,
            "message": row.message,
            "nextDecisionTime": _stamp(row.next_decision),
            "nodesHeld": row.nodes_held,
            "trouble": list(row.trouble),
            "unread": list(row.unread),
        }
    )


def _story(story: Story | None) -> dict[str, Any]:
    if story is None:
        return {}
    return _known(
        {
            "nodes": story.nodes,
            "doing": [{"what": each.what, "since": stamp(each.since), "more": each.more} for each in story.doing],
            "tiers": [_tier(each) for each in story.tiers],
            "history": [_past(each) for each in story.history],
            "deadline": story.deadline and _deadline(story.deadline),
            "conditionsNotAsWanted": [each._asdict() for each in story.troubles],
        }
    )


def _tier(tier: RunTier) -> dict[str, Any]:
    # by hand: a moment that no calendar has, which only a foreign writer leaves, would end model_dump
    return _known(
        {
            "pool": tier.pool,
            "evictions": tier.evictions,
            "errors": tier.errors,
            "there": tier.there,
            "up": _stamp(tier.up),
            "down": _stamp(tier.down),
            "asked": _stamp(tier.asked),
            "askingSince": _stamp(tier.asking_since),
        }
    )


def _past(past: Past) -> dict[str, Any]:
    return _known(
        {
            "at": stamp(past.at),
            "what": past.what,
            "from": past.from_,
            "to": past.to,
            "reason": past.reason,
            "message": past.message,
            "seconds": past.seconds,
        }
    )


def _deadline(deadline: Outlook) -> dict[str, Any]:
    return {
        "at": stamp(deadline.at),
        "workSeconds": deadline.work_seconds,
        "doneSeconds": deadline.done_seconds,
        "spareSeconds": deadline.spare_seconds,
        "progress": deadline.progress,
    }


def _unmanaged(job: Unmanaged) -> dict[str, Any]:
    return _known(
        {
            "namespace": job.namespace,
            "name": job.name,
            "kind": job.kind,
            "selects": job.selects,
            "suspended": job.suspended,
            "podsWaiting": job.pods_waiting,
            "since": _stamp(job.since),
            "waitsFor": job.waits_for,
            "command": job.command,
            "whyNot": job.why_not,
        }
    )


def _stamp(at: Instant | None) -> str | None:
    return None if at is None else stamp(at)


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value not in (None, "", [])}
