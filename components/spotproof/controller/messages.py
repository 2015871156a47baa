"""Events. (Replaced by the branch `checks`.)"""


def event(code: str, **values: object) -> tuple[str, str, str]:
    """Type, reason, note."""
    return "Normal", code, " ".join(f"{key}={value}" for key, value in values.items())
