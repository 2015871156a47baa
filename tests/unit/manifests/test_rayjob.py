import shlex

import pytest

from spotproof.manifests.command import left_alone
from spotproof.manifests.gang import NO_LIMIT
from spotproof.manifests.jobs import notes
from spotproof.manifests.rayjob import CLUSTER_LABEL, entrypoint
from spotproof.settings.pools import Pool
from spotproof.vocabulary import CAPACITY_LABEL, GANG_LABEL, POOL_LABEL
from tests.unit.manifests.jobs import (
    Json,
    env_of,
    experiment,
    job,
    on_policy,
    on_pool,
    pod_templates,
    rendered,
    resources,
    stack,
    with_controller,
)

DEV = stack("aws-dev")


def selectors(manifest: Json) -> dict[str, Json]:
    return {role: template["spec"]["nodeSelector"] for role, template in pod_templates(manifest).items()}


ON_DEMAND_CPU = {POOL_LABEL: "cpu", CAPACITY_LABEL: "on-demand"}


def test_the_workers_are_on_the_tier_the_head_and_the_submitter_on_a_cheap_on_demand_pool() -> None:
    assert selectors(rendered(on_policy("kuberay", DEV))) == {
        "submitter": ON_DEMAND_CPU,
        "head": ON_DEMAND_CPU,
        "worker": {POOL_LABEL: "t4-spot"},
    }


def test_a_spot_pool_takes_the_workers_alone_an_on_demand_pool_all() -> None:
    on_spot = selectors(rendered(on_pool("kuberay", DEV.pool("l4-spot"))))
    on_demand = selectors(rendered(on_pool("kuberay", DEV.pool("t4"))))
    assert (on_spot["head"], on_spot["worker"]) == (ON_DEMAND_CPU, {POOL_LABEL: "l4-spot"})
    assert set(map(str, on_demand.values())) == {str({POOL_LABEL: "t4"})}


def without(*names: str) -> tuple[Pool, ...]:
    return tuple(pool for pool in DEV.pools if pool.name not in names)


def test_without_a_cpu_pool_the_head_takes_a_pool_with_gpus_that_is_on_demand() -> None:
    env = DEV.model_copy(update={"pools": without("cpu")})
    assert selectors(rendered(on_policy("kuberay", env), env))["head"][POOL_LABEL] == "t4"


def test_groups_of_workers_keep_their_names_and_sizes() -> None:
    raw = on_policy("kuberay", DEV)
    worker = raw["spec"]["types"].pop("Worker")
    raw["spec"]["types"]["Workers"] = [
        {"name": "trainers", **worker},
        {"name": "loaders", "count": 3, "resources": resources()},
    ]
    manifest = rendered(raw)
    groups = manifest["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert [(each["groupName"], each["minReplicas"], each["replicas"], each["maxReplicas"]) for each in groups] == [
        ("trainers", 2, 2, 2),
        ("loaders", 3, 3, 3),
    ]
    assert selectors(manifest)["loaders"] == ON_DEMAND_CPU


def test_it_can_be_suspended_and_moved() -> None:
    spec = rendered(on_policy("kuberay", DEV))["spec"]
    assert spec["shutdownAfterJobFinishes"] is True
    assert not {"clusterSelector", "deletionStrategy", "suspend", "activeDeadlineSeconds"} & set(spec)
    assert "enableInTreeAutoscaling" not in spec["rayClusterSpec"]


@pytest.mark.parametrize(
    ("raw", "controller", "limit", "preemptions"),
    [
        (experiment("kuberay", restartPolicy={"backoffLimit": 3}), False, 3, "0"),
        (on_policy("kuberay", DEV, restartPolicy={"backoffLimit": 3}), False, 3, "-1"),
        (on_policy("kuberay", DEV, restartPolicy={"backoffLimit": 3}), True, NO_LIMIT, "-1"),
    ],
)
def test_a_failure_is_counted_in_one_place(raw: Json, *, controller: bool, limit: int, preemptions: str) -> None:
    manifest = rendered(raw, with_controller(DEV) if controller else DEV)
    variables = env_of(pod_templates(manifest)["head"])
    assert manifest["spec"]["backoffLimit"] == limit
    assert variables["SPOTPROOF_MAX_FAILURES"] == "0"
    assert variables["SPOTPROOF_MAX_PREEMPTION_FAILURES"] == preemptions


def test_no_limit_is_one_that_kuberay_can_add_one_to() -> None:
    assert NO_LIMIT + 1 < 2**31


def test_every_ray_pod_knows_its_attempt_by_its_clusters_name() -> None:
    templates = pod_templates(rendered(on_policy("kuberay", DEV)))
    assert env_of(templates["head"])["SPOTPROOF_ATTEMPT"] == f"<{CLUSTER_LABEL}>"
    assert env_of(templates["worker"])["SPOTPROOF_ATTEMPT"] == f"<{CLUSTER_LABEL}>"


def test_ray_drains_within_the_pods_grace() -> None:
    template = pod_templates(rendered(on_policy("kuberay", DEV)))["worker"]
    drain = int(env_of(template)["RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"])
    assert 0 < drain < template["spec"]["terminationGracePeriodSeconds"]


def test_a_programs_notice_is_rays_drain() -> None:
    for role in ("head", "worker"):
        variables = env_of(pod_templates(rendered(on_policy("kuberay", DEV)))[role])
        assert variables["SPOTPROOF_NOTICE_SECONDS"] == variables["RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"]


def test_the_heads_zone_does_not_bind_the_workers() -> None:
    templates = pod_templates(rendered(on_policy("kuberay", DEV)))
    affinity = templates["worker"]["spec"]["affinity"]["podAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"]["matchLabels"][GANG_LABEL] == templates["worker"]["metadata"]["labels"][GANG_LABEL]
    assert templates["head"]["metadata"]["labels"][GANG_LABEL] == "pool-cpu"
    assert GANG_LABEL not in templates["submitter"]["metadata"]["labels"]
    assert term["matchLabelKeys"] == [CLUSTER_LABEL]


@pytest.mark.parametrize(
    ("command", "submitted"),
    [
        ("python3 -u main.py --operator=kuberay", "python3 -u main.py --operator=kuberay"),
        (["python3", "main.py"], "python3 main.py"),
        ("cd /app && python3 main.py", "sh -c 'cd /app && python3 main.py'"),
        ("python3 main.py --run $(date +%s)", "sh -c 'python3 main.py --run $$(date +%s)'"),
        ("python3 main.py --out $CHECKPOINT_URI", "sh -c 'python3 main.py --out $CHECKPOINT_URI'"),
    ],
)
def test_the_submitters_shell_reads_nothing_of_the_command(command: str | list[str], submitted: str) -> None:
    assert entrypoint(command) == submitted
    line = left_alone(command) if isinstance(command, str) else shlex.join(command)
    assert shlex.split(submitted) in (["sh", "-c", line], shlex.split(line))


@pytest.mark.parametrize(
    ("memory", "shm", "is_said"), [(12, 3, True), (12, 4, False), (12, 0, False), (30, 9, False), (30, 8, True)]
)
def test_an_object_store_that_goes_to_disk_is_said(memory: float, shm: float, *, is_said: bool) -> None:
    asked = {"cpus": 1, "memory": memory, "shmSizeGB": shm}
    raw = experiment("kuberay", {"count": 1, "resources": asked})
    assert any("Ray keeps all of it on disk" in note for note in notes(job(raw))) is is_said
