"""What a cloud owes: its files, its stack, and every field of `clouds.contract.Cluster`. Each lack is a sentence."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import pulumi
import pulumi_kubernetes as k8s

from spotproof import operators
from spotproof.clouds import provision
from spotproof.clouds.contract import Cluster, Scheduling
from spotproof.manifests.scheduling import pool_taints
from spotproof.operators.registry import OPERATORS
from spotproof.preview.model import Capture, Resource
from spotproof.preview.run import Target, capture
from spotproof.prices import Price, Prices, load_prices
from spotproof.settings import ENVIRONMENT_KEY, Environment, Pool, load_stack, read_stack_file
from spotproof.settings.providers import PROVIDERS
from spotproof.vocabulary import Taint, Toleration

ROOT: Final = Path(__file__).resolve().parents[2]
TODAY: Final = date(2026, 11, 20)

FILES: Final = {
    "components/spotproof/settings/{}/__init__.py": "the settings' package",
    "components/spotproof/settings/{}/model.py": "the provider: its fields, facts and checks",
    "components/spotproof/clouds/{}/__init__.py": "the cloud's package",
    "components/spotproof/clouds/{}/environment.py": "build(name, environment, prices) -> Cluster",
    "components/spotproof/clouds/{}/names.py": "checkpoint_store(stack, environment) -> CheckpointStore",
    "docs/{}.md": "its page: permissions, what idles, notice times, how it is taken down",
}
"""Path, with the cloud's word -> what is in it."""
WITH_A_PACKAGE: Final = {"components/spotproof/clouds/{}/bill.py": "bill(resource, ledger): what its resources cost"}

EXPORTS: Final = frozenset(
    {"checkpointUri", "clusterName", "configureKubectl", "fallbackPolicies", "pools", "region", "workspaces"}
)


@dataclass(frozen=True)
class Built:
    """One stack of a cloud, as its program ran."""

    stack: str
    environment: Environment
    cluster: Cluster
    installed: Mapping[str, str]
    """Operator -> URN of its release."""
    seen: Capture


def stacks_of(cloud: str, root: Path = ROOT) -> list[str]:
    """Stacks whose file names the cloud, whatever they are called."""
    files = sorted((root / "stacks").glob("Pulumi.*.yaml"))
    return [file.name.split(".")[1] for file in files if _cloud(read_stack_file(file)) == cloud]


def _cloud(config: Mapping[str, object]) -> object:
    environment = config.get(ENVIRONMENT_KEY)
    provider = environment.get("provider") if isinstance(environment, dict) else None
    return provider.get("cloud") if isinstance(provider, dict) else None


def gaps(cloud: str, root: Path = ROOT) -> list[str]:
    """Everything a cloud of the table still lacks; what its program makes is looked at once its files are there."""
    found = [*_files(cloud, root), *_import_rules(cloud, root)]
    if found:
        return found
    return [f"{stack}: {gap}" for stack in stacks_of(cloud, root) for gap in record_gaps(built(stack, root))]


def _files(cloud: str, root: Path) -> Iterator[str]:
    for pattern, what in {**FILES, **(WITH_A_PACKAGE if PROVIDERS[cloud].package else {})}.items():
        if not (root / pattern.format(cloud)).is_file():
            yield f"{pattern.format(cloud)} is missing ({what})"
    if not stacks_of(cloud, root):
        yield f"stacks/ has no file with `cloud: {cloud}`; one shows that it works, as stacks/Pulumi.{cloud}-dev.yaml"
    for module, function in (("environment", "build"), ("names", "checkpoint_store")):
        file = root / "components" / "spotproof" / "clouds" / cloud / f"{module}.py"
        if file.is_file() and not callable(getattr(_module(cloud, module), function, None)):
            yield f"{file.relative_to(root)} has no {function}()"


def _import_rules(cloud: str, root: Path) -> Iterator[str]:
    rules = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    for rule in rules:
        named = {*rule.get("forbidden_modules", ()), *rule.get("modules", ())}
        if any(name.startswith("spotproof.clouds.aws") for name in named) and f"spotproof.clouds.{cloud}" not in named:
            yield f"pyproject.toml: spotproof.clouds.{cloud} is not in the import rule `{rule['name']}`"


def _module(cloud: str, name: str) -> Any:
    return import_module(f"spotproof.clouds.{cloud}.{name}")


def built(stack: str, root: Path = ROOT) -> Built:
    """A stack of ours built in this process, and the record its cloud hands over."""
    environment = load_stack(read_stack_file(root / "stacks" / f"Pulumi.{stack}.yaml"), today=TODAY)
    handed_over: list[Cluster] = []
    installed: dict[str, pulumi.Resource] = {}

    def program() -> None:
        cluster = provision(stack, environment, load_prices())
        installed.update(operators.install(stack, environment, cluster))
        handed_over.append(cluster)

    seen = capture(program, Target("spotproof", stack), "unknown")
    releases = {one.name: one.urn for one in seen.resources if one.type == "kubernetes:helm.sh/v3:Release"}
    names = {key: str(resource._name) for key, resource in installed.items()}  # pyright: ignore[reportPrivateUsage]
    return Built(stack, environment, handed_over[0], {key: releases[name] for key, name in names.items()}, seen)


