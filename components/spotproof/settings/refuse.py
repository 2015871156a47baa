"""What is refused by name before the shape is looked at: features of other clouds, keys that are not ours."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spotproof.settings.errors import Problem, shown
from spotproof.settings.near import near, one_of
from spotproof.settings.providers import PROVIDERS
from spotproof.settings.scope import out_of_scope
from spotproof.settings.stack_file import join
from spotproof.settings.walk import Path, by_alias

ENVIRONMENT_KEY: Final = "spotproof:environment"
EXAMPLE_PROVIDER: Final = {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}
EXAMPLE: Final = f"{{provider: {shown(EXAMPLE_PROVIDER, 200)}, spot: true}}"

OF_THE_CLOUD: Final = (
    "pools",
    "network",
    "logs",
    "access",
    "controlPlane",
    "workspaces",
    "operators",
    "tags",
    "kubernetesVersion",
)
"""What is right for one cloud (instance types, people) is wrong for another: of these only the shape is judged."""


def cloud_of(raw: Mapping[str, object]) -> str:
    """The word of `provider.cloud` where there is such a cloud; else that of the example."""
    provider = raw.get("provider")
    cloud = provider.get("cloud") if isinstance(provider, dict) else None
    return cloud if isinstance(cloud, str) and cloud in PROVIDERS else EXAMPLE_PROVIDER["cloud"]


def names_a_cloud(raw: Mapping[str, object]) -> bool:
    """Whether the file says which cloud it is for. If not, it is read as one of the example's cloud."""
    provider = raw.get("provider")
    return isinstance(provider, dict) and provider.get("cloud") == cloud_of(raw)


def example_provider(cloud: str) -> dict[str, object]:
    """The shortest provider of a cloud: its required fields, each with its own example."""
    fields = by_alias(PROVIDERS[cloud])
    return {name: field.examples[0] for name, field in fields.items() if field.is_required() and field.examples}


def refused(raw: dict[str, object]) -> tuple[dict[str, object], list[Problem], set[Path], set[Path]]:
    """Settings that can be looked at further, and what was refused in them.

    Then the paths that were replaced for that, and those whose values nobody can judge, as no cloud is known.
    """
    values, problems, replaced, unjudged = dict(raw), list[Problem](), set[Path](), set[Path]()
    provider = raw.get("provider")
    cloud = provider.get("cloud") if isinstance(provider, dict) else None
    if not isinstance(cloud, str) or cloud not in PROVIDERS:
        unjudged |= {(key,) for key in OF_THE_CLOUD}
        if isinstance(provider, dict):
            problems += _cloud(provider)
            values["provider"] = dict(EXAMPLE_PROVIDER)
            replaced.add(("provider",))
    else:
        for path, problem in out_of_scope(raw, cloud, PROVIDERS[cloud]):
            problems.append(problem)
            replaced.add(path)
            values = _without(values, path)
    if raw.get("spot") is True and raw.get("pools") is not None:
        problems.append(
            Problem(
                "spot",
                "is true beside pools",
                "it concerns the default pools only, so nothing would become spot by it",
                "Remove it, and write `capacity: spot` on the pools that are to be spot",
            )
        )
    return values, problems, replaced, unjudged


def _cloud(provider: Mapping[str, object]) -> Iterator[Problem]:
    """What is wrong with `cloud`, and the keys beside it that no cloud has."""
    known = list(dict.fromkeys(name for model in PROVIDERS.values() for name in by_alias(model)))
    meant = {key: near(key, known) for key in provider if key not in known}
    for key, guess in meant.items():
        remedy = f"Write {guess}" if guess else f"Known here: {', '.join(known)}"
        yield Problem(join("provider", key), "is not a setting", "it would have no effect", remedy)
    if "cloud" in meant.values():
        return
    cloud = provider.get("cloud")
    guess = near(cloud, PROVIDERS) if isinstance(cloud, str) else None
    fits = [word for word in PROVIDERS if example_provider(word).keys() - provider.keys() <= {"cloud"}]
    yield Problem(
        "provider.cloud",
        f"is {shown(cloud)}, and there is no such cloud" if "cloud" in provider else "is missing",
        "nothing could be built",
        f"Write `cloud: {guess or one_of(fits or PROVIDERS)}`",
    )


def _without(here: Any, path: Path) -> Any:
    """A copy without what stands at a path; only the containers along it are copied."""
    part, rest = path[0], path[1:]
    if isinstance(here, dict):
        kept = {key: value for key, value in here.items() if rest or key != part}
        return {**kept, part: _without(here[part], rest)} if rest else kept
    if isinstance(here, list) and rest:
        return [_without(value, rest) if index == part else value for index, value in enumerate(here)]
    return here


def beside(key: str, value: object, raw: object) -> Iterator[Problem]:
    """What is wrong with a `spotproof:` key beside the environment. Its value is, or should be, secret: never shown."""
    name = key.removeprefix("spotproof:")
    provider = raw.get("provider") if isinstance(raw, dict) else None
    here = provider if isinstance(provider, dict) else {}
    readers = [cloud for cloud, model in PROVIDERS.items() if name in model.secret_keys]
    if not readers:
        printable = key if key.isprintable() else shown(key)
        remedy = f"Write it under {ENVIRONMENT_KEY}, or remove it"
        yield Problem(printable, "is not a key of this program", "it would be ignored", remedy)
    elif here.get("cloud") not in readers:
        what = f"belongs to `provider: {{cloud: {one_of(readers)}}}` alone"
        yield Problem(key, what, "it would not be read", f"Remove it with `pulumi config rm {key}`")
    else:
        yield from _secret(key, value, here, PROVIDERS[str(here["cloud"])].secret_keys[name])


def _secret(key: str, value: object, provider: Mapping[str, object], field: str) -> Iterator[Problem]:
    if not (isinstance(value, Mapping) and set(value) == {"secure"}):
        yield Problem(
            key,
            "is in plain text",
            "whoever reads this file could act with the rights it gives",
            f"Encrypt it with `pulumi config set --secret {key}`, and replace what it held if others have seen it",
        )
    if provider.get(field) is not None:
        yield Problem(
            key,
            f"is there beside provider.{field}",
            "one of the two would silently win",
            f"Keep one: `pulumi config rm {key}`, or remove provider.{field}",
        )


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
