"""A newcomer's cloud, by the recipe of CONTRIBUTING.md and nothing else, in a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts.clouds import ROOT

SETTINGS = {
    "components/spotproof/settings/toy/__init__.py": '''\
"""A cloud of toys."""

from spotproof.settings.toy.model import Toy

__all__ = ["Toy"]
''',
    "components/spotproof/settings/toy/model.py": '''\
"""The provider of the toy cloud: a yard with boxes."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from spotproof.settings.errors import Problem
from spotproof.settings.machines import Machine, Quota
from spotproof.settings.provider import Provider


class Toy(Provider):
    """A cluster in a yard, whose nodes are boxes."""

    package = ""
    grace_seconds = 30

    cloud: Literal["toy"] = Field(description="Which cloud: `toy`.", examples=["toy"])
    yard: str = Field(description="Where the boxes stand.", examples=["north"])

    @property
    def place(self):
        return self.yard

    def zone_names(self, count):
        return ()

    @classmethod
    def machine(cls, instance_type):
        return Machine(4, 16) if instance_type == "box" else None

    def problems(self, env) -> Iterator[Problem]:
        return iter(())

    def quotas(self, env) -> Iterator[Quota]:
        return iter(())
''',
}
LINE = ("components/spotproof/settings/providers.py", '"aws": Aws,', '"toy": Toy, "aws": Aws,')
IMPORT = (LINE[0], "from spotproof.settings.provider ", "from spotproof.settings.toy import Toy\n")
REST = {
    "components/spotproof/clouds/toy/__init__.py": '"""Toys."""\n',
    "components/spotproof/clouds/toy/names.py": '''\
"""Where toys save."""

from spotproof.manifests.checkpoints import CheckpointStore


def checkpoint_store(stack, environment):
    return CheckpointStore(f"https://{environment.provider.place}.toys.example/{stack}")
''',
    "components/spotproof/clouds/toy/environment.py": '''\
"""A toy environment: every node is a Kubernetes object."""

import pulumi
import pulumi_kubernetes as k8s

from spotproof.clouds.contract import Cluster, Scheduling
from spotproof.clouds.rendered import FallbackPolicies, WorkspaceObjects
from spotproof.clouds.toy.names import checkpoint_store
from spotproof.manifests.scheduling import Placement, placement, pool_labels, pool_taints
from spotproof.vocabulary import SYSTEM_LABEL


def build(name, environment, prices):
    here = environment.provider
    inside = k8s.Provider(f"{name}-yard", context=here.place, cluster_identifier=f"toy/{here.place}/{name}")
    opts = pulumi.ResourceOptions(provider=inside)
    nodes = [node(f"{name}-system", {SYSTEM_LABEL: "true"}, [], opts)]
    pools = {}
    for pool in environment.pools:
        for n in range(pool.max_nodes):
            nodes.append(node(f"{name}-{pool.name}-{n}", pool_labels(pool), pool_taints(pool), opts))
        price = prices.cheapest("toy", here.place, pool.instance_types, pool.capacity)
        at = placement(pool)
        pools[pool.name] = Scheduling(at.node_selector, at.tolerations, accelerator=pool.accelerator, price=price)
    inside_cluster = pulumi.ResourceOptions(providers=[inside])
    FallbackPolicies(f"{name}-fallback", environment, pools, inside_cluster)

    def make_workspaces(operators):
        for one in environment.workspaces:
            waits = pulumi.ResourceOptions(providers=[inside], depends_on=[*operators, *nodes])
            WorkspaceObjects(f"{name}-{one.namespace}", one, opts=waits)

    store = checkpoint_store(name, environment)
    return Cluster(
        kubernetes_provider=inside,
        pools=pools,
        system_scheduling=Placement({SYSTEM_LABEL: "true"}, ()),
        checkpoints=store,
        workspaces={one.namespace: one.service_account for one in environment.workspaces},
        provides=frozenset(),
        ready=nodes,
        lifetime=None,
        exports={
            "clusterName": name,
            "region": here.place,
            "configureKubectl": f"kubectl config use-context {here.place}",
            "checkpointUri": store.uri,
            "pools": list(pools),
            "fallbackPolicies": [one.name for one in environment.fallback_policies],
            "workspaces": {one.namespace: store.prefix(one.namespace) for one in environment.workspaces},
        },
        make_workspaces=make_workspaces,
    )


