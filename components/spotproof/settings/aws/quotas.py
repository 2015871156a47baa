"""EC2's limits: vCPUs of an account in a region, by class of instance, spot and on-demand apart."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from spotproof.settings.aws.instances import vcpus
from spotproof.settings.machines import Quota
from spotproof.vocabulary import ON_DEMAND, Capacity

if TYPE_CHECKING:
    from spotproof.settings.aws.model import Aws
    from spotproof.settings.environment import Environment

STANDARD: Final = "Standard (A, C, D, H, I, M, R, T, Z)"

CLASSES: Final = (
    (r"p[234]", "All P4, P3 and P2 Spot Instance Requests", "Running On-Demand P instances"),
    (r"p5", "All P5 Spot Instance Requests", "Running On-Demand P instances"),
    (r"p6", "All P6 Spot Instance Requests", "Running On-Demand P instances"),
    (r"(g|vt)\d|gr\d", "All G and VT Spot Instance Requests", "Running On-Demand G and VT instances"),
    (r"[acdhimrtz]\w*\d", f"All {STANDARD} Spot Instance Requests", f"Running On-Demand {STANDARD} instances"),
)
"""Beginning of an instance type -> its quota as Service Quotas names it, spot and on-demand (EC2 user guide, quotas).
The first that fits; other families (X, U, Trn, Inf) have quotas of their own, which are not looked at."""

SYSTEM_VCPUS: Final = 4
"""Two nodes of 2 vCPUs that carry the operators, always on-demand."""


def quotas(aws: "Aws", env: "Environment") -> Iterator[Quota]:
    """What full pools need, each at its largest type."""
    needed: Counter[tuple[str, Capacity]] = Counter({(CLASSES[-1][2], ON_DEMAND): SYSTEM_VCPUS})
    for pool in env.pools:
        by_quota: dict[tuple[str, Capacity], int] = {}
        for name in pool.instance_types:
            quota, cpus = _quota(name, spot=pool.is_spot), vcpus(name)
            if quota and cpus:
                key = (quota, pool.capacity)
                by_quota[key] = max(by_quota.get(key, 0), cpus)
        needed.update({key: cpus * pool.max_nodes for key, cpus in by_quota.items()})
    for (name, capacity), count in sorted(needed.items()):
        yield Quota(name, count, "vCPUs", aws.region, capacity)


def _quota(instance_type: str, *, spot: bool) -> str | None:
    return next((row[1] if spot else row[2] for row in CLASSES if re.match(row[0], instance_type)), None)
