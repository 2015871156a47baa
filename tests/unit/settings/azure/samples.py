"""Environments the tests of Azure share."""

from datetime import date
from typing import Any

from spotproof.settings import Environment, load_environment

TODAY = date(2026, 11, 20)
SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"
TENANT = "00000000-0000-4000-8000-000000000002"
ADMINS = "00000000-0000-4000-8000-000000000003"
RESEARCHERS = "00000000-0000-4000-8000-000000000004"
PROVIDER: dict[str, Any] = {
    "cloud": "azure",
    "location": "eastus",
    "subscriptionId": SUBSCRIPTION,
    "tenantId": TENANT,
}
SMALLEST: dict[str, Any] = {"provider": PROVIDER, "spot": True}
FULL: dict[str, Any] = {
    "provider": PROVIDER,
    "access": {"admins": [ADMINS]},
    "network": {"cidr": "10.64.0.0/16", "zones": 3},
    "controlPlane": {"publicAccessCidrs": ["203.0.113.0/24"], "deletionProtection": True},
    "logs": {"retainDays": 90},
    "pools": [
        {
            "name": "a100-spot",
            "capacity": "spot",
            "instanceTypes": ["Standard_ND96asr_v4"],
            "zones": ["eastus-1"],
            "maxNodes": 16,
            "diskGib": 500,
        },
        {"name": "a100", "capacity": "on-demand", "instanceTypes": ["Standard_ND96asr_v4"], "maxNodes": 16},
        {"name": "cpu", "capacity": "on-demand", "instanceTypes": ["Standard_D8s_v5"], "maxNodes": 8},
    ],
    "workspaces": [
        {"namespace": "research", "members": [RESEARCHERS]},
        {"namespace": "speech", "members": [RESEARCHERS]},
    ],
    "fallbackPolicies": [{"name": "standard", "tiers": [{"pool": "a100-spot"}, {"pool": "a100"}]}],
    "tags": {"team": "research"},
}
CLASSIC: dict[str, Any] = {
    **FULL,
    "pools": [
        {**pool, "autoscaler": "cluster-autoscaler", **({"spotMaxPrice": 9.5} if pool["capacity"] == "spot" else {})}
        for pool in FULL["pools"]
    ],
}


def pool(name: str = "a", **changes: object) -> dict[str, object]:
    return {"name": name, "capacity": "on-demand", "instanceTypes": ["Standard_D8s_v5"], "maxNodes": 1} | changes


def classic(name: str = "a", **changes: object) -> dict[str, object]:
    return pool(name, autoscaler="cluster-autoscaler", **changes)


def environment(**changes: object) -> Environment:
    return load_environment({"provider": PROVIDER, **changes}, today=TODAY)
