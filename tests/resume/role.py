"""What a workspace's role may do in S3, as `prefix_document` in clouds/aws/workspace_identity.py has it."""

from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Role:
    """It lists, reads and writes one prefix of a bucket."""

    bucket: str
    prefix: str

    def may(self, method: str, path: str) -> bool:
        """Whether it is allowed. Of the bucket nothing is but a list of the prefix, not even to ask if it is there."""
        key, query = _asked(path, self.bucket)
        if key:
            return key.startswith(f"{self.prefix}/")
        if method == "POST" and "delete" in query:
            return True  # the objects are named in the body
        listed = query.get("prefix", [""])[0]
        return method == "GET" and (listed == self.prefix or listed.startswith(f"{self.prefix}/"))

    def hides(self, path: str, status: int) -> bool:
        """Whether S3 answers 403 instead: only who may list the whole bucket is told that an object is not there."""
        return status == HTTPStatus.NOT_FOUND and bool(_asked(path, self.bucket)[0])


def _asked(path: str, bucket: str) -> tuple[str, dict[str, list[str]]]:
    """Key, empty where the bucket itself is asked for, and query."""
    asked = urlsplit(path)
    key = unquote(asked.path).removeprefix(f"/{bucket}").removeprefix("/")
    return key, parse_qs(asked.query, keep_blank_values=True)
