"""The two ends a Pulumi program talks to, the resource monitor and the engine, as plain objects in its own process.

Behaviour follows the engine's resource monitor (pulumi/pulumi pkg/resource/deploy/source_eval.go) for the first preview
of a new stack. Method names are the protocol's.
"""

# ruff: noqa: N802, D102  # names and meaning of the methods and fields are the protocol's

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import unquote, urlparse

from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import alias_pb2, callback_pb2, engine_pb2, provider_pb2, resource_pb2, source_pb2

from spotproof.preview import wire
from spotproof.preview.echo import fitting, previewed
from spotproof.preview.loop import BlockingCallError
from spotproof.preview.model import (
    PROVIDER_TYPE_PREFIX,
    STACK_TYPE,
    UNKNOWN,
    Capture,
    Location,
    Message,
    Mode,
    Resource,
)
from spotproof.preview.transforms import Transforms

Struct: TypeAlias = struct_pb2.Struct
Request: TypeAlias = resource_pb2.RegisterResourceRequest
Inventor: TypeAlias = Callable[[str, str, Mapping[str, object]], tuple[str, dict[str, object]]]
"""(urn, type token, inputs) -> id and the outputs that the inputs do not already give, below an input too."""

_SEVERITIES: Final = {engine_pb2.INFO: "info", engine_pb2.WARNING: "warning", engine_pb2.ERROR: "error"}


YAML_DECODE: Final = "kubernetes:yaml:decode"
"""The one function that needs no cloud: without its answer a ConfigGroup has no children."""


class RegistrationError(Exception):
    """The engine would refuse this registration; `locations` is the program's stack, innermost first."""

    def __init__(self, text: str, urn: str, locations: list[Location]) -> None:
        super().__init__(text)
        self.urn = urn
        self.locations = locations


@dataclass
class _Registered:
    request: Request
    urn: str
    read: bool = False
    id: object = UNKNOWN
    invented: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class _Answer:
    """Duck-typed RegisterResourceResponse: a real one would copy the property bag (0.1 ms a resource)."""

    urn: str
    id: str
    object: Struct
    propertyDependencies: Mapping[str, str] = field(default_factory=dict)  # noqa: N815
    result: int = 0
    unknown: bool = False

    @property
    def properties(self) -> Struct:
        return self.object


