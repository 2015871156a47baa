"""A cluster somebody else made: kind, k3s, on-premises, or a cloud that has no folder here."""

from spotproof.settings.existing.model import Existing

__all__ = ["Existing"]
