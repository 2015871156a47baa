import copy
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spotproof.manifests.gang import LOST_NODE_SECONDS, NO_LIMIT
from spotproof.manifests.jobs import notes, render
from spotproof.manifests.jobset import ATTEMPT_LABEL, SHELL_SECONDS
from spotproof.vocabulary import (
    BACKOFF_LIMIT_ANNOTATION,
    CAPACITY_LABEL,
    FALLBACK_POLICY_LABEL,
    GANG_LABEL,
    POOL_LABEL,
    RUN_LABEL,
    TOLERATIONS,
    WORKSPACE_LABEL,
)
from tests.unit.manifests.crds import errors, read_crd, schema_of
from tests.unit.manifests.jobs import (
    SPOT_FRAGMENTS,
    STACKS,
    Json,
    env_of,
    experiment,
    experiments,
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


@pytest.fixture(scope="session")
def misfits(shared: Path) -> Callable[[Json], list[str]]:
    """Judges an object by its operator's CRD. A function, because hypothesis cannot report a test with such schemas."""
    crds = {"JobSet": "jobset/jobset.x-k8s.io_jobsets.yaml", "RayJob": "kuberay/ray.io_rayjobs.yaml"}
    schemas = {kind: schema_of(read_crd(shared / "crds" / file)) for kind, file in crds.items()}
    return lambda manifest: errors(schemas[manifest["kind"]], manifest)


CASES: dict[str, Json] = {
    f"{operator}-{way}": raw
    for operator in ("jobset", "kuberay")
    for way, raw in {
        "policy": on_policy(operator, DEV),
        "pool": on_pool(operator, DEV.pool("t4-spot")),
        "neither": experiment(operator),
        "eks-fragment": experiment(operator, {"resources": resources(**SPOT_FRAGMENTS["eks"])}),
    }.items()
}


@pytest.mark.parametrize("case", CASES)
def test_a_job_is_as_reviewed(case: str, golden: Callable[[str, object], None]) -> None:
    golden(f"jobs/{case}.yaml", rendered(CASES[case]))


def test_a_gang_of_several_roles_is_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("jobs/jobset-roles.yaml", rendered(roles()))


def roles() -> Json:
    raw = on_policy("jobset", DEV)
    raw["spec"]["types"]["Master"] = {"resources": {"cpus": 2, "memory": 4}}
    return raw


@pytest.mark.parametrize("operator", ["jobset", "kuberay"])
@pytest.mark.parametrize("name", STACKS)
def test_a_job_fits_its_operators_crd_on_every_stack(
    name: str, operator: str, misfits: Callable[[Json], list[str]]
) -> None:
    env = stack(name)
    raws = [experiment(operator), *(on_pool(operator, pool) for pool in env.pools)]
    if env.fallback_policies:
        raws.append(on_policy(operator, env))
    for raw in raws:
        manifest = rendered(raw, stack_name=name)
        assert misfits(manifest) == []


def test_a_field_the_crd_does_not_know_would_be_found(misfits: Callable[[Json], list[str]]) -> None:
    damaged = rendered(CASES["jobset-policy"])
    damaged["spec"]["failurePolicy"]["maxRestart"] = 3
    damaged["spec"]["failurePolicy"]["restartStrategy"] = "Later"
    assert len(misfits(damaged)) == 2


@pytest.mark.parametrize("name", STACKS)
@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_what_holds_for_every_job(name: str, data: st.DataObject, misfits: Callable[[Json], list[str]]) -> None:
    env = stack(name)
    raw = data.draw(experiments(env))
    made = job(raw, stack_name=name)
    manifest: Json = render(made)

    assert misfits(manifest) == []
    for role, template in pod_templates(manifest).items():
        spec = template["spec"]
        variables = env_of(template)
        assert spec["restartPolicy"] == "Never"
        assert spec["serviceAccountName"] == env.workspaces[0].service_account
        assert all(each in spec["tolerations"] for each in TOLERATIONS)
        lost = [each for each in spec["tolerations"] if "tolerationSeconds" in each]
        assert [each["tolerationSeconds"] for each in lost] == [LOST_NODE_SECONDS] * 2
        assert variables["SPOTPROOF_RUN"] == "demo"
        assert variables["CHECKPOINT_URI"] == f"{made.store.prefix(env.workspaces[0].namespace)}/demo"
        assert made.store.pod_env.items() <= variables.items()
        assert role == "submitter" or made.store.pod_labels.items() <= template["metadata"]["labels"].items()
        if role != "submitter":
            assert spec["terminationGracePeriodSeconds"] == env.provider.grace_seconds
            assert variables["SPOTPROOF_ATTEMPT"].startswith("<")
            assert 0 < int(variables["SPOTPROOF_NOTICE_SECONDS"]) < spec["terminationGracePeriodSeconds"]
        if role in {"head", "submitter"}:
            assert not env.pool(spec["nodeSelector"][POOL_LABEL]).is_spot
    if manifest["kind"] == "JobSet":
        for each in manifest["spec"]["replicatedJobs"]:
            inner = each["template"]["spec"]
            assert (inner["backoffLimit"], inner["podReplacementPolicy"]) == (0, "Failed")
        assert manifest["spec"]["failurePolicy"]["restartStrategy"] == "BlockingRecreate"


@pytest.mark.parametrize("operator", ["jobset", "kuberay"])
def test_pods_get_a_token_only_where_there_is_a_training_run_to_write_to(operator: str) -> None:
    for env, raw, has_token in (
        (with_controller(DEV), on_policy(operator, DEV), True),
        (DEV, on_policy(operator, DEV), False),
        (with_controller(DEV), experiment(operator), False),
    ):
        worker = pod_templates(rendered(raw, env))["worker"]
        assert worker["spec"]["automountServiceAccountToken"] is has_token


@pytest.mark.parametrize("operator", ["jobset", "kuberay"])
def test_a_trainer_saves_as_often_as_its_policy_reckons_with_and_without_one_as_it_likes(operator: str) -> None:
    every = timedelta(minutes=20)
    first, *rest = DEV.fallback_policies
    policy = first.model_copy(update={"deadline": first.deadline.model_copy(update={"checkpoint_every": every})})
    env = DEV.model_copy(update={"fallback_policies": (policy, *rest)})
    name = "SPOTPROOF_CHECKPOINT_SECONDS"
    with_policy = pod_templates(rendered(on_policy(operator, env), env))
    without = pod_templates(rendered(on_pool(operator, DEV.pool("t4-spot"))))
    assert {env_of(each).get(name) for role, each in with_policy.items() if role != "submitter"} == {"1200"}
    assert {env_of(each).get(name) for each in without.values()} == {None}


@pytest.mark.parametrize("name", STACKS)
def test_a_rank_has_the_clouds_notice_but_for_what_its_shell_needs(name: str) -> None:
    env = stack(name)
    variables = env_of(pod_templates(rendered(experiment("jobset"), stack_name=name))["worker"])
    assert int(variables["SPOTPROOF_NOTICE_SECONDS"]) == env.provider.grace_seconds - SHELL_SECONDS


def test_a_pod_knows_how_many_there_are_of_its_role() -> None:
    templates = pod_templates(rendered(roles()))
    assert {role: env_of(each)["SPOTPROOF_PODS"] for role, each in templates.items()} == {"worker": "2", "master": "1"}


@pytest.mark.parametrize(
    ("pool", "way_in_is_known", "is_said"), [("t4-spot", False, True), ("t4-spot", True, False), ("t4", False, False)]
)
def test_a_job_on_spot_whose_pods_nobody_lets_into_the_store_is_warned_about(
    pool: str, *, way_in_is_known: bool, is_said: bool
) -> None:
    made = job(on_pool("jobset", DEV.pool(pool)))
    made = replace(made, store=replace(made.store, way_in_is_known=way_in_is_known))
    assert any("the first eviction loses all of it" in note for note in notes(made)) is is_said


def actions(manifest: Json) -> dict[str, str]:
    return {rule["name"]: rule["action"] for rule in manifest["spec"]["failurePolicy"]["rules"]}


@pytest.mark.parametrize("limit", [1, 5])
def test_without_a_policy_every_restart_counts_up_to_the_files_limit(limit: int) -> None:
    raw = on_pool("jobset", DEV.pool("t4-spot"), restartPolicy={"backoffLimit": limit})
    manifest = rendered(raw)
    assert manifest["spec"]["failurePolicy"]["maxRestarts"] == limit
    assert actions(manifest) == {"evicted": "RestartJobSet", "killed": "RestartJobSet"}
    assert FALLBACK_POLICY_LABEL not in manifest["metadata"]["labels"]


def test_with_a_policy_and_a_controller_jobset_counts_nothing_and_the_controller_is_told_the_limit() -> None:
    manifest = rendered(on_policy("jobset", DEV, restartPolicy={"backoffLimit": 3}), with_controller(DEV))
    assert manifest["spec"]["failurePolicy"]["maxRestarts"] == NO_LIMIT
    assert set(actions(manifest).values()) == {"RestartJobSetAndIgnoreMaxRestarts"}
    assert manifest["metadata"]["annotations"] == {BACKOFF_LIMIT_ANNOTATION: "3"}


def test_with_a_policy_and_nobody_to_carry_it_out_an_endless_loop_is_still_ended() -> None:
    manifest = rendered(on_policy("jobset", DEV, restartPolicy={"backoffLimit": 3}))
    assert manifest["spec"]["failurePolicy"]["maxRestarts"] == 3
    assert actions(manifest) == {"evicted": "RestartJobSetAndIgnoreMaxRestarts", "killed": "RestartJobSet"}


MESSAGES = {
    # as kubernetes/pkg/controller/job/pod_failure_policy.go writes them
    "Pod research/demo-worker-0-0-x has condition DisruptionTarget matching FailJob rule at index 0": "evicted",
    "Container train for pod research/demo-x failed with exit code 137 matching FailJob rule at index 1": "killed",
    "Container train for pod research/demo-x failed with exit code 143 matching FailJob rule at index 1": "killed",
    "Container train for pod research/demo-x failed with exit code 13 matching FailJob rule at index 1": None,
    "Job has reached the specified backoff limit": None,
}


@pytest.mark.parametrize(("message", "rule"), MESSAGES.items())
def test_jobsets_rules_tell_evicted_from_killed_by_the_jobs_message(message: str, rule: str | None) -> None:
    rules = rendered(on_policy("jobset", DEV))["spec"]["failurePolicy"]["rules"]
    matching = [
        each["name"]
        for each in rules
        if any(re.search(pattern, message) for pattern in each["onJobFailureMessagePatterns"])
    ]
    assert matching[:1] == ([rule] if rule else [])


def test_disruption_is_looked_at_before_exit_codes() -> None:
    manifest = rendered(on_policy("jobset", DEV))
    (each,) = manifest["spec"]["replicatedJobs"]
    first, second = each["template"]["spec"]["podFailurePolicy"]["rules"]
    assert first["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]
    assert second["onExitCodes"]["values"] == [137, 143]


def test_a_roles_pods_are_one_indexed_job() -> None:
    (each,) = rendered(experiment("jobset"))["spec"]["replicatedJobs"]
    inner = each["template"]["spec"]
    assert (inner["completionMode"], inner["parallelism"], inner["completions"]) == ("Indexed", 2, 2)


def test_a_job_names_its_run_its_workspace_and_its_policy() -> None:
    labels = rendered(on_policy("jobset", DEV))["metadata"]["labels"]
    assert (labels[RUN_LABEL], labels[WORKSPACE_LABEL], labels[FALLBACK_POLICY_LABEL]) == (
        "demo",
        "research",
        "standard",
    )


def selectors(manifest: Json) -> dict[str, Json]:
    return {role: template["spec"]["nodeSelector"] for role, template in pod_templates(manifest).items()}


def test_on_tiers_a_job_has_the_one_key_that_moves_it_and_no_other() -> None:
    assert selectors(rendered(on_policy("jobset", DEV))) == {"worker": {POOL_LABEL: "t4-spot"}}


def test_with_neither_policy_nor_pool_on_demand_is_written_out() -> None:
    assert selectors(rendered(experiment("jobset"))) == {"worker": {POOL_LABEL: "cpu", CAPACITY_LABEL: "on-demand"}}


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("fragment", SPOT_FRAGMENTS)
def test_the_documents_spot_fragments_land_on_spot_or_on_the_policys_tier(fragment: str, *, inside: bool) -> None:
    own = copy.deepcopy(SPOT_FRAGMENTS[fragment])
    role: Json = {"resources": resources(**own)} if inside else {"resources": resources(), **own}
    assert selectors(rendered(experiment("jobset", role)))["worker"][CAPACITY_LABEL] == "spot"
    with_gpu: Json = {**role, "resources": {**role["resources"], "accelerators": {"gpu": {"count": 1}}}}
    moved = rendered(experiment("jobset", with_gpu, fallbackPolicy="standard"))
    assert selectors(moved) == {"worker": {POOL_LABEL: "t4-spot"}}


def test_a_toleration_of_the_file_is_kept_and_one_that_is_there_is_not_repeated() -> None:
    role = copy.deepcopy(SPOT_FRAGMENTS["gke"])
    role["extraTolerations"].append({"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"})
    tolerations = pod_templates(rendered(experiment("jobset", role)))["worker"]["spec"]["tolerations"]
    assert [each["key"] for each in tolerations].count("cloud.google.com/gke-spot") == 1
    assert {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"} in tolerations


def test_a_role_without_gpus_stays_on_demand_while_the_others_move() -> None:
    assert selectors(rendered(roles())) == {
        "worker": {POOL_LABEL: "t4-spot"},
        "master": {POOL_LABEL: "cpu", CAPACITY_LABEL: "on-demand"},
    }


def affinities(manifest: Json) -> dict[str, Json | None]:
    return {role: template["spec"].get("affinity") for role, template in pod_templates(manifest).items()}


def test_only_pods_that_land_together_are_kept_in_one_zone() -> None:
    manifest = rendered(roles())
    found = affinities(manifest)
    assert found["master"] is None
    assert found["worker"]
    (term,) = found["worker"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    templates = pod_templates(manifest)
    labels = {role: template["metadata"]["labels"] for role, template in templates.items()}
    wanted = term["labelSelector"]["matchLabels"]
    assert wanted == {RUN_LABEL: "demo", GANG_LABEL: "tiers"}
    assert wanted.items() <= labels["worker"].items()
    assert not wanted.items() <= labels["master"].items()
    assert term["matchLabelKeys"] == [ATTEMPT_LABEL]


def test_a_pool_of_one_zone_and_a_gang_of_one_pod_need_no_affinity() -> None:
    prod = stack("aws-prod")
    one_zone = on_pool("jobset", prod.pool("a100-spot-a"))
    assert affinities(rendered(one_zone, stack_name="aws-prod")) == {"worker": None}
    assert affinities(rendered(experiment("jobset", {"count": 1}))) == {"worker": None}


def test_tiers_of_one_zone_each_still_need_it_where_the_last_one_spans_zones() -> None:
    prod = stack("aws-prod")
    assert affinities(rendered(on_policy("jobset", prod), stack_name="aws-prod"))["worker"]


def test_shared_memory_is_memory_of_the_pod_and_nothing_without_it() -> None:
    template = pod_templates(rendered(experiment("jobset", {"resources": resources(shmSizeGB=0.5)})))["worker"]
    assert template["spec"]["volumes"] == [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "512Mi"}}]
    assert "volumes" not in pod_templates(rendered(experiment("jobset")))["worker"]["spec"]


@pytest.mark.parametrize(("role", "coordinator"), [("Master", "master"), ("Evaluator", "worker")])
def test_the_coordinator_is_the_role_named_so_or_the_first(role: str, coordinator: str) -> None:
    raw = experiment("jobset")
    raw["spec"]["types"][role] = {"resources": resources()}
    manifest = rendered(raw)
    assert manifest["spec"]["coordinator"]["replicatedJob"] == coordinator
    variables = env_of(pod_templates(manifest)["worker"])
    assert variables["SPOTPROOF_COORDINATOR"] == f"demo-{coordinator}-0-0.demo"
