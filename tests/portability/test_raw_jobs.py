"""Jobs as the documents have them, with no help but the cluster's own admission."""

import pytest

from tests.portability.admission import admitted
from tests.portability.documents import DOCUMENTS, Document, raw_pod
from tests.portability.landing import stack
from tests.stacks.runs import STACKS


@pytest.mark.parametrize("gpus", [0, 1])
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.words)
@pytest.mark.parametrize("name", STACKS)
def test_a_job_as_it_is_written_lands_on_the_capacity_it_means_or_nowhere(
    name: str, document: Document, gpus: int
) -> None:
    here = stack(name)

    pools = here.lands_on(admitted(raw_pod(document, gpus=gpus), here.env))

    assert here.capacities(pools) <= {document.capacity}


AT_HOME = [("aws", DOCUMENTS[0]), ("aws", DOCUMENTS[1]), ("azure", DOCUMENTS[0]), ("gcp", DOCUMENTS[2])]


@pytest.mark.parametrize(("cloud", "document"), AT_HOME, ids=[f"{cloud}: {one.words}" for cloud, one in AT_HOME])
def test_a_job_lands_in_the_cloud_it_was_written_for(cloud: str, document: Document) -> None:
    for name in STACKS:
        here = stack(name)
        if here.env.provider.cloud == cloud and any(pool.is_spot and pool.accelerator for pool in here.env.pools):
            assert here.lands_on(admitted(raw_pod(document, gpus=1), here.env)), name


def test_without_the_admission_policies_a_selector_alone_waits_for_ever() -> None:
    here = stack("aws-dev")

    assert here.lands_on(raw_pod(DOCUMENTS[0], gpus=1)) == ()
