"""Our preview shows what the real engine shows at the first preview of a stack, resource by resource."""

from collections.abc import Callable

from tests.engine.known_differences import known_in
from tests.engine.life import Life
from tests.engine.parity import FIELDS, differences, of_ours
from tests.stacks.runs import preview_of


def test_our_preview_is_the_engines_but_for_the_known_differences(
    life: Life, golden: Callable[[str, object], None]
) -> None:
    engine, ours = life.seen(), of_ours(preview_of(life.name).capture)

    found = differences(engine, ours)

    known = known_in(life.name)
    unknown = [one for one in found if not any(entry.covers(one) for entry in known)]
    stale = [entry for entry in known if not any(entry.covers(one) for one in found)]
    assert unknown == []
    assert stale == []
    different = {one.urn for one in found}
    golden(
        f"engine/parity/{life.name}.yaml",
        {
            "resources": len(engine),
            "equal in every field": len(engine) - len(different),
            "fields compared": len(engine) * len(FIELDS),
            "known differences": [
                {"resource": one.urn.partition("::")[2], "field": one.field, "engine": one.engine, "ours": one.ours}
                for one in found
            ],
        },
    )
