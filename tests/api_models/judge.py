"""A resource against its cloud's own API: every input mapped to a field, and every field's rules kept."""

from collections.abc import Iterator
from dataclasses import dataclass

from spotproof.preview.model import Capture, Finding, Resource
from tests.api_models.request import Load, Steps
from tests.api_models.rows import Own, Row, Table
from tests.api_models.translate import Input, Translation, translate


@dataclass(frozen=True)
class Cloud:
    """`package`: what the types of its resources start with."""

    package: str
    table: Table
    load: Load

    def resources(self, capture: Capture) -> list[Resource]:
        """Return what of a capture this cloud's API makes."""
        return [one for one in capture.resources if one.custom and one.type.startswith(f"{self.package}:")]


def judged(resource: Resource, cloud: Cloud) -> tuple[Translation, list[Finding]]:
    """Return where the inputs went and what is wrong with them; a type without a row is wrong."""
    row = cloud.table.get(resource.type)
    if row is None:
        return Translation(), [Finding(resource.urn, "", f"{resource.type} has no row in the table of {cloud.package}")]
    if isinstance(row, Own):
        return Translation(own={""}), []
    done = translate(resource.inputs, row, cloud.load)
    lost = (Finding(resource.urn, one.path, f"no field of {row.call} has this name") for one in done.lost)
    return done, [*lost, *_differences(resource, row, done)]


def _differences(resource: Resource, row: Row, done: Translation) -> Iterator[Finding]:
    for call, document in done.documents.items():
        for steps, keyword, message in done.requests[call].errors(document):
            if keyword == "required" and not steps and call != row.call:
                continue  # a second call names the resource that the first one made
            origin = _origin(done, call, steps)
            if keyword == "enum" and origin.key in row.unlisted:
                done.used.add(origin.key)
                continue
            told = f"a secret value breaks the rule {keyword!r}" if _holds_secret(done, call, steps) else message
            yield Finding(resource.urn, origin.path, f"{call}: {told}")


def _holds_secret(done: Translation, call: str, steps: Steps) -> bool:
    """Tell whether a place is inside of a secret, or has one inside."""
    paths = [path for name, path in done.secrets if name == call]
    return any(path[: len(steps)] == steps or steps[: len(path)] == path for path in paths)


def _origin(done: Translation, call: str, steps: Steps) -> Input:
    """Return the input that stands nearest to a place of a request."""
    near = (done.origins.get((call, steps[:end])) for end in range(len(steps), 0, -1))
    return next((one for one in near if one), Input())
