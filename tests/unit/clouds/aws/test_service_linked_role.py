import pulumi
import pytest
from pulumi.runtime.proto import resource_pb2

from spotproof.clouds.aws import SpotServiceLinkedRole
from spotproof.clouds.aws.service_linked_role import COMMAND, MISSING, TAKEN, first_or_remedy
from spotproof.preview import wire
from spotproof.preview.errors import ProgramError
from spotproof.preview.monitor import Monitor
from tests.unit.clouds.programs import SMALLEST, build, of, only, run

ARN = "arn:aws:iam::123456789012:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot"


def role(mode: str) -> SpotServiceLinkedRole:
    return SpotServiceLinkedRole("spot", {"mode": mode, "account_id": "123456789012", "region": "us-west-2"})


def test_existing_makes_nothing() -> None:
    seen = run(lambda: role("existing"))

    assert not of(seen, "ServiceLinkedRole")
    assert only(seen, "SpotServiceLinkedRole").inputs["mode"] == "existing"


def test_create_keeps_the_role_when_the_stack_goes() -> None:
    made = only(run(lambda: role("create")), "ServiceLinkedRole")

    assert made.retain_on_delete
    assert not made.import_id
    assert made.inputs == {"awsServiceName": "spot.amazonaws.com"}


def test_adopt_imports_it_as_it_is_and_keeps_it() -> None:
    adopted = only(run(lambda: role("adopt")), "ServiceLinkedRole")

    assert adopted.retain_on_delete
    assert adopted.import_id == ARN
    assert {"description", "tags", "tagsAll"} <= set(adopted.ignore_changes)


@pytest.mark.parametrize("mode", ["existing", "adopt", "create"])
def test_every_mode_tells_policies_what_it_does(mode: str) -> None:
    component = only(run(lambda: role(mode)), "SpotServiceLinkedRole")

    assert component.inputs == {"mode": mode, "accountId": "123456789012", "retainOnDelete": True}


def test_another_mode_is_refused_with_the_three_there_are() -> None:
    with pytest.raises(ValueError, match="existing, adopt, create"):
        role("lookup")


def test_the_remedy_has_ec2s_error_and_the_command_word_for_word() -> None:
    assert COMMAND == "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com"
    assert COMMAND in MISSING
    assert "AuthFailure.ServiceLinkedRoleCreationNotPermitted" in MISSING
    assert "adopt" in TAKEN


def test_a_missing_role_stops_with_the_remedy() -> None:
    with pytest.raises(pulumi.RunError) as stopped:
        first_or_remedy([])

    assert str(stopped.value) == MISSING


@pytest.mark.parametrize("arns", [[], [ARN]], ids=["missing", "there"])
def test_an_account_is_asked_and_the_program_stops_where_the_role_is_missing(
    monkeypatch: pytest.MonkeyPatch, arns: list[str]
) -> None:
    asked: list[object] = []

    def answer(_self: Monitor, request: resource_pb2.ResourceInvokeRequest) -> resource_pb2.ResourceInvokeResponse:
        asked.append((request.tok, wire.decode(request.args)))
        response = resource_pb2.ResourceInvokeResponse()
        getattr(response, "return").CopyFrom(wire.encode({"arns": arns, "names": [], "id": "roles"}))
        return response

    monkeypatch.setattr(Monitor, "Invoke", answer)

    if arns:
        assert only(run(lambda: role("existing")), "SpotServiceLinkedRole").outputs == {"roleArn": ARN}
    else:
        with pytest.raises(ProgramError) as stopped:
            run(lambda: role("existing"))
        assert str(stopped.value) == MISSING, "no traceback, no other words"
    assert asked == [("aws:iam/getRoles:getRoles", {"pathPrefix": "/aws-service-role/spot.amazonaws.com/"})]


def test_who_creates_is_told_what_a_taken_name_means() -> None:
    said = {mode: [one.text for one in run(lambda mode=mode: role(mode)).messages] for mode in ("create", "adopt")}

    assert said == {"create": [TAKEN], "adopt": []}
    assert "has been taken in this account" in TAKEN


def test_the_account_is_asked_through_the_provider_of_the_component(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not through a default provider, which would ask whatever account somebody is logged in to."""
    providers: list[str] = []
    answer = Monitor.Invoke

    def note(self: Monitor, request: resource_pb2.ResourceInvokeRequest) -> resource_pb2.ResourceInvokeResponse:
        providers.append(request.provider)
        return answer(self, request)

    monkeypatch.setattr(Monitor, "Invoke", note)
    build(SMALLEST)

    assert providers
    assert all("dev-aws::" in provider for provider in providers)
