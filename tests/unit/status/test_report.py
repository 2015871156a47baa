"""A look into a cluster as JSON."""

from collections.abc import Callable
from typing import Any

from spotproof.status.report import document, report
from tests.unit.status.worlds import EVERYTHING, NOW

Golden = Callable[[str, object], None]


def test_the_document_of_a_cluster(golden: Golden) -> None:
    golden("status/everything.yaml", document(report(EVERYTHING, NOW, "all namespaces")))


def test_the_document_of_one_job_has_its_whole_story(golden: Golden) -> None:
    golden("status/story.yaml", document(report(EVERYTHING, NOW, "all namespaces", "llama-70b")))


def test_a_name_selects_jobs_with_and_without_a_policy() -> None:
    def names(job: str) -> list[Any]:
        found = document(report(EVERYTHING, NOW, "all namespaces", job))
        return [each["name"] for part in ("jobs", "withoutPolicy") for each in found[part]]

    assert names("tune") == ["tune"]
    assert names("sweep") == ["sweep"]
    assert names("nobody") == []
