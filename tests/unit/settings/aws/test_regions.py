"""The table of regions against the SDK's own."""

import botocore.session
import pytest

from spotproof.settings import SettingsError, load_environment
from spotproof.settings.aws.regions import REGIONS, ZONE_LETTERS
from tests.unit.manifests.samples import TODAY


def test_the_regions_are_those_in_which_the_sdk_knows_eks() -> None:
    session = botocore.session.get_session()
    known = {
        region
        for partition in ("aws", "aws-cn", "aws-us-gov")
        for region in session.get_available_regions("eks", partition_name=partition)
    }

    assert known == REGIONS
    assert set(ZONE_LETTERS) <= REGIONS


def test_a_region_that_does_not_exist_is_refused_with_its_nearest_name() -> None:
    with pytest.raises(SettingsError, match=r"provider\.region: is us-west-7.*Write `region: us-west-[12]`"):
        load_environment(
            {"provider": {"cloud": "aws", "region": "us-west-7", "accountId": "123456789012"}}, today=TODAY
        )
