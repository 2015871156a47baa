"""Stack files as hands and tools break them: dropped, retyped, misspelt, duplicated keys, hostile values."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from spotproof.settings import ENVIRONMENT_KEY, read_stack_file
from spotproof.settings.providers import PROVIDERS
from spotproof.settings.walk import by_alias

VALID: Final[dict[str, object]] = {
    "provider": {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"},
    "access": {"admins": ["arn:aws:iam::123456789012:role/Platform"]},
    "network": {"cidr": "10.64.0.0/16", "zones": 3, "natGateways": "per-zone"},
    "controlPlane": {"publicAccessCidrs": ["203.0.113.0/24"], "deletionProtection": True},
    "logs": {"retainDays": 30},
    "pools": [
        {"name": "a100-spot", "capacity": "spot", "instanceTypes": ["p4d.24xlarge"], "maxNodes": 16, "diskGib": 500},
        {"name": "a100", "capacity": "on-demand", "instanceTypes": ["p4d.24xlarge"], "maxNodes": 16},
        {"name": "cpu", "capacity": "on-demand", "instanceTypes": ["m7i.2xlarge"], "maxNodes": 8},
    ],
    "checkpoints": {"retainDays": 30, "versioning": True, "protect": True},
    "workspaces": [{"namespace": "research", "serviceAccount": "trainer"}],
    "fallbackPolicies": [
        {
            "name": "standard",
            "tiers": [{"pool": "a100-spot", "maxFailures": 5, "pendingTimeout": "1h"}, {"pool": "a100"}],
            "return": {"minStay": "2h"},
            "deadline": "guard",
        }
    ],
    "operators": {"jobset": {"mode": "install"}},
    "tags": {"team": "research"},
}

EXISTING: Final[dict[str, object]] = {
    "provider": {"cloud": "existing", "context": "kind-kind", "kubeconfig": "~/.kube/config", "clusterName": "lab"},
    "pools": [
        {"name": "cpu-spot", "capacity": "spot", "maxNodes": 4, "nodeLabels": {"group": "a"}},
        {
            "name": "cpu",
            "capacity": "on-demand",
            "maxNodes": 4,
            "nodeLabels": {"group": "b"},
            "taints": [{"key": "x"}],
        },
    ],
    "checkpoints": {
        "uri": "s3://team/lab",
        "secret": "store",
        "serviceAccountAnnotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/trainer"},
    },
    "workspaces": [{"namespace": "research", "members": ["user:ada", "group:research"]}],
    "fallbackPolicies": [{"name": "standard", "tiers": [{"pool": "cpu-spot"}, {"pool": "cpu"}]}],
    "operators": {"kuberay": {"mode": "existing", "version": "1.7.0"}},
}
"""Everything that only a cluster somebody else made has."""


def _stacks() -> Iterator[dict[str, object]]:
    folder = Path(__file__).parents[3] / "stacks"
    for file in sorted(folder.glob("Pulumi.*.yaml")):
        environment = read_stack_file(file)[ENVIRONMENT_KEY]
        assert isinstance(environment, dict)
        yield json.loads(json.dumps(environment))


VARIANTS: Final = (VALID, EXISTING, *_stacks())
"""Whole documents; every cloud has a stack file at least."""

NO_DEFAULT: Final = frozenset(
    {"provider", "cloud", "name", "capacity", "instanceTypes", "maxNodes", "pool", "tiers", "namespace", "uri"}
    | {name for provider in PROVIDERS.values() for name, field in by_alias(provider).items() if field.is_required()}
)

ANY_NAME: Final = frozenset({"tags", "nodeLabels", "serviceAccountAnnotations"})
"""Mappings in which no name and no text is wrong."""
ANY_TEXT: Final = frozenset({"context", "clusterName", "key", "value"})
"""Keys whose text somebody else chose: of these only another type is wrong."""


@dataclass(frozen=True)
class Damage:
    """A broken stack file and a word that its errors must hold: the key that was broken."""

    text: str
    names: str


class Raw(str):
    """Text that stands in the file as it is, without quotes."""

    __slots__ = ()


HOSTILE = st.sampled_from(
    [
        *(
            "",
            " ",
            "\x00",
            "\x1b[31mred",
            "../../etc/passwd",
            "${jndi:ldap://x}",
            "{{7*7}}",
            "'; drop table",
            "a" * 5000,
        ),
        *(
            "\u202eevil",
            "\U0001f600" * 3,
            "\ud800",
            "é",
            "\uff53\uff50\uff4f\uff54",
            "-",
            "--",
            "%s%n",
            "Null",
            "~",
            "Yes",
            "NaN",
            "0x1O",
        ),
    ]
)
NUMBERS = st.one_of(st.integers(max_value=-2), st.integers(min_value=10**9, max_value=10**30), st.floats(10.5, 1e300))
LISTS = st.lists(st.integers(), min_size=1, max_size=3)
MAPPINGS = st.dictionaries(st.sampled_from(["x", "__class__", "ключ", "a.b[0]"]), st.integers(), min_size=1, max_size=3)
HUGE = st.sampled_from([Raw("1" + "0" * 20), Raw("1" + "0" * 5000), Raw("1e999"), Raw("-.inf"), Raw("0x" + "f" * 99)])

NO_TEXT = st.one_of(NUMBERS, LISTS, MAPPINGS, st.booleans())

WRONG: Final[dict[type, st.SearchStrategy[object]]] = {
    # for a value of this type, what can never stand in its place
    str: st.one_of(HOSTILE, NO_TEXT),
    int: st.one_of(HOSTILE, NUMBERS, LISTS, MAPPINGS, st.none()),
    bool: st.one_of(HOSTILE, NUMBERS, LISTS, MAPPINGS, st.none()),
    list: st.one_of(HOSTILE, NUMBERS, MAPPINGS),
    dict: st.one_of(HOSTILE, NUMBERS, LISTS, MAPPINGS),
}


def paths(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every key of a document, wherever it stands."""
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in [(*path, key), *paths(item, (*path, key))]]
    if isinstance(value, list):
        return [found for index, item in enumerate(value) for found in paths(item, (*path, index))]
    return []


