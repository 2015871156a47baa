"""Writes policies/README.md from the table, so that the list of policies cannot go stale."""

from spotproof_policies.model import EachResource, Policy
from spotproof_policies.registry import POLICIES

_HEAD = """\
<!-- Generated from spotproof_policies/registry.py by `make docs`. -->

# Policies

The rules that refuse settings which cannot work. The same pack runs in three places:

    spotproof preview --all                                        # every stack, without an account or the Pulumi CLI
    pulumi preview --policy-pack policies                          # any program, ours or not
    pulumi policy analyze --policy-pack policies --stack aws-dev   # what is deployed already

Mandatory policies stop an update, advisory ones say their sentence. A value that is not known before the
update gives a note: a policy never guesses. Levels and properties are set in a JSON file
(`--policy-pack-config`), by the name of the policy:

    {"tiers-wait-long-enough": {"enforcementLevel": "mandatory", "minimumMinutes": 30},
     "fallback-waits-for-spot": "disabled",
     "all": "advisory"}

## Adding one

Make the folder `spotproof_policies/<what_is_true_when_it_is_kept>/` with `policy.py`, `allowed.yaml`,
`denied.yaml` and `README.md`, and add one line to `spotproof_policies/registry.py`. The walker in
`tests/policies` runs the cases through Pulumi's own analyzer, with unknown values planted, with shapes nobody
expects and with every level; there is no test code to write, only the line in `tests/policies/mutations.py`
that breaks the policy on a stack of ours. A policy reads properties through
`spotproof_policies.reading`, known things first, and imports nothing but the vocabulary,
the closed forms of `spotproof.economics` and its siblings.
A pool of another cloud becomes visible to all pool policies by one file with its reader and one line in
`spotproof_policies/pools.py`.

"""


def policies_readme() -> str:
    """The whole file, ending in a newline."""
    return _HEAD + "\n".join(
        [
            f"## The {len(POLICIES)} policies",
            "",
            "| policy | level | severity | it holds when |",
            "| --- | --- | --- | --- |",
            *(_row(policy) for policy in POLICIES),
            "",
            "## What can be configured",
            "",
            "| policy | property | default | meaning |",
            "| --- | --- | --- | --- |",
            *(row for policy in POLICIES for row in _properties(policy)),
            "",
            "## Which resources are judged",
            "",
            *(f"- `{kind}`: {', '.join(names)}" for kind, names in sorted(_by_type().items())),
            f"- all resources together: {', '.join(_of_the_stack())}",
            "",
        ]
    )


def _row(policy: Policy) -> str:
    link = f"[{policy.name}](spotproof_policies/{policy.folder}/README.md)"
    return f"| {link} | {policy.level} | {policy.severity} | {policy.description} |"


def _properties(policy: Policy) -> list[str]:
    return [
        f"| {policy.name} | `{key}` | `{schema['default']}` | {schema['description']} |"
        for key, schema in policy.config_schema.items()
    ]


def _by_type() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for policy in POLICIES:
        if isinstance(policy.judges, EachResource):
            for kind in policy.judges.types:
                found.setdefault(kind, []).append(policy.name)
    return found


def _of_the_stack() -> list[str]:
    return [policy.name for policy in POLICIES if not isinstance(policy.judges, EachResource)]