class Engine:
    """Keeps what the program logs; debug lines, which the SDK writes at every step, are dropped."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def Log(self, request: engine_pb2.LogRequest) -> empty_pb2.Empty:
        severity = _SEVERITIES.get(request.severity)
        if severity:
            self.messages.append(Message(severity, request.urn, request.message))
        return empty_pb2.Empty()

    def RequirePulumiVersion(self, _request: object) -> engine_pb2.RequirePulumiVersionResponse:
        return engine_pb2.RequirePulumiVersionResponse()


class Monitor:
    """Answers one program's registrations and keeps them.

    `echo` off answers resources without their inputs: the SDK's own deserialiser raises on an input of the wrong
    shape, and such a program is run again so that the lint can name the input.
    """

    def __init__(self, project: str, stack: str, invent: Inventor | None, *, echo: bool = True) -> None:
        self.project = project
        self.stack = stack
        self.invokes: list[str] = []
        self._invent = invent
        self._echo = echo
        self._registered: dict[str, _Registered] = {}
        self._received: list[Struct] = []
        self._outputs: dict[str, struct_pb2.Struct] = {}
        self._transforms = Transforms()

    def RegisterResource(self, request: Request) -> _Answer:
        self._received.append(request.object)
        urn = self.urn(request.parent, request.type, request.name)
        if self._transforms.any_for(request):
            _leave_the_loop()
            request = self._transforms.apply(request, urn)
        self._inherit(request)
        _write_version(request)
        self._keep(_Registered(request, urn))
        if request.remote:
            return _Answer(urn, "", struct_pb2.Struct())
        return self._answered(self._registered[urn], request.object, custom=request.custom)

    def ReadResource(self, request: resource_pb2.ReadResourceRequest) -> _Answer:
        urn = self.urn(request.parent, request.type, request.name)
        same = Request(
            type=request.type,
            name=request.name,
            parent=request.parent,
            custom=True,
            object=request.properties,
            provider=request.provider,
            dependencies=request.dependencies,
            version=request.version,
            additionalSecretOutputs=request.additionalSecretOutputs,
            stackTrace=request.stackTrace,
        )
        known = request.id and request.id != wire.UNKNOWN_SENTINEL
        read = _Registered(same, urn, read=True, id=request.id if known else UNKNOWN)
        self._keep(read)
        answer = self._answered(read, request.properties, custom=True)
        read.id = request.id if known else read.id
        return _Answer(urn, request.id if known else answer.id, answer.object)

    def RegisterResourceOutputs(self, request: resource_pb2.RegisterResourceOutputsRequest) -> empty_pb2.Empty:
        self._received.append(request.outputs)
        self._outputs[request.urn] = request.outputs
        return empty_pb2.Empty()

    def Invoke(self, request: resource_pb2.ResourceInvokeRequest) -> resource_pb2.ResourceInvokeResponse:
        if request.tok == "pulumi:pulumi:getResource":
            return self._resource_state(str(wire.decode(request.args).get("urn")))
        if request.tok == YAML_DECODE:
            return _decoded(wire.decode(request.args))
        self.invokes.append(request.tok)
        return resource_pb2.ResourceInvokeResponse(unknown=True)

    def Call(self, request: resource_pb2.ResourceCallRequest) -> provider_pb2.CallResponse:
        self.invokes.append(request.tok)
        response = provider_pb2.CallResponse()
        getattr(response, "return").CopyFrom(wire.encode({"result": UNKNOWN}))
        return response

    def ExistsResource(self, _request: object) -> resource_pb2.ExistsResourceResponse:
        return resource_pb2.ExistsResourceResponse()

    def GetDeploymentInfo(self, _request: object) -> resource_pb2.DeploymentInfo:
        return resource_pb2.DeploymentInfo(supportedFeatures=resource_pb2.ResourceMonitorFeature.values())

    def SupportsFeature(self, _request: object) -> resource_pb2.SupportsFeatureResponse:
        return resource_pb2.SupportsFeatureResponse(hasSupport=True)

    def RegisterPackage(self, request: resource_pb2.RegisterPackageRequest) -> resource_pb2.RegisterPackageResponse:
        return resource_pb2.RegisterPackageResponse(ref=f"{request.name}@{request.version}")

    def RegisterStackTransform(self, callback: callback_pb2.Callback) -> empty_pb2.Empty:
        self._transforms.add_stack(callback)
        return empty_pb2.Empty()

    def RegisterStackInvokeTransform(self, _callback: object) -> empty_pb2.Empty:
        return empty_pb2.Empty()

    def RegisterResourceHook(self, _request: object) -> empty_pb2.Empty:
        return empty_pb2.Empty()

    def RegisterErrorHook(self, _request: object) -> empty_pb2.Empty:
        return empty_pb2.Empty()

    def SignalAndWaitForShutdown(self, _request: object) -> empty_pb2.Empty:
        return empty_pb2.Empty()

    def urn(self, parent: str, token: str, name: str) -> str:
        """Return the URN: the types of all parents but the stack, joined by `$`, and the resource's own name."""
        chain = parent.split("::")[2] if parent else ""
        qualified = token if chain in ("", STACK_TYPE) else f"{chain}${token}"
        return f"urn:pulumi:{self.stack}::{self.project}::{qualified}::{name}"

    def secrets(self) -> frozenset[str]:
        """Return every text that came marked secret, in refused registrations too."""
        return frozenset(text for bag in self._received for text in wire.secret_texts(wire.decode(bag)))

    def close(self) -> None:
        """Close the channels to the program's callbacks."""
        self._transforms.close()

    def capture(self, mode: Mode, messages: list[Message], secrets: frozenset[str]) -> Capture:
        """Return everything registered so far."""
        resources = tuple(self._resource(self._registered[urn]) for urn in sorted(self._registered))
        stack = next((r for r in resources if r.type == STACK_TYPE), None)
        outputs = stack.outputs if stack else {}
        # What a transform wrote has not been received.
        marked = {text for r in resources for bag in (r.inputs, r.outputs) for text in wire.secret_texts(bag)}
        return Capture(
            project=self.project,
            stack=self.stack,
            mode=mode,
            resources=resources,
            outputs=outputs,
            messages=tuple(messages),
            invokes=tuple(self.invokes),
            secrets=secrets | marked,
        )

    def _keep(self, registered: _Registered) -> None:
        urn = registered.urn
        if urn in self._registered:
            raise RegistrationError(
                f"two resources have the URN {urn}. A URN holds the types of all parents, but only the resource's own "
                "name: give one of them another name.",
                urn,
                locations(registered.request),
            )
        self._registered[urn] = registered

    def _inherit(self, request: Request) -> None:
        """Take over what the engine lets a child inherit (source_eval.go, inheritFromParent)."""
        above = self._registered.get(request.parent)
        if above is None:
            return
        parent = above.request
        if not request.HasField("protect") and parent.HasField("protect"):
            request.protect = parent.protect
        if not request.HasField("retainOnDelete") and parent.HasField("retainOnDelete"):
            request.retainOnDelete = parent.retainOnDelete
        request.deletedWith = request.deletedWith or parent.deletedWith

    def _answered(self, registered: _Registered, inputs: struct_pb2.Struct, *, custom: bool) -> _Answer:
        if not custom:
            return _Answer(registered.urn, "", inputs)
        token = registered.request.type
        if self._invent is None:
            return _Answer(registered.urn, "", previewed(token, inputs) if self._echo else struct_pb2.Struct())
        fit = fitting(token, inputs) if self._echo else inputs
        known, invented = self._invent(registered.urn, token, wire.decode(fit))
        registered.id = known
        # what is invented below an input is for the program; a policy judges the input as it was written
        registered.invented = {key: value for key, value in invented.items() if key not in inputs.fields}
        merged = struct_pb2.Struct()
        if self._echo:
            merged.CopyFrom(fit)
        wire.merge(merged, wire.encode(invented))
        return _Answer(registered.urn, known, merged)

    def _resource_state(self, urn: str) -> resource_pb2.ResourceInvokeResponse:
        registered = self._registered.get(urn)
        response = resource_pb2.ResourceInvokeResponse()
        body = getattr(response, "return")
        body.update({"urn": urn, "id": ""})
        if registered is not None and isinstance(registered.id, str):
            body.update({"id": registered.id})
        state = body.get_or_create_struct("state")
        if registered is not None:
            state.CopyFrom(registered.request.object)
        return response

    def _resource(self, registered: _Registered) -> Resource:
        request, urn = registered.request, registered.urn
        outputs = self._outputs.get(urn)
        return Resource(
            urn=urn,
            type=request.type,
            name=request.name,
            custom=request.custom,
            parent=request.parent,
            provider=request.provider.replace(wire.UNKNOWN_SENTINEL, "$unknown"),
            inputs=wire.decode(request.object),
            dependencies=tuple(sorted(request.dependencies)),
            property_dependencies={
                key: tuple(sorted(value.urns)) for key, value in sorted(request.propertyDependencies.items())
            },
            protect=request.protect,
            retain_on_delete=request.retainOnDelete,
            remote=request.remote,
            read=registered.read,
            id=registered.id,
            # The SDK sends an alias of its own twice where class and constructor both have it.
            aliases=tuple(dict.fromkeys(self._alias(alias, request) for alias in request.aliases)),
            version=request.version,
            ignore_changes=tuple(request.ignoreChanges),
            replace_on_changes=tuple(request.replaceOnChanges),
            additional_secret_outputs=tuple(request.additionalSecretOutputs),
            delete_before_replace=request.deleteBeforeReplace,
            custom_timeouts={key.name: str(value) for key, value in request.customTimeouts.ListFields()},
            deleted_with=request.deletedWith,
            import_id=request.importId,
            providers=dict(request.providers),
            outputs=registered.invented if outputs is None else wire.decode(outputs),
            location=next((place for place in locations(request) if "site-packages" not in place[0]), None),
        )

    def _alias(self, alias: alias_pb2.Alias, request: Request) -> str:
        """Return the URN an alias stands for: what it leaves out is the resource's own."""
        if alias.urn:
            return alias.urn
        spec = alias.spec
        parent = "" if spec.noParent else spec.parentUrn or request.parent
        chain = parent.split("::")[2] if parent else ""
        token = spec.type or request.type
        qualified = token if chain in ("", STACK_TYPE) else f"{chain}${token}"
        return (
            f"urn:pulumi:{spec.stack or self.stack}::{spec.project or self.project}::{qualified}::"
            f"{spec.name or request.name}"
        )


