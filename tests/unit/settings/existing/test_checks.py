"""What nodes, people and stores of somebody else refuse, and what each refusal says to run or write."""

from contextlib import suppress
from datetime import date
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.settings import Environment, SettingsError, load_environment, load_stack
from tests.unit.settings.damage import EXISTING

TODAY = date(2026, 11, 20)
PROVIDER: dict[str, object] = {"cloud": "existing", "context": "kind-kind"}


def pool(name: str, **changes: object) -> dict[str, object]:
    return {"name": name, "capacity": "on-demand", "maxNodes": 1} | changes


def spot(name: str, **changes: object) -> dict[str, object]:
    return pool(name, capacity="spot", **changes)


def raw(**changes: object) -> dict[str, Any]:
    return {"provider": PROVIDER, "pools": [pool("a")], "checkpoints": {"uri": "s3://team/lab"}} | changes


def load(**changes: object) -> Environment:
    return load_environment(raw(**changes), today=TODAY)


def tiers(*names: str) -> list[object]:
    return [{"name": "standard", "tiers": [{"pool": name} for name in names]}]


KUBECTL = "kubectl --context kind-kind label nodes"

# ruff: noqa: E501 - a table reads by its columns
REFUSED: list[tuple[dict[str, object], str, str]] = [
    # what is changed, the key of the problem, a part of what it says
    ({"pools": None}, "pools", "Write `pools: [{name: cpu, capacity: on-demand, maxNodes: 8}]`"),
    ({"spot": True, "pools": None}, "spot", "there are none here"),
    ({"network": {"zones": 2}}, "network", "this cluster has its own"),
    ({"controlPlane": {"publicAccessCidrs": ["203.0.113.0/24"]}}, "controlPlane", "somebody else's"),
    ({"logs": {"retainDays": 7}}, "logs", "where the cluster sends them"),
    ({"tags": {"team": "research"}}, "tags", "Remove it"),
    ({"access": {"admins": ["user:ada"]}}, "access.admins", "kubectl create clusterrolebinding"),
    ({"spotServiceLinkedRole": "create"}, "spotServiceLinkedRole", "AWS account"),
    ({"kubernetesVersion": "1.34"}, "kubernetesVersion", "Upgrade the cluster"),
    ({"pools": [pool("a", diskGib=500)]}, "pools[0].diskGib", "somebody else's"),
    ({"pools": [pool("a", consolidateAfter="1h")]}, "pools[0].consolidateAfter", "autoscaler"),
    ({"pools": [spot("a", spotMaxPrice=1.5)]}, "pools[0].spotMaxPrice", "where nodes are bought"),
    ({"pools": [pool("a", zones=["z"])]}, "pools[0].zones", "topology.kubernetes.io/zone"),
    ({"pools": [pool("a", autoscaler="cluster-autoscaler")]}, "pools[0].autoscaler", "AKS"),
    ({"pools": [pool("a", instanceTypes=["m7i.large"])]}, "pools[0].instanceTypes", "Write `prices: prices.yaml`"),
    ({"pools": [pool("a", nodeLabels={})]}, "pools[0].nodeLabels", "land on any node"),
    ({"pools": [pool("a", nodeLabels={f"l{n}": "x" for n in range(9)})]}, "pools[0].nodeLabels", "8 at most"),
    ({"pools": [pool("a", taints=[{"key": f"t{n}"} for n in range(17)])]}, "pools[0].taints", "16 at most"),
    ({"pools": [pool("a", taints=[{"key": "x", "effect": "PreferNoSchedule"}])]}, "pools[0].taints[0].effect", "NoSchedule"),
    ({"pools": [pool("a", nodeLabels={"group": "g"}), pool("b", nodeLabels={"group": "g"})]}, "pools[1].nodeLabels",
     "`kubectl --context kind-kind label node <name> spotproof.dev/pool=<pool>`"),
    ({"pools": [pool("a", nodeLabels={"group": "g"}), pool("b", nodeLabels={"group": "g", "disk": "ssd"})]}, "pools[1].nodeLabels",
     f"Run `{KUBECTL} -l group=g,disk=ssd spotproof.dev/pool=b` and then `{KUBECTL} -l 'group=g,spotproof.dev/pool!=b' spotproof.dev/pool=a`"),
    ({"pools": [spot("a-spot", nodeLabels={"group": "g"}), pool("a")], "fallbackPolicies": tiers("a-spot", "a")},
     "fallbackPolicies[0].tiers[1].pool", f"Run `{KUBECTL} -l group=g spotproof.dev/pool=a-spot`, and leave nodeLabels out of that pool"),
    ({"pools": [spot("a-spot", nodeLabels={"group": "g"}), pool("a", nodeLabels={"kind": "k"})], "fallbackPolicies": tiers("a-spot", "a")},
     "fallbackPolicies[0].tiers[1].pool", f"Run `{KUBECTL} -l group=g spotproof.dev/pool=a-spot` and `{KUBECTL} -l kind=k spotproof.dev/pool=a`"),
    ({"pools": [spot("a", nodeLabels={"x": "1", "y": "1"}), pool("b", nodeLabels={"x": "1", "y": "2"}), pool("c", nodeLabels={"x": "2", "y": "1"})]},
     "pools[0].nodeLabels", f"Run `{KUBECTL} -l x=1,y=1 spotproof.dev/pool=a`"),
    ({"checkpoints": {}}, "checkpoints.uri", "nowhere to save"),
    ({"checkpoints": {"uri": "ftp://team"}}, "checkpoints.uri", "where training saves"),
    ({"checkpoints": {"uri": "az://team"}}, "checkpoints.uri", "Write abfss://<container>@<account>"),
    ({"checkpoints": {"uri": "https://store.example/team"}}, "checkpoints.uri", "(AWS_ENDPOINT_URL)"),
    ({"checkpoints": {"uri": "file:///mnt/team"}}, "checkpoints.uri", "Write pvc://<claim>"),
    ({"checkpoints": {"uri": "pvc://claim", "secret": "keys"}}, "checkpoints.secret", "beside pvc://claim"),
    ({"checkpoints": {"uri": "s3://team", "protect": False}}, "checkpoints.protect", "bucket made here"),
    ({"checkpoints": {"uri": "s3://team", "versioning": False}}, "checkpoints.versioning", "bucket made here"),
    ({"checkpoints": {"uri": "s3://team", "retainDays": 7}}, "checkpoints.retainDays", "bucket made here"),
    ({"workspaces": [{"namespace": "a", "members": ["ada"]}]}, "workspaces[0].members[0]", "`user:ada`"),
    ({"workspaces": [{"namespace": "a", "members": ["group:system:authenticated"]}]}, "workspaces[0].members[0]", "group of Kubernetes itself"),
    ({"provider": {"cloud": "existing"}}, "provider.context", "context of the kubeconfig"),
    ({"provider": PROVIDER | {"kubeconfig": "config"}}, "provider.kubeconfig", "~/.kube/config"),
    ({"provider": PROVIDER | {"region": "us-west-2"}}, "provider.region", "Known here: cloud, context, kubeconfig, clusterName"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "key", "says"), REFUSED, ids=[f"{key}: {says}" for _, key, says in REFUSED])
