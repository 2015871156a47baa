"""What happened to nodes: bought, refused, reclaimed, lost."""

from collections.abc import Iterator
from typing import Final

from spotproof.rehearsal.history import History, Life, Node, condition, is_leaving, is_true, labels
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.story.moment import Moment, count, grouped, listed, names, times
from spotproof.vocabulary import CAPACITY_LABEL, KARPENTER_CAPACITY_LABEL, POOL_LABEL, TYPE_LABEL, ZONE_LABEL

NODE_POOL_LABEL: Final = "karpenter.sh/nodepool"
OWN_CHOICE: Final = "DisruptionReason"
"""Karpenter's condition on a claim that it ends by itself: empty, drifted, underutilized. An interruption has none."""
RETRY_SECONDS: Final = 30.0
"""Karpenter tries a refused claim again after 10 s; what goes on so is one refusal."""


def bought(history: History) -> Iterator[Moment]:
    """Karpenter gets nodes."""
    launched = [life for life in history.of("NodeClaim") if life.born is not None and is_launched(life)]
    for group in grouped(launched, _born, _pool):
        places = _listed_once(_what(claim) for claim in group)
        ready = [at for claim in group if (at := claim.when(_ready)) is not None]
        yield Moment(
            at=_born(group[0]),
            until=max(ready) if len(ready) == len(group) else None,
            kind="bought",
            text=f"Karpenter buys {count(len(group), 'node')} of pool {_pool(group[0])} ({places})",
            objects=names(group),
        )


def refused(history: History) -> Iterator[Moment]:
    """Karpenter asks for nodes and there are none."""
    found = [life for life in history.of("NodeClaim") if life.born is not None and _was_refused(life)]
    for group in grouped(found, _born, _pool, RETRY_SECONDS):
        words = [text for claim in group for text in _said_of(history, claim)]
        yield Moment(
            at=_born(group[0]),
            until=_born(group[-1]) if len(group) > 1 else None,
            kind="refused",
            text=f"Karpenter asks for {_capacity(group[0])} nodes of pool {_pool(group[0])} and is refused, "
            f"{times(len(group))} so far: no capacity",
            quote=words[-1] if words else "",
            objects=names(group),
        )


def reclaimed(history: History) -> Iterator[Moment]:
    """A node with a claim is taken away: by the cloud, by a person, or by Karpenter itself."""
    # a mark is set before the deletion is sent, so that it stands before all that follows from it: watches of two kinds
    # may deliver in another order
    done = {mark.to: mark.at for mark in history.recording.marks}
    for node in history.nodes.values():
        claim = node.claim
        at = claim.when(is_leaving) if claim else None
        if claim is None or at is None:
            continue
        at = min(at, done.get(f"NodeClaim/{claim.name}", at))
        reason = condition(claim.last, OWN_CHOICE)
        text = f"node {node.said} is reclaimed"
        if reason.get("status") == "True":
            text = f"Karpenter takes node {node.said} back by itself: {reason.get('reason', 'no reason given')}"
        yield Moment(at=at, until=node.life.gone, kind="reclaimed", text=text, objects=(node.short,))


def drained(history: History) -> Iterator[Moment]:
    """A node without a claim is closed to new pods, and emptied as a rule."""
    for node in _static(history):
        for at, _, closed in node.life.changes(lambda thing: bool(thing.get("spec", {}).get("unschedulable"))):
            text = f"node {node.said} is closed to new pods" if closed else f"node {node.said} takes pods again"
            yield Moment(at=at, kind="drained", text=text, objects=(node.short,))


def vanished(history: History) -> Iterator[Moment]:
    """A node without a claim is deleted; its pods only notice when the pod collector does."""
    for node in _static(history):
        if node.life.gone is not None:
            text = f"node {node.said} is deleted"
            yield Moment(at=node.life.gone, kind="vanished", text=text, objects=(node.short,))


def silent(history: History) -> Iterator[Moment]:
    """A node stops answering, or answers again."""
    for node in history.nodes.values():
        for at, before, after in node.life.changes(lambda thing: condition(thing, "Ready").get("status")):
            if before == "True" and not is_leaving(node.life.at(at) or {}):
                text = f"node {node.said} is not ready any more"
                yield Moment(at=at, kind="silent", text=text, objects=(node.short,))
            elif after == "True" and node.life.when(_ready) != at:
                yield Moment(at=at, kind="silent", text=f"node {node.said} is ready again", objects=(node.short,))


def is_launched(claim: Life) -> bool:
    """Whether there ever was a machine for a claim."""
    return claim.when(lambda thing: is_true(thing, "Launched")) is not None


def _was_refused(claim: Life) -> bool:
    return not is_launched(claim) and (claim.gone is not None or claim.when(is_leaving) is not None)


def _static(history: History) -> list[Node]:
    return [node for node in history.nodes.values() if node.claim is None]


def _said_of(history: History, claim: Life) -> Iterator[str]:
    for event in history.of("Event"):
        about = event.last.get("involvedObject") or {}
        if about.get("kind") == "NodeClaim" and about.get("name") == claim.name and "apacity" in _reason(event):
            yield str(event.last.get("message", ""))


def _reason(event: Life) -> str:
    return str(event.last.get("reason", ""))


def _born(claim: Life) -> float:
    return claim.versions[0].at


def _ready(thing: Json) -> bool:
    return is_true(thing, "Ready")


def _pool(claim: Life) -> str:
    found = labels(claim.last)
    return found.get(POOL_LABEL) or found.get(NODE_POOL_LABEL, "")


def _capacity(claim: Life) -> str:
    found = labels(claim.last)
    return found.get(CAPACITY_LABEL) or found.get(KARPENTER_CAPACITY_LABEL, "new")


def _what(claim: Life) -> str:
    found = labels(claim.last)
    # a machine with another number of GPUs attached is one of its own for the local Karpenter (pools.py)
    machine = found.get(TYPE_LABEL, "").removesuffix(f".{_pool(claim)}")
    known = (_capacity(claim), found.get(ZONE_LABEL), machine)
    return ", ".join(each for each in known if each)


def _listed_once(words: Iterator[str]) -> str:
    return listed(list(dict.fromkeys(words)))