def _write_version(request: Request) -> None:
    """The engine writes a provider's version into its inputs (seen with CLI 3.259: the one input we lacked)."""
    if request.type.startswith(PROVIDER_TYPE_PREFIX) and request.version and "version" not in request.object:
        request.object["version"] = request.version


def _decoded(arguments: Mapping[str, object]) -> resource_pb2.ResourceInvokeResponse:
    from ruamel.yaml import YAML  # noqa: PLC0415  # 30 ms that few programs need
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    documents = YAML(typ="safe", pure=True).load_all(str(arguments.get("text", "")))
    try:
        objects = [wire.json_like(one) for one in documents if one]
    except YAMLError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"the text of a group of Kubernetes objects is not YAML: {reason}") from error
    response = resource_pb2.ResourceInvokeResponse()
    getattr(response, "return").CopyFrom(wire.encode({"result": objects}))
    return response


def _leave_the_loop() -> None:
    """Ask for a thread: a transform runs on the program's loop, which must not wait for us."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise BlockingCallError


def locations(request: Request) -> list[Location]:
    """Return the program's stack when it constructed this resource, innermost first."""
    return places(request.stackTrace)


def places(trace: source_pb2.StackTrace) -> list[Location]:
    """Return the files and lines of a stack trace, innermost first."""
    return [(unquote(urlparse(frame.pc.uri).path), frame.pc.line) for frame in trace.frames]
