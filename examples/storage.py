"""Where Ray keeps a run in S3, for a role that may reach one prefix of the bucket alone.

Ray's own way, pyarrow, first asks whether the bucket is there, which such a role may not know; so does s3fs before it
makes a folder. A bucket has no folders; and where S3 answers 403 of an object, nothing is there (s3fs issues 532, 591).
"""

from typing import Any

from pyarrow.fs import FSSpecHandler, PyFileSystem
from s3fs import S3FileSystem


class Prefix(S3FileSystem):
    """s3:// with nothing asked beyond the prefix."""

    def mkdir(self, path: str, *_: Any, **__: Any) -> None:
        """Nothing: a bucket has no folders."""

    makedirs = mkdir

    async def _info(self, path: str, *_: Any, **__: Any) -> dict[str, Any]:
        try:
            return await super()._info(path, refresh=True)
        except PermissionError:
            if await self._lsdir(path, refresh=True):
                return {"name": path, "type": "directory", "size": 0, "StorageClass": "DIRECTORY"}
            raise FileNotFoundError(path) from None


def storage(uri: str) -> dict[str, Any]:
    """What RunConfig takes for this URI."""
    if not uri.startswith("s3://"):
        return {"storage_path": uri}
    return {"storage_path": uri.removeprefix("s3://"), "storage_filesystem": PyFileSystem(FSSpecHandler(Prefix()))}
