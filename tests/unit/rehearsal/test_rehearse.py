"""The order of a rehearsal, on a cluster that is told in a script: what is applied, taken, waited for, and given up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from spotproof.kube.client import Refused
from spotproof.rehearsal.market import Market
from spotproof.rehearsal.marks import OPENS, STEP
from spotproof.rehearsal.recording import Mark, Recording
from spotproof.rehearsal.rehearse import (
    FALL_SECONDS,
    FEWEST_RECLAIMS,
    RETURN_SECONDS,
    START_SECONDS,
    Options,
    Play,
    Stage,
    Stopped,
    Time,
    View,
)
from tests.unit.rehearsal.tale import EVICTED, NO_NODE, RUNS, Tale, claim, jobset, node, pod
from tests.unit.rehearsal.test_scene import made


@dataclass
class Cluster:
    """A JobSet of two pods on spot nodes; a deleted claim loses its node, and its pod comes back where nodes are."""

    market: Market
    tale: Tale = field(default_factory=Tale)
    now: float = 1.0
    nodes: int = 0
    pods: int = 0
    applied: list[str] = field(default_factory=list[str])
    taken: list[str] = field(default_factory=list[str])
    marks: list[Mark] = field(default_factory=list[Mark])
    later: list[tuple[float, Callable[[], None]]] = field(default_factory=list[tuple[float, Callable[[], None]]])
    runs: bool = True
    comes_back: bool = True
    is_managed: bool = False
    is_moved: bool = True
    places: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])

    @property
    def kube(self) -> "Cluster":
        return self

    def check(self) -> None:
        """Every part runs."""

    def apply(self, thing: Any) -> None:
        self.applied.append(thing["kind"])
        if thing["kind"] == "JobSet":
            self._named(jobset())
            if self.runs:
                self.later += [(self.now + 3, lambda: self._place(0)), (self.now + 3, lambda: self._place(1))]

    def delete(self, api_version: str, kind: str, name: str) -> None:
        assert (api_version, kind) == ("karpenter.sh/v1", "NodeClaim")
        self.taken.append(name)
        rank, pod_name = self.places.pop(name, (-1, ""))
        on = name.replace("claim", "node")
        self.tale.put(self.now, claim(name, node=on, leaving=True, Launched="True"))
        if pod_name:
            self._named(pod(pod_name, rank=rank, node=on, phase="Running", **EVICTED))
            if self.is_closed and self.is_managed and self.is_moved:
                self.later.append((self.now + 20, lambda: self._place(rank, "t4", "on-demand")))
            elif self.is_closed:
                waiting = f"pod-{self.pods}"
                self.later.append((self.now + 2, lambda: self._named(pod(waiting, rank=rank, **NO_NODE))))
            elif self.comes_back:
                self.later.append((self.now + 4, lambda: self._place(rank)))
        self.later.append((self.now + 3, lambda: self._gone(on)))

    @property
    def is_closed(self) -> bool:
        return "spot" in self.market.path.read_text()

    def _return(self) -> None:
        """Every pod goes, and comes back on spot."""
        for name, (rank, pod_name) in list(self.places.items()):
            on = name.replace("claim", "node")
            del self.places[name]
            self._named(pod(pod_name, rank=rank, node=on, phase="Failed"))
            self.later.append((self.now + 4, lambda rank=rank: self._place(rank)))

    def _place(self, rank: int, pool: str = "spot-a", capacity: str = "spot") -> None:
        number, self.nodes = self.nodes, self.nodes + 1
        name, self.pods = f"pod-{self.pods}", self.pods + 1
        self.places[f"claim-{number}"] = (rank, name)
        self.tale.put(self.now, node(f"node-{number}", pool, capacity=capacity))
        self.tale.put(self.now, claim(f"claim-{number}", node=f"node-{number}", Launched="True", Ready="True"))
        self._named(pod(name, rank=rank, node=f"node-{number}", **RUNS))

    def _gone(self, name: str) -> None:
        self.tale.gone(self.now, node(name))

    def _named(self, thing: Any) -> None:
        """With the name that the rehearsal's job has, which the pods carry as a label."""
        text = {"train": "rehearsal"}
        meta = thing["metadata"]
        meta["name"] = text.get(meta["name"], meta["name"])
        if "labels" in meta:
            meta["labels"] = {key: text.get(value, value) for key, value in meta["labels"].items()}
        self.tale.put(self.now, thing)

    def raw(self) -> Recording:
        return Recording(self.tale.ends(self.now).versions, tuple(self.marks), self.now)

    def mark(self, did: str, to: str = "") -> None:
        self.marks.append(Mark(self.now, did, to))
        if did == OPENS and self.is_managed:
            self.later.append((self.now + 8, self._return))

    def pause(self, seconds: float) -> None:
        self.now += seconds
        due = sorted((each for each in self.later if each[0] <= self.now), key=lambda each: each[0])
        self.later = [each for each in self.later if each[0] > self.now]
        for _, happens in due:
            happens()


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(Market(tmp_path / "market.json"))


