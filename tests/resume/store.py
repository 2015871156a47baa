"""Where the programs save: a folder, or an S3 server behind a proxy. Both say when a write begins, and count bytes."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import boto3
from botocore.config import Config

from tests.resume.awaited import Awaited
from tests.resume.proxy import Proxy
from tests.resume.role import Role

BUCKET: Final = "checkpoints"
WORKSPACE: Final = "research"
"""The runs of one lie below its name, and that is all its role may reach."""
SECONDS_TO_START: Final = 60
LOOKS_A_SECOND: Final = 100
FIRST_PORT: Final = 10000
RANGE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""The ports that the system gives to those who connect."""
CREDENTIALS: Final = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""moto asks for none; its clients look for some."""


class Store(ABC):
    """One run's own place."""

    def __init__(self, uri: str, variables: Mapping[str, str]) -> None:
        self._uri, self._variables = uri, variables

    @property
    def uri(self) -> str:
        """CHECKPOINT_URI."""
        return self._uri

    @property
    def variables(self) -> Mapping[str, str]:
        """What the programs need to reach it."""
        return self._variables

    @abstractmethod
    def sizes(self) -> Mapping[str, int]:
        """Bytes of every file or object, by its path below the URI."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """One of them."""

    @abstractmethod
    def watch(self, write: int, seen: Callable[[], None], to: str = "") -> None:
        """Call `seen` in the middle of the `write`th write that begins from now on, once.

        Args:
            write: Counted among those whose path below the URI the regular expression `to` is found in.
            seen: What to call.
            to: Empty for all.
        """

    @abstractmethod
    def release(self) -> None:
        """What was stopped in the middle of a write may go on, and nothing is watched any more."""

    @property
    @abstractmethod
    def writes(self) -> int:
        """Writes begun so far."""

    @property
    @abstractmethod
    def written(self) -> int:
        """Bytes that reached the store so far, also those that were deleted again."""


class Folder(Store):
    """file://. A write is a new file, seen by looking often: the writer is a little ahead of the kill.

    A file is known by its inode, because a rename writes nothing, and is kept open as long as it is there: the inode of
    one that is deleted may otherwise be the next one's before anybody has looked, and that one would not be counted.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(f"file://{path}", {})
        self.path = path
        path.mkdir(parents=True)
        self._sizes: dict[int, int] = {}
        self._kept: dict[int, int] = {}
        self._written = 0
        self._awaited = Awaited()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def sizes(self) -> Mapping[str, int]:
        return {f"{path.relative_to(self.path)}": size for path, _, size in _files(self.path)}

    def read(self, path: str) -> bytes:
        return (self.path / path).read_bytes()

    def watch(self, write: int, seen: Callable[[], None], to: str = "") -> None:
        self._awaited.watch(write, seen, to)

    def release(self) -> None:
        self._awaited.release()

    def close(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    @property
    def writes(self) -> int:
        return self._awaited.writes

    @property
    def written(self) -> int:
        return self._written

    def _look(self) -> None:
        while not self._ended.wait(1 / LOOKS_A_SECOND):
            self.look()
        self._give_back(self._kept)

    def look(self) -> None:
        """Count what is new."""
        sizes: dict[int, int] = {}
        for path, inode, size in _files(self.path):
            if inode not in self._sizes and inode not in sizes:
                self._begun(f"{path.relative_to(self.path)}")
            if inode not in self._kept and (opened := _opened(path, inode)) is not None:
                self._kept[inode] = opened
            sizes[inode] = size
        self._written += sum(max(0, size - self._sizes.get(inode, 0)) for inode, size in sizes.items())
        self._sizes = sizes
        self._give_back(self._kept.keys() - sizes.keys())

    def _give_back(self, inodes: Iterable[int]) -> None:
        for inode in tuple(inodes):
            os.close(self._kept.pop(inode))

    def _begun(self, path: str) -> None:
        if (seen := self._awaited.begun(path)) is not None:
            seen()


class Bucket(Store):
    """s3://. A write is a request with a body, which the proxy stops half-way; S3 never shows a part of an object."""

    def __init__(self, server: str, name: str) -> None:
        self._prefix = f"{WORKSPACE}/{name}/"
        self._proxy = Proxy(server, f"/{BUCKET}/{self._prefix}", Role(BUCKET, WORKSPACE))
        super().__init__(f"s3://{BUCKET}/{WORKSPACE}/{name}", {**CREDENTIALS, "AWS_ENDPOINT_URL": self._proxy.url})
        self._client = boto3.client(
            "s3",
            endpoint_url=server,
            region_name=CREDENTIALS["AWS_REGION"],
            aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            config=Config(s3={"addressing_style": "path"}),
        )
        self._client.create_bucket(Bucket=BUCKET)

    def sizes(self) -> Mapping[str, int]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=self._prefix)
        return {
            each["Key"].removeprefix(self._prefix): int(each["Size"])
            for page in pages
            for each in page.get("Contents", [])
        }

    def read(self, path: str) -> bytes:
        return self._client.get_object(Bucket=BUCKET, Key=self._prefix + path)["Body"].read()

    def watch(self, write: int, seen: Callable[[], None], to: str = "") -> None:
        self._proxy.watch(write, seen, to)

    def release(self) -> None:
        self._proxy.release()

    def close(self) -> None:
        """End the proxy; the objects stay until the server ends."""
        self._proxy.close()

    @property
    def writes(self) -> int:
        return self._proxy.writes

    @property
    def written(self) -> int:
        return self._proxy.written


@contextmanager
def folder(path: Path) -> Generator[Store]:
    """A store that is a folder, removed at the end."""
    store = Folder(path)
    try:
        yield store
    finally:
        store.close()
        shutil.rmtree(path)


@contextmanager
def bucket(server: str, name: str) -> Generator[Store]:
    """A store at `server`, for one run of this name."""
    store = Bucket(server, name)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def s3_server(log: Path) -> Generator[str]:
    """A server of moto's as a process of its own; its address.

    Raises:
        RuntimeError: It did not start; the log says why.
    """
    port = free_port()
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", f"{port}"], stdout=output, stderr=output
        )
    try:
        _until_it_answers(server, port, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    """One that nobody listens on, and that is given to nobody who connects.

    A framework binds it seconds after it was chosen here; a port of the system's own range may be an outgoing
    connection's by then (measured: JAX's coordinator, once in 30 starts on a busy machine).

    Raises:
        RuntimeError: None is free.
    """
    lowest = min(int(RANGE.read_text(encoding="utf-8").split()[0]), 32768) if RANGE.exists() else 32768
    for _ in range(100):
        port = secrets.randbelow(max(lowest - FIRST_PORT, 1000)) + FIRST_PORT
        with socket.socket(socket.AF_INET6) as taken, suppress(OSError):
            taken.bind(("::", port))
            return port
    raise RuntimeError(f"none of 100 ports from {FIRST_PORT} is free")


def _until_it_answers(server: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    for _ in range(SECONDS_TO_START * 10):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            try:
                server.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            break
        else:
            return
    raise RuntimeError(f"moto's server did not start: {log.read_text(encoding='utf-8')[-500:]}")


def _files(folder: Path) -> Iterator[tuple[Path, int, int]]:
    """Every file with its inode and size; what goes while one looks is left out."""
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found = os.lstat(path := Path(parent, name))
                yield path, found.st_ino, found.st_size


def _opened(path: Path, inode: int) -> int | None:
    """A descriptor of that very file; None where the path is another's or nobody's by now."""
    try:
        opened = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    if os.fstat(opened).st_ino == inode:
        return opened
    os.close(opened)
    return None