PATHS: Final = [
    (number, path)
    for number, document in enumerate(VARIANTS)
    for path in paths(document)
    if not ANY_NAME & {*path[:-1]} and path != ("tags",)
]
"""Which document, and where in it."""


@st.composite
def damaged(draw: st.DrawFn) -> Damage:
    """One document with one key broken in one of five ways; always broken, never merely different."""
    kind = draw(st.sampled_from(["drop", "retype", "misspell", "duplicate", "huge"]))
    number, path = draw(st.sampled_from([(n, path) for n, path in PATHS if kind != "drop" or path[-1] in NO_DEFAULT]))
    document = json.loads(json.dumps(VARIANTS[number]))
    holder, name = _holder(document, path), str(path[-1])
    if kind == "duplicate":
        once = f"{json.dumps(name)}: "
        return Damage(_file(document).replace(once, f"{once}1, {once}", 1), name)
    value = holder.pop(name)
    if kind == "misspell":
        wrong = draw(st.sampled_from([f"{name}x", name[:-1] + "ß", name.swapcase(), f"{name}_", name[::-1] + "q"]))
        holder[wrong] = value
        return Damage(_file(document), wrong)
    if kind != "drop":
        other = NO_TEXT if name in ANY_TEXT else WRONG[type(value)]
        holder[name] = draw(other if kind == "retype" else HUGE)
    return Damage(_file(document), name)


def _holder(document: Any, path: tuple[str | int, ...]) -> dict[str, object]:
    for part in path[:-1]:
        document = document[part]
    return document


def _file(document: object) -> str:
    return f'config: {{"spotproof:environment": {_flow(document)}}}\n'


def _flow(value: object) -> str:
    """JSON, which is YAML; escapes keep hostile characters as a tool would write them."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return json.dumps(value)
