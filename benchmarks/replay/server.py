"""`python -m benchmarks.replay.server`: the replaying API server, in a process of its own.

HTTPS as the real one speaks it: discovery, lists in pages, watches with bookmarks, reads, and the writes that the
controller makes. Nobody is asked who he is. One line of JSON is printed when it listens; then it obeys lines of JSON on
its standard input, `{"reclaim": FIRST, "count": N, "a_second": X}` or `{"heartbeats": SECONDS}`, and answers each with
one when all is told.
"""

import argparse
import asyncio
import json
import ssl
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from benchmarks.replay.json_patch import Conflict, apply
from benchmarks.replay.world import Object, Template, World, has, name_of, namespace_of, read_policies
from spotproof.controller.kinds import LEASE
from spotproof.controller.watched import WATCHED
from spotproof.rehearsal.patches import patched

BOOKMARK_SECONDS: Final = 60
GATHER_SECONDS: Final = 0.01
"""Of each event, until it is sent: written one by one, 3,000 a second took this process a fifth of its time."""
SETTLING_SECONDS: Final = 5
"""For answers to the last of it."""
HEARTBEAT_SECONDS: Final = 300
"""After which a kubelet writes the status of its node although nothing has changed (nodeStatusReportFrequency)."""
KINDS: Final = {
    "namespaces": ("v1", "Namespace", False),
    "nodes": ("v1", "Node", False),
    "pods": ("v1", "Pod", True),
    "jobs": ("batch/v1", "Job", True),
    "jobsets": ("jobset.x-k8s.io/v1alpha2", "JobSet", True),
    "nodeclaims": ("karpenter.sh/v1", "NodeClaim", False),
    "fallbackpolicies": ("spotproof.dev/v1alpha1", "FallbackPolicy", False),
    "trainingruns": ("spotproof.dev/v1alpha1", "TrainingRun", True),
    "events": ("events.k8s.io/v1", "Event", True),
    "leases": (LEASE.api_version, LEASE.kind, True),
}
"""No Ray: its kinds are looked for, and not there."""


class Request(NamedTuple):
    """What is asked."""

    method: str
    parts: list[str]
    query: dict[str, str]
    content_type: str
    body: bytes


class Watcher:
    """Somebody who watches a kind. What is told within a moment goes out in one piece.

    Args:
        label: Its selector.
        writer: To whom.
    """

    def __init__(self, label: str, writer: asyncio.StreamWriter) -> None:
        self._label, self._writer = label, writer
        self._lines: list[bytes] = []

    def hears_of(self, thing: Mapping[str, Any]) -> bool:
        """Whether this is one of its objects."""
        return not self._writer.is_closing() and has(thing, self._label)

    def tell(self, line: bytes) -> None:
        """An event."""
        self._lines.append(line)
        if len(self._lines) == 1:
            asyncio.get_running_loop().call_later(GATHER_SECONDS, self._flush)

    def end(self) -> None:
        """No more of them, after the last."""
        self._flush()
        self._writer.write(b"0\r\n\r\n")

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        if lines and not self._writer.is_closing():
            self._writer.write(_chunk(b"".join(lines)))


