"""Small trace files."""

import json
from pathlib import Path
from typing import Any

TICK = 600
HOUR = 3600


def whole(path: Path, capacity: str, **keys: Any) -> Path:
    """A whole trace of ticks of 10 minutes."""
    return _written(
        path,
        {"format": "spot-trace/1", "zone": "a", "instance": "p3.2xlarge", "gap_seconds": TICK, "capacity": capacity},
        keys,
    )


def windows(path: Path, capacities: dict[int, str], **keys: Any) -> Path:
    """A file of windows by id."""
    those = [{"id": number, "capacity": capacity} for number, capacity in capacities.items()]
    document = {"format": "spot-trace-windows/1", "zone": "a", "instance": "p3.2xlarge", "gap_seconds": TICK}
    return _written(path, {**document, "windows": those}, keys)


def _written(path: Path, document: dict[str, Any], keys: dict[str, Any]) -> Path:
    path.write_text(json.dumps({**document, **keys}))
    return path
