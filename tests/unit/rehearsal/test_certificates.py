import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from spotproof.rehearsal.certificates import Certificates


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path / "certificates")


def test_a_user_is_its_common_name_and_its_groups_are_organizations(certificates: Certificates) -> None:
    pem, _ = certificates.user("ada", ("team-a", "team-b"))
    subject = x509.load_pem_x509_certificate(pem).subject
    assert [each.value for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["ada"]
    assert [each.value for each in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == ["team-a", "team-b"]


def test_a_user_can_be_no_server_and_no_authority(certificates: Certificates) -> None:
    certificate = x509.load_pem_x509_certificate(certificates.user("ada")[0])
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_a_user_holds_now_and_not_for_long(certificates: Certificates) -> None:
    certificate, now = x509.load_pem_x509_certificate(certificates.user("ada")[0]), datetime.now(UTC)
    assert certificate.not_valid_before_utc < now < certificate.not_valid_after_utc
    assert certificate.not_valid_after_utc - now <= timedelta(days=7)


def test_the_authority_has_signed_what_it_gives(certificates: Certificates) -> None:
    authority = x509.load_pem_x509_certificate(certificates.bundle)
    for pem in (certificates.user("ada")[0], (certificates.server("kube-apiserver") / "tls.crt").read_bytes()):
        x509.load_pem_x509_certificate(pem).verify_directly_issued_by(authority)


def test_a_server_is_one_of_the_loopback_address_alone(certificates: Certificates) -> None:
    folder = certificates.server("kube-apiserver")
    certificate = x509.load_pem_x509_certificate((folder / "tls.crt").read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    ssl.create_default_context().load_cert_chain(folder / "tls.crt", folder / "tls.key")


def test_keys_are_for_their_owner_alone(certificates: Certificates) -> None:
    certificates.server("kube-apiserver")
    certificates.signing_keys()
    keys = list(certificates.folder.rglob("*.key"))
    assert len(keys) == 2
    assert [stat.S_IMODE(each.stat().st_mode) for each in keys] == [0o600, 0o600]
    assert stat.S_IMODE(certificates.folder.stat().st_mode) == 0o700