class Server:
    """The world, who watches it, and what is measured."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.watchers: defaultdict[str, list[Watcher]] = defaultdict(list)
        self.marked: dict[str, float] = {}
        self.answered: dict[str, float] = {}
        self.requests = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what one connection asks, one request after the other."""
        try:
            while (request := await _read(reader)) is not None:
                self.requests += 1
                if request.query.get("watch") == "true":
                    await self._watch(request, writer)
                    return
                status, answer = self._answer(request)
                text = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
                head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
                writer.write(head.encode() + text)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def _answer(self, request: Request) -> tuple[int, Any]:
        root, *rest = request.parts
        version = rest.pop(0) if root == "api" else f"{rest.pop(0)}/{rest.pop(0)}"
        if not rest:
            return _resources(version)
        namespace = ""
        if rest[0] == "namespaces" and rest[2:]:
            namespace, rest = rest[1], rest[2:]
        if rest[0] not in KINDS:
            return _status(404, "no such kind")
        kind = KINDS[rest[0]][1]
        if len(rest) == 1:
            do = self._create if request.method == "POST" else self._list
            return do(kind, namespace, request)
        return self._one(kind, namespace, rest[1], request)

    def _list(self, kind: str, namespace: str, request: Request) -> tuple[int, Any]:
        label, limit = request.query.get("labelSelector", ""), int(request.query.get("limit") or sys.maxsize)
        more = ""
        if namespace:
            items = self.world.in_namespace(kind, namespace, label)
        else:
            items, more = self.world.page(kind, label, limit, request.query.get("continue", ""))
        meta = {"resourceVersion": str(self.world.version), **({"continue": more} if more else {})}
        return 200, {"kind": f"{kind}List", "metadata": meta, "items": items}

    def _one(self, kind: str, namespace: str, name: str, request: Request) -> tuple[int, Any]:
        found = self.world.find(kind, namespace, name)
        if found is None:
            return _status(404, f"{kind} {name} is not there")
        if request.method == "GET":
            return 200, found
        self._note(kind, namespace, name)
        if request.method == "DELETE":
            self.tell("DELETED", self.world.remove(found))
            return 200, {"kind": "Status", "status": "Success"}
        change = msgspec.json.decode(request.body)
        if request.method == "PUT":
            stored = self.world.put(_typed(kind, namespace, change))
        elif "json-patch" in request.content_type:
            try:
                stored = self.world.put(apply(found, change))
            except Conflict as conflict:
                return _status(422, str(conflict))
        else:
            stored = self.world.put(patched(found, change))
        self.tell("MODIFIED", stored)
        return 200, stored

    def _create(self, kind: str, namespace: str, request: Request) -> tuple[int, Any]:
        thing = _typed(kind, namespace, msgspec.json.decode(request.body))
        meta = thing["metadata"]
        self._note(kind, meta.get("namespace", ""), meta["name"])
        if kind == "Event":
            return 201, thing
        if self.world.find(kind, meta.get("namespace", ""), meta["name"]) is not None:
            return _status(409, "it is there")
        meta["uid"] = f"{self.world.version:08x}-a1b9-4000-8000-000000000000"
        meta["creationTimestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        stored = self.world.put(thing)
        self.tell("ADDED", stored)
        return 201, stored

    def _note(self, kind: str, namespace: str, name: str) -> None:
        """The first write about a job after its eviction was told."""
        if kind in {"TrainingRun", "JobSet"}:
            key = f"{namespace}/{name}"
            if key in self.marked and key not in self.answered:
                self.answered[key] = time.monotonic()

    async def _watch(self, request: Request, writer: asyncio.StreamWriter) -> None:
        kind = KINDS[request.parts[-1]][1]
        watcher = Watcher(request.query.get("labelSelector", ""), writer)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        self.watchers[kind].append(watcher)
        try:
            until = time.monotonic() + int(request.query["timeoutSeconds"])
            while (left := until - time.monotonic()) > 0 and not writer.is_closing():
                await asyncio.sleep(min(BOOKMARK_SECONDS, left))
                mark = {"kind": kind, "metadata": {"resourceVersion": str(self.world.version)}}
                watcher.tell(json.dumps({"type": "BOOKMARK", "object": mark}).encode() + b"\n")
            watcher.end()
        finally:
            self.watchers[kind].remove(watcher)

    def tell(self, what: str, thing: Object) -> None:
        """Everybody who watches hears of a change."""
        self._tell(thing["kind"], thing, msgspec.json.encode({"type": what, "object": thing}) + b"\n")

    def _tell(self, kind: str, like: Mapping[str, Any], line: bytes) -> None:
        for watcher in self.watchers[kind]:
            if watcher.hears_of(like):
                watcher.tell(line)

    async def reclaim(self, first: int, count: int, a_second: float) -> dict[str, Any]:
        """Take a node from `count` jobs, one after the other at a steady pace. Returns what came of it."""
        story = self.world.story
        self.marked.clear()
        self.answered.clear()
        told = sorted(
            (number / a_second + each.at - story.reclaim, first + number, rank)
            for number in range(count)
            for rank, each in enumerate(story.later)
        )
        began, now = time.monotonic(), time.time()
        for at, number, rank in told:
            if (early := began + at - time.monotonic()) > 0:
                await asyncio.sleep(max(early, GATHER_SECONDS))
            elif rank % 16 == 0:
                await asyncio.sleep(0)  # it is late, and others ask meanwhile
            self._happen(story.later[rank], number, now + (number - first) / a_second)
        await asyncio.sleep(SETTLING_SECONDS)
        waits = [self.answered[key] - at for key, at in self.marked.items() if key in self.answered]
        return {
            "told_seconds": count / a_second,
            "took_seconds": time.monotonic() - began,
            "evictions": len(self.marked) * self.world.story.evicted,
            "jobs": len(self.marked),
            "unanswered": len(self.marked) - len(waits),
            "waits": sorted(waits),
            "requests": self.requests,
        }

    async def heartbeats(self, seconds: int) -> dict[str, Any]:
        """The kubelets of all nodes report, at a steady pace, that nothing has changed. Returns how many did."""
        nodes = [each for each in self.world.story.before if each.kind == "Node"]
        beats = [(number, node) for number in range(self.world.jobs) for node in nodes]
        count, began = len(beats) * seconds // HEARTBEAT_SECONDS, time.monotonic()
        for beat, (number, node) in enumerate(beats[:count]):
            if (early := began + beat * seconds / count - time.monotonic()) > 0:
                await asyncio.sleep(early)
            self._tell_again(node, number)
        await asyncio.sleep(max(began + seconds - time.monotonic(), 0))
        return {"told": count}

    def _tell_again(self, known: Template, number: int) -> None:
        """A new version of an object to which nothing has happened."""
        text = self.world.touch(known, number)
        self._tell(known.kind, known.thing, f'{{"type":"MODIFIED","object":{text}}}\n'.encode())

    def _happen(self, change: Template, number: int, reclaimed: float) -> None:
        """A recorded change to a job whose node was taken at that time."""
        text = self.world.happen(change, number, reclaimed - self.world.story.reclaim)
        self._tell(change.kind, change.thing, f'{{"type":"{change.change.upper()}","object":{text}}}\n'.encode())
        if change.at - self.world.story.reclaim >= self.world.story.marked_at:
            self.marked.setdefault(f"{namespace_of(number)}/{name_of(number)}", time.monotonic())


def _typed(kind: str, namespace: str, thing: Object) -> Object:
    """What somebody writes with its kind and namespace, which clients leave out where the address has them."""
    (api,) = (api for api, each, _ in KINDS.values() if each == kind)
    space = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api, "kind": kind, **thing, "metadata": {**space, **thing["metadata"]}}