def test_a_setting_that_cannot_work_is_refused_under_its_key(changes: dict[str, object], key: str, says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(**changes)

    found = {problem.key: str(problem) for problem in caught.value.problems}
    assert says in found.get(key, f"{key} is not among {sorted(found)}")


def test_a_kubeconfig_written_into_the_settings_is_refused_and_not_repeated() -> None:
    content = "apiVersion: v1\nusers: [{user: {token: hunter2}}]"

    with pytest.raises(SettingsError, match="pulumi config set --secret spotproof:kubeconfig") as caught:
        load(provider=PROVIDER | {"kubeconfig": content})

    assert "hunter2" not in str(caught.value)


SECURE = {"secure": "v1:abc:def"}


def stack(key: object, provider: dict[str, object]) -> None:
    load_stack({"spotproof:environment": raw(provider=provider), "spotproof:kubeconfig": key}, today=TODAY)


def test_an_encrypted_kubeconfig_may_stand_beside_the_environment() -> None:
    stack(SECURE, PROVIDER)


@pytest.mark.parametrize("plain", ["apiVersion: hunter2", {"token": "hunter2"}, 5, None])
def test_a_kubeconfig_in_plain_text_is_refused_and_not_repeated(plain: object) -> None:
    with pytest.raises(SettingsError, match=r"is in plain text; .*`pulumi config set --secret") as caught:
        stack(plain, PROVIDER)

    assert "hunter2" not in str(caught.value)


def test_of_two_kubeconfigs_none_silently_wins() -> None:
    with pytest.raises(SettingsError, match=r"beside provider\.kubeconfig; one of the two would silently win"):
        stack(SECURE, PROVIDER | {"kubeconfig": "~/.kube/config"})


def test_a_kubeconfig_means_nothing_to_a_cloud_that_makes_its_cluster() -> None:
    aws = {"provider": {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}, "spot": True}

    with pytest.raises(SettingsError, match=r"belongs to `provider: \{cloud: existing\}` alone"):
        load_stack({"spotproof:environment": aws, "spotproof:kubeconfig": SECURE}, today=TODAY)


@pytest.mark.parametrize(
    "member", ["user:ada", "group:research", "user:system:serviceaccount:ci:deployer", "user:a@b.c"]
)
def test_people_are_named_as_kubernetes_knows_them(member: str) -> None:
    assert load(workspaces=[{"namespace": "a", "members": [member]}]).workspaces[0].members == (member,)


def test_a_pool_is_known_by_its_name_or_by_what_its_nodes_carry() -> None:
    env = load(pools=[pool("a"), pool("b", nodeLabels={"group": "b"})])

    assert [one.selector for one in env.pools] == [{"spotproof.dev/pool": "a"}, {"group": "b"}]


def test_an_instance_type_names_a_line_of_a_prices_file() -> None:
    assert load(pools=[pool("a", instanceTypes=["box"])], prices="prices.yaml").pools[0].instance_types == ("box",)


LABELS = st.dictionaries(st.sampled_from(["group", "disk", "gpu"]), st.sampled_from(["a", "b", "c"]), max_size=3)


@st.composite
def labelled(draw: st.DrawFn) -> dict[str, Any]:
    count = draw(st.integers(1, 4))
    pools: list[dict[str, object]] = []
    for number in range(count):
        labels = draw(st.none() | LABELS)
        capacity = draw(st.sampled_from(["spot", "on-demand"]))
        pools.append(pool(f"p{number}", capacity=capacity) | ({} if labels is None else {"nodeLabels": labels}))
    names = draw(st.lists(st.sampled_from([str(one["name"]) for one in pools]), min_size=1, max_size=3, unique=True))
    policy = [{"name": "standard", "tiers": [{"pool": name, "maxFailures": -1} for name in names]}]
    return raw(pools=pools, fallbackPolicies=policy)


@given(labelled())
def test_whatever_labels_are_accepted_no_node_is_of_two_pools_and_no_move_leaves_a_key_behind(
    document: dict[str, Any],
) -> None:
    with suppress(SettingsError):
        env = load_environment(document, today=TODAY)
        told = [one.selector for one in env.pools]
        assert all(told)
        assert not [True for one, other in permutations(told, 2) if one.items() <= other.items()]
        assert len({frozenset(env.pool(tier.pool).selector) for tier in env.fallback_policies[0].tiers}) == 1


def test_an_environment_written_out_whole_reads_back_as_itself() -> None:
    env = load_environment(EXISTING, today=TODAY)
    written = env.model_dump(mode="json", by_alias=True, exclude_none=True)

    assert load_environment(written, today=TODAY) == env
