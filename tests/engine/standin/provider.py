"""A cloud in the test process: the provider protocol of Pulumi, for every package our programs use.

It accepts anything: no validation, no limits, no defaults. A green `up` against it says that program and engine agree
on what is made of what, nothing about a cloud.
"""

# ruff: noqa: N802  # names of the methods are the protocol's
# pyright: reportIncompatibleMethodOverride=false
# the generated servicer types each request as the class, and its methods as untyped

from collections.abc import Callable  # noqa: TC003  # read by whoever looks at the annotations
from dataclasses import dataclass
from threading import Lock
from typing import Final

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2
from pulumi.runtime.proto import provider_pb2 as p
from pulumi.runtime.proto import provider_pb2_grpc as g

from spotproof.preview import wire
from tests.engine.standin import objects, outputs
from tests.engine.standin.instances import Instances
from tests.engine.standin.invokes import ANSWERS
from tests.engine.standin.replaces import replacing

PROVIDER: Final = "pulumi:providers:"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_NO_OBJECT: Final = ("__", "status")


@dataclass(frozen=True)
class Call:
    """One request of the engine; `inputs` are what the provider was given, as our wire decodes them."""

    method: str
    urn: str
    inputs: dict[str, object]
    preview: bool = False


class StandIn(g.ResourceProviderServicer):
    """Answers for every provider, and keeps what it was asked in `calls`.

    `objects` gives the store of Kubernetes objects for a provider's configuration. `before` is called before anything
    is made, changed or deleted for real; what it raises fails that step.
    """

    def __init__(self, store_of: objects.Objects | None = None) -> None:
        in_memory = objects.InMemory()
        self.store_of: objects.Objects = store_of or (lambda _: in_memory)
        self.before: Callable[[Call], None] = lambda _: None
        self.calls: list[Call] = []
        self._instances = Instances()
        self._lock = Lock()

    def Handshake(self, _request: p.ProviderHandshakeRequest, _context: grpc.ServicerContext) -> object:
        return p.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True, accept_outputs=True)

    def Attach(self, _request: plugin_pb2.PluginAttach, _context: grpc.ServicerContext) -> empty_pb2.Empty:
        return empty_pb2.Empty()

    def Cancel(self, _request: empty_pb2.Empty, _context: grpc.ServicerContext) -> empty_pb2.Empty:
        return empty_pb2.Empty()

    def GetPluginInfo(self, _request: empty_pb2.Empty, _context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version="999.0.0")

    def GetSchema(self, _request: p.GetSchemaRequest, _context: grpc.ServicerContext) -> p.GetSchemaResponse:
        return p.GetSchemaResponse(schema="{}")

    def CheckConfig(self, request: p.CheckRequest, _context: grpc.ServicerContext) -> p.CheckResponse:
        self._note("CheckConfig", request.urn, request.news)
        return p.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: p.DiffRequest, _context: grpc.ServicerContext) -> p.DiffResponse:
        return _difference(request, ())

    def Configure(self, request: p.ConfigureRequest, context: grpc.ServicerContext) -> p.ConfigureResponse:
        plain = outputs.plain(wire.decode(request.args))
        assert isinstance(plain, dict)
        self._instances.of(context).configuration = plain
        return p.ConfigureResponse(acceptSecrets=True, supportsPreview=True, acceptResources=True, acceptOutputs=True)

    def Check(self, request: p.CheckRequest, _context: grpc.ServicerContext) -> p.CheckResponse:
        self._note("Check", request.urn, request.news)
        return p.CheckResponse(inputs=request.news)

    def Diff(self, request: p.DiffRequest, _context: grpc.ServicerContext) -> p.DiffResponse:
        return _difference(request, replacing(_token(request.urn)))

    def Create(self, request: p.CreateRequest, context: grpc.ServicerContext) -> p.CreateResponse:
        call = self._note("Create", request.urn, request.properties, preview=request.preview)
        token = _token(request.urn)
        if not request.preview:
            self.before(call)
        live = self._applied(call, token, context)
        if request.preview:
            return p.CreateResponse(properties=outputs.at_preview(token, request.properties))
        identity, made = outputs.made(request.urn, token, live or request.properties)
        return p.CreateResponse(id=identity, properties=made)

    def Update(self, request: p.UpdateRequest, context: grpc.ServicerContext) -> p.UpdateResponse:
        call = self._note("Update", request.urn, request.news, preview=request.preview)
        token = _token(request.urn)
        if not request.preview:
            self.before(call)
        live = self._applied(call, token, context)
        return p.UpdateResponse(properties=outputs.changed(token, request.olds, live or request.news))

    def Read(self, request: p.ReadRequest, context: grpc.ServicerContext) -> p.ReadResponse:
        token = _token(request.urn)
        plain = _object(token, wire.decode(request.inputs))
        if plain is not None and self._store(context).get(plain) is None:
            return p.ReadResponse()  # gone
        found = request.properties
        if not found.fields:  # an import
            _, found = outputs.made(request.urn, token, request.inputs)
        return p.ReadResponse(id=request.id, properties=found, inputs=request.inputs)

    def Delete(self, request: p.DeleteRequest, context: grpc.ServicerContext) -> empty_pb2.Empty:
        call = self._note("Delete", request.urn, request.old_inputs)
        self.before(call)
        plain = _object(_token(request.urn), call.inputs)
        if plain is not None:
            self._store(context).delete(plain)
        return empty_pb2.Empty()

    def Invoke(self, request: p.InvokeRequest, _context: grpc.ServicerContext) -> p.InvokeResponse:
        answer = ANSWERS[request.tok]  # a function nobody thought of fails the run, with its name
        response = p.InvokeResponse()
        getattr(response, "return").CopyFrom(wire.encode(dict(answer(wire.decode(request.args)))))
        return response

    def asked(self, method: str) -> list[Call]:
        """Return the calls of one method so far, in their order."""
        with self._lock:
            return [call for call in self.calls if call.method == method]

    def _note(self, method: str, urn: str, bag: outputs.Struct, *, preview: bool = False) -> Call:
        call = Call(method, urn, wire.decode(bag), preview)
        with self._lock:
            self.calls.append(call)
        return call

    def _store(self, context: grpc.ServicerContext) -> objects.ObjectStore:
        return self.store_of(self._instances.of(context).configuration)

    def _applied(self, call: Call, token: str, context: grpc.ServicerContext) -> outputs.Struct | None:
        """Hand an object to its cluster (at a preview as a dry run); what comes back has the inputs' secrets again."""
        plain = _object(token, call.inputs)
        if plain is None or wire.holds_unknown(plain):
            return None
        try:
            live = self._store(context).apply(plain, dry_run=call.preview)
        except objects.ObjectRefusedError as refused:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(refused))
        if live is plain:
            return None
        return wire.encode({**live, **{key: item for key, item in call.inputs.items() if key != "metadata"}})


def _object(token: str, inputs: dict[str, object]) -> objects.Object | None:
    """The plain object behind a resource; None for a cloud's, a chart's or a provider."""
    if not token.startswith("kubernetes:") or token == RELEASE:
        return None
    plain = outputs.plain({key: item for key, item in inputs.items() if not key.startswith(_NO_OBJECT)})
    return plain if isinstance(plain, dict) else None


def _difference(request: p.DiffRequest, replaces: tuple[str, ...]) -> p.DiffResponse:
    before, after = wire.decode(request.old_inputs), wire.decode(request.news)
    diffs = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    ignored = {key for key in diffs if key in request.ignoreChanges}
    found = [key for key in diffs if key not in ignored]
    forcing = [path for path in replaces if outputs.value_at(before, path) != outputs.value_at(after, path)]
    changes = p.DiffResponse.DIFF_SOME if found else p.DiffResponse.DIFF_NONE
    return p.DiffResponse(changes=changes, diffs=found, replaces=forcing)


def _token(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2]
