"""The stand-in behind a port of this machine."""

import contextlib
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from tests.engine.standin.provider import StandIn

PACKAGES: Final = ("aws", "azure-native", "gcp", "kubernetes")
_MIB: Final = 1024 * 1024
_THREADS: Final = 32  # more than the engine asks at once, so that one call that hangs stops no other


@contextlib.contextmanager
def served(standin: StandIn) -> Generator[str]:
    """Serve until the block ends; yields the value of PULUMI_DEBUG_PROVIDERS."""
    limits = [("grpc.max_receive_message_length", 400 * _MIB), ("grpc.max_send_message_length", 400 * _MIB)]
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=limits)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(standin, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield ",".join(f"{package}:{port}" for package in PACKAGES)
    finally:
        server.stop(grace=None).wait()
