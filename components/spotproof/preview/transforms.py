"""Transforms: a registration goes back to the program, which may change its properties and options."""

from typing import Final

import grpc
from google.protobuf.message import Message
from pulumi.runtime.proto import callback_pb2, callback_pb2_grpc, resource_pb2

PATIENCE_SECONDS: Final = 30.0
"""How long one transform may take; without a limit a program that never answers would never end."""

_SAME_NAME: Final = ("protect", "version", "provider", "providers", "hooks")
_OPTIONS: Final = {
    "depends_on": "dependencies",
    "ignore_changes": "ignoreChanges",
    "replace_on_changes": "replaceOnChanges",
    "aliases": "aliases",
    "custom_timeouts": "customTimeouts",
    "plugin_download_url": "pluginDownloadURL",
    "retain_on_delete": "retainOnDelete",
    "deleted_with": "deletedWith",
    "delete_before_replace": "deleteBeforeReplace",
    "additional_secret_outputs": "additionalSecretOutputs",
    "import": "importId",
    "replace_with": "replace_with",
} | {name: name for name in _SAME_NAME}
"""Field of a transform's options -> field of a registration; both are the protocol's (resource.proto)."""


class Transforms:
    """Those of the stack and of each resource; a resource's own run first, then its parents', then the stack's."""

    def __init__(self) -> None:
        self._stack: list[callback_pb2.Callback] = []
        self._of: dict[str, list[callback_pb2.Callback]] = {}
        self._parents: dict[str, str] = {}
        self._channels: dict[str, grpc.Channel] = {}

    def add_stack(self, callback: callback_pb2.Callback) -> None:
        """Add a transform that every later resource goes through."""
        self._stack.append(callback)

    def any_for(self, request: resource_pb2.RegisterResourceRequest) -> bool:
        """Whether this registration has to be shown to the program; cheap where a program has no transforms."""
        return bool(self._stack or self._of or request.transforms)

    def apply(self, request: resource_pb2.RegisterResourceRequest, urn: str) -> resource_pb2.RegisterResourceRequest:
        """Return the registration as all its transforms leave it.

        Raises:
            grpc.RpcError: a transform raised; the SDK makes a readable exception of it.
        """
        self._of[urn] = list(request.transforms)
        self._parents[urn] = request.parent
        changed = resource_pb2.RegisterResourceRequest()
        changed.CopyFrom(request)
        for callback in [*self._along(urn), *self._stack]:
            self._call(callback, changed)
        return changed

    def close(self) -> None:
        """Close the channels."""
        for channel in self._channels.values():
            channel.close()

    def _along(self, urn: str) -> list[callback_pb2.Callback]:
        found: list[callback_pb2.Callback] = []
        while urn:
            found += self._of.get(urn, [])
            urn = self._parents.get(urn, "")
        return found

    def _call(self, callback: callback_pb2.Callback, request: resource_pb2.RegisterResourceRequest) -> None:
        if callback.target not in self._channels:
            self._channels[callback.target] = grpc.insecure_channel(callback.target)
        stub = callback_pb2_grpc.CallbacksStub(self._channels[callback.target])
        sent = resource_pb2.TransformRequest(
            type=request.type,
            name=request.name,
            custom=request.custom,
            parent=request.parent,
            properties=request.object,
            options=_options(request),
        )
        message = callback_pb2.CallbackInvokeRequest(token=callback.token, request=sent.SerializeToString())
        reply = stub.Invoke(message, timeout=PATIENCE_SECONDS)
        response = resource_pb2.TransformResponse.FromString(reply.response)
        request.object.CopyFrom(response.properties)
        if response.HasField("options"):
            _take(request, response.options)


def _options(request: resource_pb2.RegisterResourceRequest) -> resource_pb2.TransformResourceOptions:
    options = resource_pb2.TransformResourceOptions()
    for theirs, ours in _OPTIONS.items():
        _copy(request, ours, options, theirs)
    return options


def _take(request: Message, options: resource_pb2.TransformResourceOptions) -> None:
    for theirs, ours in _OPTIONS.items():
        request.ClearField(ours)
        _copy(options, theirs, request, ours)


def _copy(source: Message, name: str, target: Message, to: str) -> None:
    """Copy one protobuf field, whatever its kind, if it is set."""
    value = next((value for field, value in source.ListFields() if field.name == name), None)
    if value is None:
        return
    described = target.DESCRIPTOR.fields_by_name[to]
    held = getattr(target, to)
    if described.message_type is not None and described.message_type.GetOptions().map_entry:
        held.update(value)
    elif isinstance(value, (str, bool)):
        setattr(target, to, value)
    elif hasattr(held, "CopyFrom"):
        held.CopyFrom(value)
    else:
        held.extend(value)
