"""What `spotproof simulate` found: a table for people, JSON for machines. Both say how it was billed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from spotproof.cli.simulate_options import Given, Times
from spotproof.economics.outcome import Job
from spotproof.economics.replay import Summary
from spotproof.settings.base import render_duration

DECIMALS = 6
ALL = "all, each trace weighing the same"


@dataclass(frozen=True)
class Report:
    """What was asked, and what each line of traces came to."""

    given: Given
    times: Times
    job: Job
    probe_every: int
    names: Sequence[str]
    summaries: Sequence[Summary]
    total: Summary

    @property
    def model(self) -> str:
        """`ticks` or `continuous`."""
        return "continuous" if self.given.continuous else "ticks"

    def as_json(self) -> str:
        """One object; amounts are USD, percent and hours."""
        document = {
            "policy": self.given.policy,
            "model": self.model,
            "bill": self.given.bill.value,
            "prices": {
                "onDemandUsd": self.job.on_demand_usd,
                "spotUsd": list(self.job.spot_usd),
                "history": str(self.given.price_history) if self.given.price_history else None,
            },
            "job": {
                "workSeconds": self.job.work,
                "deadlineSeconds": self.job.deadline,
                "restartSeconds": self.job.changeover,
                "probeEverySeconds": self.probe_every or None,
                "probeCostSeconds": self.job.probe,
            },
            "traces": [
                {"trace": name, **_figures(each)} for name, each in zip(self.names, self.summaries, strict=True)
            ],
            "total": _figures(self.total),
        }
        return json.dumps(document, indent=2)

    def as_table(self) -> str:
        """Lines of text: what was asked, a line a trace, and all of them together."""
        tiers = self.given.as_tiers
        names = [f"{len(self.job.spot_usd)} tiers side by side"] if tiers else self.names
        lines = [(name, *_cells(each)) for name, each in zip(names, self.summaries, strict=True)]
        rows = [HEAD, *lines, *([(ALL, *_cells(self.total))] if len(lines) > 1 else [])]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        text = [f"policy {self.given.policy}, model {self.model}, bill {self._bill()}", self._asked()]
        text += [f"tiers: {name}" for name in self.names if tiers]
        text.append("")
        for first, *rest in rows:
            cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
            text.append("  ".join((first.ljust(widths[0]), *cells)))
        if self.total.unfinished:
            text += ["", f"{self.total.unfinished} runs had not ended when their record did; they count as late."]
        return "\n".join(text)

    def _bill(self) -> str:
        history = self.given.price_history
        return f"{self.given.bill.value} ({history})" if history else f"{self.given.bill.value} (no price moves)"

    def _asked(self) -> str:
        job = self.job
        prices = job.spot_usd if len(set(job.spot_usd)) > 1 else job.spot_usd[:1]
        spot = ", ".join(f"{usd:g}" for usd in prices)
        asked = f"{_time(job.work)} of work, deadline {_time(job.deadline)}, restart {_time(job.changeover)}"
        if self.probe_every:
            asked += f", probes every {_time(self.probe_every)} billed as {_time(job.probe)}"
        return f"{asked}; USD per node hour: on-demand {job.on_demand_usd:g}, spot {spot}"


HEAD = ("trace", "runs", "mean USD", "saved %", "late", "evictions", "spot h", "on-demand h")


def _cells(one: Summary) -> tuple[str, ...]:
    return (
        str(one.runs), f"{one.usd:.4f}", f"{one.saved_percent:.2f}", str(one.late), f"{one.evictions:.2f}",
        f"{one.spot_hours:.2f}", f"{one.on_demand_hours:.2f}",
    )  # fmt: skip


def _figures(one: Summary) -> dict[str, Any]:
    return {
        "runs": one.runs,
        "meanCostUsd": round(one.usd, DECIMALS),
        "savingsPercent": round(one.saved_percent, DECIMALS),
        "lateRuns": one.late,
        "meanEvictions": round(one.evictions, DECIMALS),
        "spotHours": round(one.spot_hours, DECIMALS),
        "onDemandHours": round(one.on_demand_hours, DECIMALS),
        "unfinishedRuns": one.unfinished,
    }


def _time(seconds: int) -> str:
    return render_duration(timedelta(seconds=seconds))
