"""Environments on GCP, built once, and questions about them."""

from functools import cache
from typing import Any

from spotproof.preview.model import Capture, Resource
from tests.unit.clouds.programs import build, of

PROJECT, NUMBER, REGION = "research-dev", "123456789012", "us-central1"
PROVIDER = {"cloud": "gcp", "region": REGION, "project": PROJECT, "projectNumber": NUMBER}
SMALLEST: dict[str, Any] = {"provider": PROVIDER, "spot": True}
ADMIN, PERSON, GROUP = "user:platform@example.com", "user:research@example.com", "group:speech@example.com"
FULL: dict[str, Any] = {
    "provider": {**PROVIDER, "securityGroup": "gke-security-groups@example.com"},
    "access": {"admins": [ADMIN]},
    "network": {"cidr": "10.64.0.0/16", "zones": 3},
    "controlPlane": {"publicAccessCidrs": ["203.0.113.0/24"], "deletionProtection": True},
    "pools": [
        {"name": "a100-spot", "capacity": "spot", "instanceTypes": ["a2-ultragpu-8g"], "maxNodes": 16},
        {"name": "a100", "capacity": "on-demand", "instanceTypes": ["a2-ultragpu-8g"], "maxNodes": 16},
        {
            "name": "t4-spot",
            "capacity": "spot",
            "instanceTypes": ["n1-standard-8"],
            "accelerator": {"type": "nvidia-t4", "count": 2},
            "zones": [f"{REGION}-a"],
            "maxNodes": 4,
        },
        {"name": "cpu", "capacity": "on-demand", "instanceTypes": ["n2-standard-8"], "maxNodes": 8, "diskGib": 300},
        {"name": "arm-spot", "capacity": "spot", "instanceTypes": ["c4a-standard-8"], "maxNodes": 8},
    ],
    "workspaces": [
        {"namespace": "research", "members": [PERSON]},
        {"namespace": "speech", "members": [PERSON, GROUP]},
    ],
    "fallbackPolicies": [{"name": "standard", "tiers": [{"pool": "a100-spot"}, {"pool": "a100"}]}],
    "tags": {"team": "research"},
}


@cache
def full() -> Capture:
    return build(FULL)


@cache
def smallest() -> Capture:
    return build(SMALLEST)


def pools(seen: Capture) -> dict[str, Resource]:
    return {str(one.inputs["name"]): one for one in of(seen, "NodePool")}


def config(name: str) -> Any:
    return pools(full())[name].inputs["nodeConfig"]