def play(cluster: Cluster, options: Options, audience: Callable[[View], None] = lambda _: None) -> None:
    passing = Time(lambda: cluster.now, cluster.pause)
    scene = made("aws-dev", controller=cluster.is_managed)
    Play(Stage(scene, cluster, cluster), audience, passing).play(options)


def did(cluster: Cluster) -> list[str]:
    return [mark.did for mark in cluster.marks if mark.did != STEP]


def test_pools_and_kinds_come_first_then_policies_and_workspaces_and_the_job_last(cluster: Cluster) -> None:
    play(cluster, Options())
    order = list(dict.fromkeys(cluster.applied))

    assert order[:3] == ["KWOKNodeClass", "NodePool", "CustomResourceDefinition"]
    assert order.index("CustomResourceDefinition") < order.index("FallbackPolicy")
    assert order[-1] == "JobSet"


def test_one_node_is_taken_and_replaced_and_the_last_ones_go_in_a_dry_market(cluster: Cluster) -> None:
    play(cluster, Options())

    assert did(cluster) == ["submit", "reclaim", "close the spot market", "reclaim", "reclaim"]
    assert cluster.taken == ["claim-0", "claim-1", "claim-2"]
    assert FEWEST_RECLAIMS == 2


def test_as_many_as_asked_for_are_taken_before_the_end(cluster: Cluster) -> None:
    play(cluster, Options(reclaims=3))

    assert did(cluster) == ["submit", "reclaim", "reclaim", "close the spot market", "reclaim", "reclaim"]


def test_a_market_that_stays_open_is_never_closed_and_the_job_runs_at_the_end(cluster: Cluster) -> None:
    play(cluster, Options(reclaims=2, dry=False))

    assert did(cluster) == ["submit", "reclaim", "reclaim"]
    assert not cluster.is_closed
    assert len(cluster.places) == 2


def test_with_the_controller_the_job_falls_to_on_demand_and_returns_once_the_market_opens(cluster: Cluster) -> None:
    cluster.is_managed = True
    play(cluster, Options())

    assert did(cluster) == [
        "submit",
        "reclaim",
        "close the spot market",
        "reclaim",
        "reclaim",
        "open the spot market",
    ]
    assert not cluster.is_closed
    assert len(cluster.places) == 2


def test_a_job_that_the_controller_does_not_move_is_given_up(cluster: Cluster) -> None:
    cluster.is_managed, cluster.is_moved = True, False
    with pytest.raises(Stopped, match=f"did not run on another tier within {FALL_SECONDS:.0f} s"):
        play(cluster, Options())


def test_the_audience_is_told_what_comes_next_and_what_has_happened(cluster: Cluster) -> None:
    seen: list[View] = []
    play(cluster, Options(reclaims=1, dry=False), seen.append)

    assert [mark.to for mark in cluster.marks if mark.did == STEP] == list(
        dict.fromkeys(view.doing for view in seen if view.doing)
    )
    assert [moment.kind for moment in seen[-1].moments] == [
        "submitted",
        "bought",
        "running",
        "reclaimed",
        "evicted",
        "bought",
        "running",
    ]


def test_a_job_that_never_runs_is_given_up_with_the_reason(cluster: Cluster) -> None:
    cluster.runs = False
    with pytest.raises(Stopped, match=f"did not run within {START_SECONDS:.0f} s: its pods were not ready"):
        play(cluster, Options())


def test_a_job_that_does_not_come_back_is_given_up(cluster: Cluster) -> None:
    cluster.comes_back = False
    with pytest.raises(Stopped, match=f"did not run again within {RETURN_SECONDS:.0f} s after reclaim 1 of 2"):
        play(cluster, Options())


def test_what_the_api_server_refuses_ends_it_and_a_kind_that_is_not_served_yet_does_not(cluster: Cluster) -> None:
    refusals = [404, 404, 422]
    apply = cluster.apply

    def refuse(thing: Any) -> None:
        if thing["kind"] == "FallbackPolicy" and refusals:
            raise Refused(refusals.pop(0), "no such kind")
        apply(thing)

    cluster.apply = refuse
    with pytest.raises(Refused, match="422"):
        play(cluster, Options())
    assert refusals == []
