"""What runs with the controller's rights is what was read, built and tested, and not what a tag points to today."""

import re
from collections.abc import Iterator
from typing import Final

from spotproof.vocabulary import SYSTEM_NAMESPACE
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, text
from spotproof_policies.system_pods import SYSTEM_TYPES, containers, system_pods

_BY_DIGEST: Final = re.compile(r".+@sha256:[0-9a-f]{64}")


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every container in the namespace whose image is not named by its digest."""
    for template in system_pods(resource):
        for where, container in containers(template):
            image = text(at(container, "image"))
            if not _BY_DIGEST.fullmatch(image):
                named = f"`{image}`" if image else "none"
                yield (
                    f"The image in {where} is {named}, without a digest: whoever may push to its registry could put "
                    f"something else there, which would run in {SYSTEM_NAMESPACE} with rights over every job. Write "
                    "operators.fallback.image, or here the image, as `<registry>/<path>@sha256:<64 hex digits>`."
                )


POLICY = Policy(
    name="system-images-are-by-digest",
    description="Containers in spotproof-system run images by digest.",
    level="mandatory",
    severity="critical",
    remedy="Write operators.fallback.image as <registry>/<path>@sha256:<64 hex digits>.",
    url="https://kubernetes.io/docs/concepts/containers/images/#image-names",
    judges=EachResource(SYSTEM_TYPES, check),
)
