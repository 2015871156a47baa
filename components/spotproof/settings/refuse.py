"""What is refused by name before the shape is looked at: features that come later, keys that are not ours."""

from collections.abc import Iterator
from typing import Final

from spotproof.settings.errors import Problem, shown
from spotproof.settings.near import near, one_of
from spotproof.settings.provider import NOT_YET, PROVIDERS
from spotproof.settings.walk import Path

ENVIRONMENT_KEY: Final = "spotproof:environment"
EXAMPLE_PROVIDER: Final = {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}
EXAMPLE: Final = f"{{provider: {shown(EXAMPLE_PROVIDER, 200)}, spot: true}}"

OF_THE_CLOUD: Final = ("provider", "pools", "network", "logs", "access", "controlPlane")
"""What is right for one cloud (instance types, zones) is wrong for another: of these only the shape is judged."""


def refused(raw: dict[str, object]) -> tuple[dict[str, object], list[Problem], set[Path]]:
    """Settings that can be looked at further, what was refused in them, and the paths that were replaced for that."""
    values, problems, replaced = dict(raw), list[Problem](), set[Path]()
    provider = raw.get("provider")
    cloud = provider.get("cloud") if isinstance(provider, dict) else None
    if isinstance(cloud, str) and cloud not in PROVIDERS:
        problems.append(_cloud(cloud))
        values["provider"] = dict(EXAMPLE_PROVIDER)
        replaced |= {(key,) for key in OF_THE_CLOUD}
    if raw.get("spot") is True and raw.get("pools") is not None:
        problems.append(
            Problem(
                "spot",
                "is true beside pools",
                "it concerns the default pools only, so nothing would become spot by it",
                "Remove it, and write `capacity: spot` on the pools that are to be spot",
            )
        )
    operators = raw.get("operators")
    if isinstance(operators, dict) and (found := list(_fallback(operators.get("fallback")))):
        problems += found
        values["operators"] = {**operators, "fallback": {"mode": "off"}}
        replaced.add(("operators", "fallback"))
    return values, problems, replaced


def _cloud(cloud: str) -> Problem:
    if cloud in NOT_YET:
        return Problem(
            "provider.cloud",
            f"is {cloud} ({NOT_YET[cloud]}), which is not yet available",
            "nothing could be built",
            f"Write `cloud: {one_of(PROVIDERS)}`",
        )
    guess = near(cloud, (*PROVIDERS, *NOT_YET))
    return Problem(
        "provider.cloud",
        f"is {shown(cloud)}, and there is no such cloud",
        "nothing could be built",
        f"Write `cloud: {guess if guess in PROVIDERS else one_of(PROVIDERS)}`",
    )


def _fallback(fallback: object) -> Iterator[Problem]:
    asked = fallback if isinstance(fallback, dict) else {}
    for key, wanted in (("mode", asked.get("mode") in ("install", "existing")), ("image", "image" in asked)):
        if wanted:
            yield Problem(
                f"operators.fallback.{key}",
                f"is {shown(asked[key])}; the fallback controller is not yet available",
                "no job would be moved",
                "Write `fallback: {mode: off}`, or leave it out; policies are rendered all the same",
            )


def unknown_key(key: str) -> Problem:
    """A `spotproof:` key beside the environment, which the program never reads."""
    if key == "spotproof:kubeconfig":
        what = "belongs to `provider: {cloud: existing}`, which is not yet available"
        return Problem(key, what, "it would not be read", "Remove it")
    name = key if key.isprintable() else shown(key)
    remedy = f"Write it under {ENVIRONMENT_KEY}, or remove it"
    return Problem(name, "is not a key of this program", "it would be ignored", remedy)


def missing_environment() -> Problem:
    """A stack file without our key."""
    remedy = f"Write it under config, as in `{ENVIRONMENT_KEY}: {EXAMPLE}`"
    return Problem(ENVIRONMENT_KEY, "is missing", "there is nothing to build", remedy)


def wrong_environment(raw: object) -> Problem:
    """Our key with something that is no mapping."""
    what = f"is {shown(raw)}, a mapping is needed"
    return Problem(ENVIRONMENT_KEY, what, "there would be no settings", f"Write it as `{EXAMPLE}`")


def unreadable(reason: str) -> Problem:
    """Values that no JSON can hold; a stack file's reader finds them first, a program's may not."""
    return Problem(ENVIRONMENT_KEY, f"cannot be read ({shown(reason)})", "nothing can be built", "Write plain values")
