"""Tolerations are read as the scheduler reads them."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.controller.preflight import preflight
from spotproof.controller.preflight.tolerance import tolerates
from spotproof.fallback.resolved import TierToleration
from tests.portability.scheduler import Node, reasons_against
from tests.unit.controller.preflight.samples import JOBSET, POD_SPEC, changed, policy

KEYS = ["spotproof.dev/capacity", "nvidia.com/gpu"]
carried = st.fixed_dictionaries(
    {"operator": st.sampled_from(["Exists", "Equal"])},
    optional={
        "key": st.sampled_from([*KEYS, ""]),
        "value": st.sampled_from(["spot", "true", ""]),
        "effect": st.sampled_from(["NoSchedule", "NoExecute", ""]),
    },
)
wanted = st.builds(
    TierToleration,
    key=st.sampled_from(KEYS),
    operator=st.just("Equal"),
    value=st.sampled_from(["spot", "true", None]),
    effect=st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
)


@given(carried=carried, wanted=wanted)
@settings(max_examples=500)
def test_a_toleration_tolerates_what_the_scheduler_lets_through(
    carried: dict[str, Any], wanted: TierToleration
) -> None:
    taint = {"key": wanted.key, "value": wanted.value or "", "effect": wanted.effect}
    node = Node("n", {}, (taint,), {})
    if carried["operator"] == "Exists":
        carried.pop("value", None)  # the API server refuses it
    assert tolerates(carried, wanted) is not bool(reasons_against({"tolerations": [carried]}, node))


@given(carried=carried)
def test_a_taint_of_unknown_value_takes_exists(carried: dict[str, Any]) -> None:
    unknown = TierToleration(key="nvidia.com/gpu", operator="Exists", value=None, effect="NoSchedule")
    if tolerates(carried, unknown):
        assert carried["operator"] == "Exists"


def test_what_to_add_is_written_out_for_every_taint_of_every_tier() -> None:
    (refused,) = preflight(changed(JOBSET, (*POD_SPEC, "tolerations"), []), policy(), ())
    assert refused.message.startswith(
        "does not tolerate spotproof.dev/capacity and nvidia.com/gpu, which nodes of t4-spot and t4 carry; "
    )
    assert refused.remedy == (
        "Add `{key: spotproof.dev/capacity, operator: Equal, value: spot, effect: NoSchedule}` and "
        "`{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}`"
    )
