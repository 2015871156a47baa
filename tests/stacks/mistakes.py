"""Mistakes that packages of this kind make, planted one at a time into a copy of the program or of a stack file."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.stacks.runs import ROOT

STACK: Final = "stacks/Pulumi.aws-dev.yaml"
AWS: Final = "components/spotproof/clouds/aws"
MANIFESTS: Final = "components/spotproof/manifests"


@dataclass(frozen=True)
class Mistake:
    """`old` is replaced by `new` in `file`; `caught_by` is "settings", "lint" or the name of a policy."""

    words: str
    file: str
    old: str
    new: str
    caught_by: str


@dataclass(frozen=True)
class Caught:
    """What the preview of the spoilt copy said."""

    status: int
    by: frozenset[str]
    messages: dict[str, str]


MISTAKES: Final = (
    Mistake(
        "No spot service-linked role: EC2 refuses spot, Karpenter quietly buys on-demand",
        f"{AWS}/environment.py",
        'if env.spot_pools or env.spot_service_linked_role != "existing":',
        "if env.spot_pools == 0:",
        "spot-service-linked-role-exists",
    ),
    Mistake(
        "The role created without a thought of other stacks: the second one fails, the first one's end deletes it",
        "infra/__main__.py",
        "import pulumi\n",
        "import pulumi\nimport pulumi_aws as aws\n\n"
        'aws.iam.ServiceLinkedRole("spot", aws_service_name="spot.amazonaws.com")\n',
        "spot-service-linked-role-is-kept",
    ),
    Mistake(
        "interruptionQueue given as a URL",
        f"{AWS}/karpenter.py",
        '"interruptionQueue": queue_name}',
        '"interruptionQueue": f"https://sqs.us-west-2.amazonaws.com/123456789012/{queue_name}"}',
        "karpenter-interruptions-are-heard",
    ),
    Mistake(
        "interruptionQueue given as an ARN",
        f"{AWS}/karpenter.py",
        '"interruptionQueue": queue_name}',
        '"interruptionQueue": names.queue_arn}',
        "karpenter-interruptions-are-heard",
    ),
    Mistake(
        "No rule for interrupted capacity reservations",
        f"{AWS}/interruption.py",
        '"capacity-reservation": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),',
        "",
        "interruption-rules-are-complete",
    ),
    Mistake(
        "A queue policy without the rules' service principal",
        f"{AWS}/interruption.py",
        '["events.amazonaws.com"]',
        '["sqs.amazonaws.com"]',
        "interruption-queue-admits-events",
    ),
    Mistake(
        "Karpenter's nodes share the role of the managed node group",
        f"{AWS}/karpenter.py",
        "self.node_role_name = nodes.name",
        'self.node_role_name = names.role("system-node")',
        "karpenter-nodes-have-their-own-role",
    ),
    Mistake(
        "An access entry of type STANDARD for nodes",
        f"{AWS}/nodes.py",
        'type="EC2_LINUX"',
        'type="STANDARD"',
        "karpenter-nodes-have-their-own-role",
    ),
    Mistake(
        "An image that is not pinned, in the settings",
        STACK,
        'accountId: "123456789012"}',
        'accountId: "123456789012", amiAlias: al2023@latest}',
        "settings",
    ),
    Mistake(
        "An image that is not pinned, in the program",
        f"{MANIFESTS}/ec2_node_class.py",
        '{"alias": ami_alias}',
        '{"alias": "al2023@latest"}',
        "node-images-are-pinned",
    ),
    Mistake(
        "Nodes that expire after 720 hours",
        f"{MANIFESTS}/karpenter.py",
        '"expireAfter": "Never"',
        '"expireAfter": "720h"',
        "training-pools-are-left-alone",
    ),
    Mistake(
        "Instance metadata, and with it the node's role, within reach of every pod",
        f"{MANIFESTS}/ec2_node_class.py",
        '"httpTokens": "required"',
        '"httpTokens": "optional"',
        "node-metadata-is-guarded",
    ),
    Mistake("A root disk of 20 GiB, in the settings", STACK, "maxNodes: 2}", "maxNodes: 2, diskGib: 20}", "settings"),
    Mistake(
        "A root disk of 20 GiB, in the program",
        f"{MANIFESTS}/ec2_node_class.py",
        'f"{size_gib}Gi"',
        '"20Gi"',
        "node-disks-hold-images",
    ),
    Mistake(
        "A pool that does not wait for its node class: on destroy the controller goes before the machines",
        f"{AWS}/pools.py",
        "pulumi.ResourceOptions(parent=self, depends_on=[self.node_class])",
        "pulumi.ResourceOptions(parent=self)",
        "node-classes-outlive-their-nodes",
    ),
    Mistake(
        "Node classes that do not wait for the controller's release",
        f"{AWS}/environment.py",
        "waits_for: list[pulumi.Resource] = [karpenter, tag]",
        "waits_for: list[pulumi.Resource] = [tag]",
        "node-classes-outlive-their-nodes",
    ),
    Mistake(
        "A node class whose deletion is given up after five minutes",
        f"{AWS}/pools.py",
        'DELETE_TIMEOUT: Final = "45m"',
        'DELETE_TIMEOUT: Final = "5m"',
        "node-classes-have-time-to-go",
    ),
    Mistake(
        "Bottlerocket with a second device plugin",
        STACK,
        'accountId: "123456789012"}',
        'accountId: "123456789012", amiAlias: bottlerocket@1.60.0}',
        "settings",
    ),
    Mistake(
        "AL2023 without a device plugin, in the settings",
        STACK,
        "    tags:",
        "    operators: {gpuPlugin: {mode: off}}\n    tags:",
        "settings",
    ),
    Mistake(
        "AL2023 without a device plugin, in the program",
        "components/spotproof/operators/registry.py",
        '"gpuPlugin": Entry(lambda all_: all_.gpu_plugin, gpu_plugin.install, contract.GPU_PLUGIN),',
        "",
        "one-gpu-plugin",
    ),
    Mistake(
        "A node label in a reserved domain",
        f"{MANIFESTS}/scheduling.py",
        "return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity}",
        'return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity, "karpenter.sh/team": "x"}',
        "pools-are-labelled",
    ),
    Mistake(
        "A capacity label that is a boolean",
        f"{MANIFESTS}/scheduling.py",
        "return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity}",
        'return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity == "spot"}',
        "pools-are-labelled",
    ),
    Mistake(
        "A spot price cap where nothing keeps it, in the settings",
        STACK,
        "maxNodes: 4}",
        "maxNodes: 4, spotMaxPrice: 0.2}",
        "settings",
    ),
    Mistake(
        "A spot price cap where nothing keeps it, in the program",
        f"{MANIFESTS}/karpenter.py",
        '"limits": _limits(pool, machines),',
        '"limits": _limits(pool, machines), "spotMaxPrice": "0.2",',
        "spot-price-cap-is-kept",
    ),
    Mistake(
        "A misspelt input of a resource",
        f"{AWS}/nodes.py",
        '"max_unavailable": 1',
        '"max_unavailabel": 1',
        "lint",
    ),
)


RUN: Final = "from spotproof.cli.main import run; run()"


def preview_with(mistake: Mistake, copy: Path) -> Caught:
    """What `spotproof preview aws-dev` says of a copy of the project, made in `copy`, with the mistake in it."""
    for folder in ("components", "infra", "stacks", "policies"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Pulumi.yaml", copy)
    file = copy / mistake.file
    text = file.read_text(encoding="utf-8")
    assert mistake.old in text, f"{mistake.file} no longer holds {mistake.old}"
    file.write_text(text.replace(mistake.old, mistake.new, 1), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN, "preview", "aws-dev", "--format", "json"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": f"{copy / 'components'}:{copy / 'policies'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return _caught(done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr)


def _caught(status: int, preview: dict[str, Any], errors: str) -> Caught:
    messages = {f"{found['policy']}": f"{found['message']}" for found in reversed(preview.get("policies", []))}
    for found in preview.get("lint", [])[:1]:
        messages["lint"] = f"{found['path']}: {found['message']}"
    if not preview.get("resources"):
        messages["settings"] = errors.strip().splitlines()[-1].strip()
    return Caught(status, frozenset(messages), messages)


def table(caught: list[tuple[Mistake, Caught]]) -> str:
    """docs/what-is-checked.md: each mistake with what catches it and its message, as it was printed."""
    rows = [
        f"| {mistake.words} | {_link(mistake.caught_by)} | {_cell(found.messages[mistake.caught_by])} |"
        for mistake, found in caught
    ]
    return "\n".join([INTRODUCTION, *rows, ""])


INTRODUCTION: Final = """\
# What is checked

Each mistake below is planted, alone, into a copy of the program or of its stack file by a test
(tests/stacks/test_mistakes.py), which also writes this page: the messages are what `spotproof preview` printed. All
policies are in [policies/README.md](../policies/README.md), all settings in [stacks/README.md](../stacks/README.md).

| mistake | caught by | message |
| --- | --- | --- |"""


def _link(catcher: str) -> str:
    if catcher in {"settings", "lint"}:
        return catcher
    return f"[{catcher}](../policies/spotproof_policies/{catcher.replace('-', '_')}/README.md)"


def _cell(message: str) -> str:
    return " ".join(message.split()).replace("|", "\\|")
