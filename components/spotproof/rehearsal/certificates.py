"""The certificates of one control plane: its own authority, its servers, and a user for whoever is asked for.

A user is a client certificate, so that one can be made while the API server runs: its common name is the user, its
organizations are the groups (kubernetes.io, "X509 client certificates").
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Final

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LOOPBACK: Final = "127.0.0.1"
LIFETIME: Final = timedelta(days=7)
"""Longer than any rehearsal runs."""
SKEW: Final = timedelta(minutes=5)


class Certificates:
    """Files below `folder`, which is for its owner's eyes only."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        self.folder = folder
        self._authority = trustme.CA(organization_name="spotproof rehearsal")
        self.authority = folder / "ca.crt"
        self._authority.cert_pem.write_to_path(self.authority)

    @property
    def bundle(self) -> bytes:
        """The authority's certificate, PEM: what a webhook configuration carries as caBundle."""
        return self._authority.cert_pem.bytes()

    def server(self, name: str) -> Path:
        """A folder with `tls.crt` and `tls.key` for a server on this machine's loopback address."""
        leaf = self._authority.issue_cert(LOOPBACK, "localhost", common_name=name)
        into = self.folder / name
        into.mkdir(mode=0o700, exist_ok=True)
        leaf.cert_chain_pems[0].write_to_path(into / "tls.crt")
        _write(into / "tls.key", leaf.private_key_pem.bytes())
        return into

    def user(self, name: str, groups: Iterable[str] = ()) -> tuple[bytes, bytes]:
        """Certificate and key, PEM, of the user `name` in `groups`."""
        key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
        subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        certificate = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([*subject, x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(self._issuer[0].subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - SKEW)
            .not_valid_after(now + LIFETIME)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
            .sign(self._issuer[1], hashes.SHA256())
        )
        return certificate.public_bytes(serialization.Encoding.PEM), _pem(key)

    def signing_keys(self) -> tuple[Path, Path]:
        """Private and public key, as files, with which the API server signs and checks service account tokens."""
        key = ec.generate_private_key(ec.SECP256R1())
        private, public = self.folder / "service-accounts.key", self.folder / "service-accounts.pub"
        _write(private, _pem(key))
        public.write_bytes(
            key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
        return private, public

    @cached_property
    def _issuer(self) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        key = serialization.load_pem_private_key(self._authority.private_key_pem.bytes(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"the authority's key is a {type(key).__name__}, an elliptic curve's is needed")
        return x509.load_pem_x509_certificate(self.bundle), key


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write(path: Path, secret: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(secret)
