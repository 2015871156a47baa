"""Azure's limits: vCPUs of a subscription in a region, by family of VM sizes on-demand, one for all of spot."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from spotproof.settings.azure.sizes import SIZE, vcpus
from spotproof.settings.machines import Quota
from spotproof.vocabulary import ON_DEMAND, SPOT

if TYPE_CHECKING:
    from spotproof.settings.azure.model import Azure
    from spotproof.settings.environment import Environment

REGIONAL: Final = "Total Regional vCPUs"
LOW_PRIORITY: Final = "Total Regional Low-priority vCPUs"
"""All of spot, whatever the family."""

FAMILIES: Final = (
    (r"NC\d+as_T4_v3", "Standard NCASv3_T4 Family vCPUs"),
    (r"NC\d+r?s_v3", "Standard NCSv3 Family vCPUs"),
    (r"NC\d+ads_A10_v4", "Standard NCADS_A10_v4 Family vCPUs"),
    (r"NC\d+ads_A100_v4", "Standard NCADS_A100_v4 Family vCPUs"),
    (r"NC\d+ad(i)?s_H100_v5", "Standard NCadsH100v5 Family vCPUs"),
    (r"ND\d+asr_v4", "Standard NDASv4_A100 Family vCPUs"),
    (r"ND\d+amsr_A100_v4", "Standard NDAMSv4_A100Family vCPUs"),
    (r"ND\d+isr_H100_v5", "Standard NDSH100v5 Family vCPUs"),
    (r"ND\d+isr_H200_v5", "Standard NDISRH200V5 Family vCPUs"),
    (r"NV\d+adm?s_A10_v5", "Standard NVADSA10v5 Family vCPUs"),
)
"""End of a GPU size -> its family as `az vm list-usage` names it."""

SYSTEM_VCPUS: Final = 8
"""Two nodes of 4 vCPUs that carry the operators, always on-demand."""
SYSTEM_SIZE: Final = "Standard_D4ds_v5"


def quotas(azure: "Azure", env: "Environment") -> Iterator[Quota]:
    """What full pools need, each at its largest size. On-demand counts twice: in its family and in the region."""
    needed = Counter({REGIONAL: SYSTEM_VCPUS, family(SYSTEM_SIZE): SYSTEM_VCPUS})
    for pool in env.pools:
        by_quota: dict[str, int] = {}
        for size in pool.instance_types:
            cpus = vcpus(size)
            for name in (LOW_PRIORITY,) if pool.is_spot else (REGIONAL, family(size)):
                if cpus:
                    by_quota[name] = max(by_quota.get(name, 0), cpus)
        needed.update({name: cpus * pool.max_nodes for name, cpus in by_quota.items()})
    for name, count in sorted(needed.items()):
        yield Quota(name, count, "vCPUs", azure.location, SPOT if name == LOW_PRIORITY else ON_DEMAND)


def family(size: str) -> str:
    """The quota of a size's family: D8ds_v5 counts against Standard DDSv5 Family vCPUs."""
    short = size.removeprefix("Standard_")
    for pattern, name in FAMILIES:
        if re.fullmatch(pattern, short):
            return name
    parts = SIZE.match(size)
    if parts is None:
        return "Other Family vCPUs"
    version = f"v{parts['version']}" if parts["version"] else ""
    return f"Standard {parts['family']}{parts['features'].upper()}{version} Family vCPUs"
