"""Azure's public regions, how many availability zones each has, and what has no price there. Facts, not settings."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

WITH_ZONES: Final = (
    *("australiaeast", "austriaeast", "belgiumcentral", "brazilsouth", "canadacentral", "centralindia", "centralus"),
    *("chilecentral", "denmarkeast", "eastasia", "eastus", "eastus2", "francecentral", "germanywestcentral"),
    *("indonesiacentral", "israelcentral", "italynorth", "japaneast", "japanwest", "koreacentral", "malaysiawest"),
    *("mexicocentral", "newzealandnorth", "northeurope", "norwayeast", "polandcentral", "qatarcentral"),
    *("southafricanorth", "southcentralus", "southeastasia", "spaincentral", "swedencentral", "switzerlandnorth"),
    *("uaenorth", "uksouth", "westeurope", "westus2", "westus3"),
)
WITHOUT_ZONES: Final = (
    *("australiacentral", "australiacentral2", "australiasoutheast", "brazilsoutheast", "canadaeast", "francesouth"),
    *("germanynorth", "koreasouth", "northcentralus", "norwaywest", "southafricawest", "southindia"),
    *("switzerlandwest", "uaecentral", "ukwest", "westcentralus", "westindia", "westus"),
)

ZONES: Final[Mapping[str, int]] = MappingProxyType(
    dict(sorted({**dict.fromkeys(WITH_ZONES, 3), **dict.fromkeys(WITHOUT_ZONES, 0)}.items()))
)
"""Region -> its zones (MicrosoftDocs/reliability-docs, regions-list.md of 2025-09-23). A region with zones has three.
Government and China clouds have endpoints of their own, which nothing here knows."""

UNPRICED: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "eastus": frozenset(
            {
                "Standard_NC8ads_A10_v4",
                "Standard_NC16ads_A10_v4",
                "Standard_NC32ads_A10_v4",
                "Standard_NCC40ads_H100_v5",
                "Standard_ND96isr_H200_v5",
                "Standard_ND96isr_MI300X_v5",
                "Standard_NV6s_v2",
                "Standard_NV12s_v2",
                "Standard_NV24s_v2",
            }
        )
    }
)
"""Region -> GPU sizes for which Azure's price list had no on-demand price there (karpenter-provider-azure's generated
table, which is made from it). A sign that they are not sold, and no proof: nothing is refused for it."""
PRICES_READ: Final = "2026-06-18"


def zone_names(location: str, count: int) -> tuple[str, ...]:
    """The first `count` zones as nodes carry them, `eastus-1`; none where the region has none."""
    return tuple(f"{location}-{number}" for number in range(1, min(count, ZONES.get(location, 0)) + 1))
