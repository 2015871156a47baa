import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from spotproof.manifests.yaml_text import documents
from tests.unit.manifests.jobs import CASES_TEXT

VALUES = st.recursive(
    st.text(max_size=20) | st.sampled_from(CASES_TEXT) | st.integers(-5, 5) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize("version", ["1.1", "1.2"])
@given(value=st.dictionaries(st.text(max_size=8) | st.sampled_from(CASES_TEXT), VALUES, min_size=1, max_size=4))
def test_both_versions_of_yaml_read_back_what_was_written(version: str, value: dict[str, object]) -> None:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = version
    assert yaml.load(documents([value])) == value


def test_it_is_written_to_be_read() -> None:
    text = documents(
        [{"kind": "JobSet", "spec": {"command": "a\nb\n", "value": "true", "list": ["x", "-c"]}}, {"a": 1}]
    )
    assert text == (
        'kind: JobSet\nspec:\n  command: |\n    a\n    b\n  value: "true"\n  list:\n    - x\n    - "-c"\n---\na: 1\n'
    )