def _resources(version: str) -> tuple[int, Any]:
    found = [
        {"name": plural, "kind": kind, "namespaced": namespaced}
        for plural, (api, kind, namespaced) in KINDS.items()
        if api == version
    ]
    return (200, {"resources": found}) if found else _status(404, "no such group")


def _status(code: int, message: str) -> tuple[int, Any]:
    return code, {"kind": "Status", "code": code, "message": message}


def _chunk(line: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(line), line)


async def _read(reader: asyncio.StreamReader) -> Request | None:
    head = await reader.readline()
    if not head:
        return None
    method, target, _ = head.decode().split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()) not in {b"\r\n", b""}:
        key, _, value = line.decode().partition(":")
        headers[key.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length") or 0))
    url = urlsplit(target)
    parts = [unquote(part) for part in url.path.strip("/").split("/")]
    return Request(method, parts, dict(parse_qsl(url.query)), headers.get("content-type", ""), body)


async def _main(options: argparse.Namespace) -> None:
    world = World(options.jobs, read_policies(options.objects), time.time())
    server = Server(world)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context, limit=1 << 22)
    print(json.dumps({"port": listening.sockets[0].getsockname()[1], "watched": len(WATCHED)}), flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        asked = json.loads(line)
        if "reclaim" in asked:
            told = await server.reclaim(asked["reclaim"], asked["count"], asked["a_second"])
        elif "heartbeats" in asked:
            told = await server.heartbeats(asked["heartbeats"])
        else:
            told = {"requests": server.requests, "objects": len(world.changed)}
        print(json.dumps(told), flush=True)


def main() -> None:
    """Serve until the standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--objects", type=Path, required=True, help="JSON: policies and namespaces")
    parser.add_argument("--certificate", type=Path, required=True)
    parser.add_argument("--key", type=Path, required=True)
    asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    main()
