"""Where each resource of a stack is paid for, in every cloud's own word for it."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from spotproof.clouds.charges import Billed, paying_package
from spotproof.preview.model import PROVIDER_TYPE_PREFIX, Capture, Resource

REGION_KEYS: Final = {"aws": "region", "gcp": "region", "azure-native": "location"}
"""A package's word for a region: of its provider and of the stack's configuration, as `azure-native:location`."""
OWN_KEYS: Final = ("region", "location", "zone")
"""Where a resource says it itself; a zone of GCP begins with its region."""

_ZONE: Final = re.compile(r"(?<=\d)-[a-z]$")
_NO_REGION: Final = re.compile(r"global|us|eu|asia|(nam|eur|asia)\d")
"""Places of what is everywhere, or in several regions at once."""


def default_regions(config: Mapping[str, object]) -> dict[str, str]:
    """Package -> region of its default provider, from the configuration of a stack."""
    found = {package: config.get(f"{package}:{key}") for package, key in REGION_KEYS.items()}
    return {package: region for package, region in found.items() if isinstance(region, str)}


def region_of(capture: Capture, defaults: Mapping[str, str]) -> Callable[[Billed], str]:
    """Tell the region of a resource: its own word, its provider's, the default, or the only one of its package.

    "" where nobody says one. A Karpenter pool is where the cloud is that pays for it.
    """
    providers = {one.urn: _of_provider(one) for one in capture.resources if one.type.startswith(PROVIDER_TYPE_PREFIX)}
    by_urn = {one.urn: providers.get(one.provider.rpartition("::")[0], "") for one in capture.resources}
    known: dict[str, set[str]] = {}
    for one in capture.resources:
        package = one.type.removeprefix(PROVIDER_TYPE_PREFIX).partition(":")[0]
        places = {_own(one), by_urn[one.urn], providers.get(one.urn, "")}
        known.setdefault(package, set()).update(places - {""})

    def region(resource: Billed) -> str:
        package = paying_package(resource)
        said = _own(resource) or by_urn.get(resource.urn, "") or defaults.get(package, "")
        only = known.get(package, set())
        return said or (next(iter(only)) if len(only) == 1 else "")

    return region


def _of_provider(provider: Resource) -> str:
    key = REGION_KEYS.get(provider.type.removeprefix(PROVIDER_TYPE_PREFIX), "")
    said = provider.inputs.get(key)
    return said if isinstance(said, str) else ""


def _own(resource: Billed) -> str:
    """The region that a resource of a cloud says itself; "" for one of another package."""
    if resource.type.partition(":")[0] not in REGION_KEYS:
        return ""
    said = (resource.inputs.get(key) for key in OWN_KEYS)
    text = next((place for place in said if isinstance(place, str)), "").lower().replace(" ", "")
    return "" if _NO_REGION.fullmatch(text) else _ZONE.sub("", text)
