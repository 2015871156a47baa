"""Fallback policies as one process has read them: ten thousand jobs name the same few."""

from spotproof.controller.kinds import Object
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.manifests.fallback_policy import read_policy


class Policies:
    """Each policy as it was read last, once for each version of it. Workers may read the same one at once."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[str, ResolvedPolicy]] = {}

    def read(self, found: Object) -> ResolvedPolicy:
        """The policy of an object.

        Raises:
            pydantic.ValidationError: the object is no policy; it is read again each time.
        """
        meta = found["metadata"]
        version = f"{meta['uid']}/{meta['resourceVersion']}"
        known = self._read.get(meta["name"])
        if known is None or known[0] != version:
            known = self._read[meta["name"]] = (version, read_policy(found))
        return known[1]
