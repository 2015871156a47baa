import io
import json

import pulumi
import pulumi_aws as aws
import pytest
from pulumi import ResourceOptions
from rich.cells import cell_len

from spotproof.preview import Capture, Checks, Preview, Target, Violation, preview_stack
from spotproof.preview.model import redact
from spotproof.preview.report_json import document
from spotproof.preview.report_tree import short_type, verdict, write
from spotproof.settings.machines import Quota


class FixedCost:
    def as_json(self) -> object:
        return {"usdPerHour": 1.5}

    def lines(self, width: int) -> list[str]:
        del width
        return ["1.50 USD per hour"]


def judge(capture: Capture) -> list[Violation]:
    urn = next(resource.urn for resource in capture.resources if resource.name == "store")
    return [
        Violation("p1", "mandatory", "high", urn, "It is [bad] because hunter2.", "Mend it."),
        Violation("p2", "note" if capture.mode == "unknown" else "advisory", "low", urn, "perhaps"),
    ]


def program() -> None:
    word = pulumi.Output.secret("hunter2")
    bucket = aws.s3.Bucket("store", tags={"word": word}, opts=ResourceOptions(protect=True))
    aws.s3.BucketVersioning("v", bucket=bucket.id, versioning_configuration={"statuss": "x", "status": "Enabled"})  # pyright: ignore[reportArgumentType, reportCallIssue]
    pulumi.export("word", word)
    pulumi.export("id", bucket.id)


def judged() -> Preview:
    return preview_stack(program, Target(), checks=Checks(judge=judge, price=lambda _: FixedCost()))


def test_the_json_report_marks_unknowns_and_secrets() -> None:
    report = document(judged())
    assert report["schema"] == "spotproof.preview/1"
    assert report["mode"] == "both"
    assert report["outputs"] == {"word": {"$secret": True}, "id": {"$unknown": True}}
    assert report["cost"] == {"usdPerHour": 1.5}


def test_no_report_holds_a_secret() -> None:
    found = judged()
    text = io.StringIO()
    write([found], text)
    assert "hunter2" not in text.getvalue() + json.dumps(document(found))


def test_a_finding_of_both_modes_is_reported_once_with_both() -> None:
    [finding] = judged().lint
    assert finding.path == "versioningConfiguration.statuss"
    assert finding.modes == ("unknown", "known")


def test_a_note_of_one_mode_gives_way_to_the_judgement_of_the_other() -> None:
    assert [(v.policy, v.level, v.modes) for v in judged().policies] == [
        ("p1", "mandatory", ("unknown", "known")),
        ("p2", "advisory", ("known",)),
    ]


def test_the_tree_shows_marks_findings_remedies_cost_and_verdict() -> None:
    text = io.StringIO()
    write([judged()], text)
    lines = text.getvalue().splitlines()
    assert "store  aws:s3:Bucket  protect" in lines
    assert "      It is [bad] because [secret]." in lines
    assert "      → Mend it." in lines
    assert "  1.50 USD per hour" in lines
    assert lines[-1] == "dev: refused: 1 mandatory violation, 1 lint error, 1 advisory violation"
    assert not any(line.endswith(" ") for line in lines)


def test_quotas_are_told_in_the_tree_and_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    quotas = (
        Quota("All P5 Spot Instance Requests", 384, "vCPUs", "us-west-2", "spot"),
        Quota("SSD_TOTAL_GB", 500, "GB", "us-central1"),
    )
    found = preview_stack(lambda: None, Target(), checks=Checks(quotas=quotas))
    text = io.StringIO()
    write([found], text)

    assert "  this stack can use up to 384 spot vCPUs: All P5 Spot Instance Requests, us-west-2\n" in text.getvalue()
    assert "  this stack can use up to 500 GB: SSD_TOTAL_GB, us-central1\n" in text.getvalue()
    assert document(found)["quotas"] == [
        {
            "name": "All P5 Spot Instance Requests",
            "needed": 384,
            "unit": "vCPUs",
            "where": "us-west-2",
            "capacity": "spot",
        },
        {"name": "SSD_TOTAL_GB", "needed": 500, "unit": "GB", "where": "us-central1", "capacity": None},
    ]


def test_a_stack_without_settings_of_ours_says_nothing_of_quotas() -> None:
    text = io.StringIO()
    write([preview_stack(lambda: None, Target())], text)

    assert "Quotas" not in text.getvalue()


def test_a_stack_without_findings_is_good() -> None:
    found = preview_stack(lambda: None, Target())
    assert verdict(found) == "dev: good: nothing to object to"
    assert not found.failed


def test_a_type_is_shown_without_its_repetition() -> None:
    assert short_type("aws:ec2/vpc:Vpc") == "aws:ec2:Vpc"
    assert short_type("kubernetes:core/v1:Namespace") == "kubernetes:core/v1:Namespace"


def nested() -> None:
    parent = pulumi.ComponentResource("acme:storage:Store", "a-store-with-a-long-name")
    name = "a-store-with-a-long-name-checkpoints"
    aws.s3.BucketServerSideEncryptionConfiguration(
        name, bucket="b", rules=[], opts=ResourceOptions(parent=parent, protect=True)
    )
    pulumi.log.info("first\n" + "word " * 40)


def test_a_narrow_tree_keeps_ends_of_names_and_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = io.StringIO()
    write([preview_stack(nested, Target(), checks=Checks(price=lambda _: FixedCost()))], text)
    lines = text.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= 60
    [line] = [line for line in lines if "…-checkpoints" in line]
    assert "aws:s3:BucketServer" in line
    assert line.endswith("  protect")
    assert "  info: first" in lines


def test_numbers_json_has_no_word_for_are_text() -> None:
    found = preview_stack(lambda: pulumi.export("n", [float("nan"), float("inf")]), Target())
    assert document(found)["outputs"] == {"n": ["nan", "inf"]}


def test_a_secret_of_several_lines_is_found_in_its_escaped_form() -> None:
    assert redact(repr("-----BEGIN\nkey"), frozenset({"-----BEGIN\nkey"})) == "'[secret]'"
