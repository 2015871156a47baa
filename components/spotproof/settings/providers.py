"""Which clouds there are. Adding one is a folder with a settings class, a line here, and a folder under clouds/."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spotproof.settings.aws import Aws
from spotproof.settings.azure import Azure
from spotproof.settings.existing import Existing
from spotproof.settings.gcp import Gcp
from spotproof.settings.provider import Provider

PROVIDERS: Final[Mapping[str, type[Provider]]] = MappingProxyType(
    {"aws": Aws, "azure": Azure, "gcp": Gcp, "existing": Existing}
)
"""By the word of `provider.cloud`, which is also the name of the folder under clouds/."""
