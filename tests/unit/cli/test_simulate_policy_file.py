from pathlib import Path

import pytest

from spotproof.cli.simulate_policy_file import PolicyFileError, load_policy

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "manifests" / "fallback-policies.yaml"
ONE = """
apiVersion: spotproof.dev/v1alpha1
kind: FallbackPolicy
metadata: {name: one}
spec:
  tiers:
    - {pool: s, capacity: spot, nodeSelector: {a: b}, tolerations: [], usdPerNodeHour: 1.5, priceSource: a list}
    - {pool: o, capacity: on-demand, nodeSelector: {a: c}, tolerations: [], usdPerNodeHour: 3, priceSource: a list}
  deadline: {mode: pace}
"""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    return file


def test_a_rendered_object_is_the_policy_that_decides(tmp_path: Path) -> None:
    policy = load_policy(written(tmp_path, ONE))

    assert [(tier.pool, tier.spot, tier.usd) for tier in policy.tiers] == [("s", True, 1.5), ("o", False, 3)]
    assert (policy.mode, policy.restart) == ("pace", 720)


def test_of_several_objects_the_one_of_that_name_is_taken() -> None:
    assert load_policy(GOLDEN, "standard").mode == "guard"


def test_objects_of_other_kinds_beside_it_are_passed_over(tmp_path: Path) -> None:
    text = f"---\nkind: Namespace\nmetadata: {{name: x}}\n---\n{ONE}\n---\n"

    assert load_policy(written(tmp_path, text)).mode == "pace"


def test_a_list_as_kubectl_writes_it_is_read(tmp_path: Path) -> None:
    item = ONE.strip().replace("\n", "\n    ")

    assert load_policy(written(tmp_path, f"kind: List\nitems:\n  - {item}\n")).mode == "pace"


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("kind: Namespace", None, "holds no object of kind FallbackPolicy"),
        ("- a list", None, "is not a mapping"),
        ("a: [", None, "is not YAML at line"),
        (ONE, "two", 'none is called "two"; write .*policy.yaml:one'),
        (f"{ONE}---{ONE.replace('name: one', 'name: two')}", None, "which is not said; write .*:one or .*:two"),
        (ONE.replace("mode: pace", "mode: fast"), None, '"one" cannot be carried out .deadline.mode: '),
        (ONE.replace("capacity: spot, ", ""), None, "tiers.0.capacity: Field required"),
    ],
)
def test_what_holds_no_policy_is_refused(tmp_path: Path, text: str, name: str | None, says: str) -> None:
    with pytest.raises(PolicyFileError, match=says):
        load_policy(written(tmp_path, text), name)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(PolicyFileError, match="cannot be read"):
        load_policy(tmp_path / "none.yaml")
    with pytest.raises(PolicyFileError, match="not text in UTF-8"):
        load_policy(tmp_path / "binary")