def node(name, labels, taints, opts):
    return k8s.core.v1.Node(name, metadata={"name": name, "labels": labels}, spec={"taints": taints}, opts=opts)
''',
    "stacks/Pulumi.toy-dev.yaml": """\
# yaml-language-server: $schema=../docs/stack.schema.json
config:
  spotproof:environment:
    provider: {cloud: toy, yard: north}
    pools:
      - {name: box-spot, capacity: spot, instanceTypes: [box], maxNodes: 2}
      - {name: box, capacity: on-demand, instanceTypes: [box], maxNodes: 1}
    workspaces: [{namespace: research}]
    fallbackPolicies:
      - {name: standard, tiers: [{pool: box-spot}, {pool: box}]}
""",
    "docs/toy.md": "# Toys\n",
}
RULES = ("pyproject.toml", '"spotproof.clouds.existing"', '"spotproof.clouds.existing", "spotproof.clouds.toy"')


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("components", "infra", "policies", "stacks", "tests", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "golden"))
    for file in ("Pulumi.yaml", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    return tmp_path


def write(tree: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")


def edit(tree: Path, change: tuple[str, str, str]) -> None:
    name, old, new = change
    text = (tree / name).read_text(encoding="utf-8")
    assert old in text, f"{name} no longer holds {old}"
    (tree / name).write_text(text.replace(old, new), encoding="utf-8")


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(str(tree / folder) for folder in ("components", "policies", "."))
    env = {**os.environ, "PYTHONPATH": path, "COLUMNS": "300"}
    return subprocess.run([sys.executable, *arguments], cwd=tree, env=env, capture_output=True, text=True, check=False)


def contract(tree: Path) -> subprocess.CompletedProcess[str]:
    test = "tests/contracts/test_clouds.py::test_a_cloud_fulfils_everything_of_the_contract[toy]"
    return run(tree, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", test)


def test_a_fifth_cloud_by_the_recipe_is_listed_until_it_is_whole_and_then_previews_clean(tree: Path) -> None:
    write(tree, SETTINGS)
    edit(tree, LINE)
    edit(tree, (IMPORT[0], IMPORT[1], IMPORT[2] + IMPORT[1]))

    half = contract(tree)

    assert half.returncode == 1
    assert "settings/toy" not in half.stdout
    lacking = [name for name in REST if not name.startswith("stacks/")]
    assert [name for name in lacking if f"{name} is missing" not in half.stdout] == [], half.stdout
    assert "stacks/ has no file with `cloud: toy`" in half.stdout
    assert "pyproject.toml: spotproof.clouds.toy is not in the import rule" in half.stdout

    write(tree, REST)
    edit(tree, RULES)
    whole, preview = contract(tree), run(tree, "-c", "from spotproof.cli.main import run; run()", "preview", "toy-dev")

    assert whole.returncode == 0, whole.stdout
    assert preview.returncode == 0, preview.stderr + preview.stdout
    assert "toy-dev: good: nothing to object to" in preview.stdout
    assert "toy-dev-box-spot-1" in preview.stdout


def test_the_recipe_names_every_file_the_newcomer_wrote_and_no_other() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Add a cloud\n")[2].partition("\n6. ")[0].partition("\n1. ")[2]
    named = re.findall(r"`((?:components|stacks|docs|pyproject)[^`: ]*)", section)

    written = {*SETTINGS, *REST, LINE[0], RULES[0]}
    assert {name.replace("<cloud>", "toy") for name in named} == written