def record_gaps(one: Built) -> Iterator[str]:
    """What is wrong with the record of a cluster that a cloud handed over."""
    yield from _provider(one)
    yield from _pools(one, load_prices())
    yield from _places(one)
    yield from _workspaces(one)
    yield from _exports(one)


def _provider(one: Built) -> Iterator[str]:
    if not isinstance(cast("object", one.cluster.kubernetes_provider), k8s.Provider):
        yield "kubernetes_provider is no pulumi_kubernetes.Provider"
    for provider in _of(one, "pulumi:providers:kubernetes"):
        if not isinstance(provider.inputs.get("clusterIdentifier"), str):
            yield f"{provider.name} has no cluster_identifier that is known at the first preview"


def _pools(one: Built, prices: Prices) -> Iterator[str]:
    env = one.environment
    if set(one.cluster.pools) != {pool.name for pool in env.pools}:
        yield f"pools are {sorted(one.cluster.pools)}, and not those of the settings"
    for pool in env.pools:
        if scheduling := one.cluster.pools.get(pool.name):
            yield from (f"pools[{pool.name}] {gap}" for gap in _scheduling(pool, scheduling, env, prices))


def _cheapest(pool: Pool, env: Environment, prices: Prices) -> Price | None:
    here, wanted = env.provider, pool.accelerator
    machines = [here.machine(name) for name in pool.instance_types]
    apart = any(machine and machine.takes_accelerators for machine in machines)
    attached = (wanted.type, wanted.count) if wanted and apart else None
    return prices.cheapest(here.cloud, here.place, pool.instance_types, pool.capacity, attached)


def _scheduling(pool: Pool, found: Scheduling, env: Environment, prices: Prices) -> Iterator[str]:
    if not pool.selector.items() <= found.node_selector.items():
        yield f"selects {dict(found.node_selector)}, and not {pool.selector}"
    for taint in pool_taints(pool, env.provider.spot_taint):
        if not any(tolerates(each, taint) for each in found.tolerations):
            yield f"does not tolerate its own taint {taint['key']}"
    if found.accelerator != pool.accelerator:
        yield f"has accelerator {found.accelerator}, and the settings say {pool.accelerator}"
    if found.price != _cheapest(pool, env, prices):
        yield "has another price than that of its cheapest instance type"


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """As the scheduler does."""
    value = toleration["operator"] == "Exists" or toleration["value"] == taint["value"]
    return toleration["key"] == taint["key"] and toleration["effect"] == taint["effect"] and value


def _places(one: Built) -> Iterator[str]:
    """Where training saves, where operators run, what comes with the nodes, what all of it hangs on."""
    cluster, env = one.cluster, one.environment
    if cluster.checkpoints != _module(env.provider.cloud, "names").checkpoint_store(one.stack, env):
        yield "checkpoints is not what names.checkpoint_store says, by which jobs are rendered"
    system = cluster.system_scheduling
    if not (system.node_selector or system.keeps_off):
        yield "system_scheduling neither selects nodes nor keeps off any, so operators may land on spot"
    for pool in env.spot_pools:
        kept_off = any(value in system.keeps_off.get(label, ()) for label, value in pool.selector.items())
        if not kept_off and system.node_selector.items() <= pool.selector.items():
            yield f"system_scheduling lets operators land on {pool.name}, which is spot"
    known = {entry.provided_as for entry in OPERATORS.values()} - {""}
    if unknown := set(cluster.provides) - known:
        yield f"provides names {sorted(unknown)}, and operators know {sorted(known)}"
    ready, lifetime = list[object](cluster.ready), cast("object", cluster.lifetime)
    if not all(isinstance(resource, pulumi.Resource) for resource in ready):
        yield "ready holds something that is no resource"
    if lifetime is not None and not isinstance(lifetime, pulumi.CustomResource):
        yield "lifetime is no custom resource, and only one of those ends what is inside it"


def _workspaces(one: Built) -> Iterator[str]:
    wanted = {each.namespace: each.service_account for each in one.environment.workspaces}
    if dict(one.cluster.workspaces) != wanted:
        yield f"workspaces are {dict(one.cluster.workspaces)}, and the settings say {wanted}"
    spaces = {_name(resource): resource for resource in _of(one, "kubernetes:core/v1:Namespace")}
    accounts = {_name(resource) for resource in _of(one, "kubernetes:core/v1:ServiceAccount")}
    for namespace, account in wanted.items():
        if namespace not in spaces or account not in accounts:
            yield f"workspace {namespace} has no namespace or no service account {account}"
            continue
        for operator, urn in one.installed.items():
            release = next(each for each in one.seen.resources if each.urn == urn)
            if not release.deleted_with and urn not in spaces[namespace].dependencies:
                yield f"workspace {namespace} does not go before {operator}, whose finalizers its jobs carry"


def _exports(one: Built) -> Iterator[str]:
    if lacking := EXPORTS - set(one.cluster.exports):
        yield f"exports lack {', '.join(sorted(lacking))}"
    if one.cluster.exports.get("checkpointUri") != one.cluster.checkpoints.uri:
        yield "exports name another checkpointUri than checkpoints.uri"


def _of(one: Built, kind: str) -> list[Resource]:
    return [resource for resource in one.seen.resources if resource.type == kind]


def _name(resource: Resource) -> object:
    metadata = resource.inputs.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None
