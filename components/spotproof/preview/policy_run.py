"""Runs the policy pack on captured resources, through the same servicer that Pulumi's engine talks to.

Nothing is served: the servicer's methods are called with the messages the engine would send, so that unknown
values, proxies and float numbers reach a policy exactly as they do in `pulumi preview --policy-pack policies`.
"""

import contextvars
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2 as wire
from pulumi_policy import EnforcementLevel
from pulumi_policy.policy import (
    _PolicyAnalyzerServicer as Servicer,  # pyright: ignore[reportPrivateUsage]  # the one faithful way to run a policy
)

from spotproof.preview.model import NOTE, Asset, Reference, Resource, Secret, Violation
from spotproof.preview.policy_config import PolicySettings, resolve
from spotproof.preview.wire import encode
from spotproof_policies.adapter import pulumi_policies
from spotproof_policies.model import EachResource, Policy, WholeStack
from spotproof_policies.registry import POLICIES

_PACK: Final = "spotproof"
_COULD_NOT_RUN: Final = "can't run policy "
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")
_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def run_policies(
    resources: Sequence[Resource],
    *,
    project: str,
    stack: str,
    config: Mapping[str, object] | None = None,
    policies: Sequence[Policy] = POLICIES,
) -> list[Violation]:
    """Run the policies one resource at a time, then on all resources together.

    Args:
        resources: in any order; the result does not depend on it.
        project: of the stack, sent as the engine sends it.
        stack: its name, likewise.
        config: policy name -> level or object, as in a `--policy-pack-config` file.
        policies: the table to run, ours when nothing is said.

    Returns:
        Violations in the order of the table, then of URNs. `level` is "mandatory", "advisory" or `NOTE`.

    Raises:
        PolicyConfigError: the configuration names what does not exist or gives what is refused.
    """
    settings = resolve(policies, config)
    ordered = sorted(resources, key=lambda resource: resource.urn)
    # The SDK reads and writes context variables for every message; ours stay as they are.
    found = contextvars.copy_context().run(_analyze, policies, settings, ordered, project, stack)
    position = {policy.name: index for index, policy in enumerate(policies)}
    return sorted(found, key=lambda violation: (position[violation.policy], violation.urn))


def _analyze(
    policies: Sequence[Policy],
    settings: Mapping[str, PolicySettings],
    resources: Sequence[Resource],
    project: str,
    stack: str,
) -> list[Violation]:
    configured = wire.AnalyzerStackConfigureRequest(project=project, stack=stack, dry_run=True)
    by_name = {policy.name: policy for policy in policies}
    found: list[Violation] = []
    for servicer, group in _over_resources(policies, settings, resources):
        servicer.ConfigureStack(configured, None)
        for urn, request in group:
            found.extend(_violations(by_name, servicer.Analyze(request, None), urn))
    for servicer, request in _over_stack(policies, settings, resources):
        servicer.ConfigureStack(configured, None)
        found.extend(_violations(by_name, servicer.AnalyzeStack(request, None), ""))
    return found


def _over_resources(
    policies: Sequence[Policy], settings: Mapping[str, PolicySettings], resources: Sequence[Resource]
) -> Iterator[tuple[Servicer, list[tuple[str, wire.AnalyzeRequest]]]]:
    """A servicer for each type that is judged, and what to ask it.

    The engine sends every resource to all policies, and a servicer unpacks it anew for each one, which is most of
    its time. Our adapter answers nothing for another type, so it need not be asked.
    """
    providers = _Providers(resources)
    by_type: dict[str, list[Resource]] = {}
    for resource in resources:
        by_type.setdefault(resource.type, []).append(resource)
    for kind, of_kind in by_type.items():
        judging = [one for one in policies if isinstance(one.judges, EachResource) and kind in one.judges.types]
        if judging:
            requests = [(resource.urn, _request(resource, providers)) for resource in of_kind]
            yield _servicer(judging, settings), requests


def _over_stack(
    policies: Sequence[Policy], settings: Mapping[str, PolicySettings], resources: Sequence[Resource]
) -> Iterator[tuple[Servicer, wire.AnalyzeStackRequest]]:
    """A servicer for each stack policy, with the properties that it reads: the adapter hides the others anyway.

    What a policy is not about it is not asked, as for single resources.
    """
    present = {resource.type for resource in resources}
    judging = [
        (one, frozenset(one.judges.reads))
        for one in policies
        if isinstance(one.judges, WholeStack) and (not one.judges.about or present.intersection(one.judges.about))
    ]
    read = frozenset[str]().union(*(reads for _, reads in judging))
    whole = [
        (resource.type, _bare(resource), _whole(resource) if resource.type in read else None) for resource in resources
    ]
    for policy, reads in judging:
        sent = [full if full and kind in reads else bare for kind, bare, full in whole]
        yield _servicer([policy], settings), wire.AnalyzeStackRequest(resources=sent)


def _servicer(policies: Sequence[Policy], settings: Mapping[str, PolicySettings]) -> Servicer:
    servicer = Servicer(_PACK, "0.0.0", pulumi_policies(policies), EnforcementLevel.ADVISORY)
    request = wire.ConfigureAnalyzerRequest()
    for policy in policies:
        own = settings[policy.name]
        level = wire.EnforcementLevel.Value(own.level.upper())
        request.policyConfig[policy.name].CopyFrom(wire.PolicyConfig(enforcementLevel=level))
        request.policyConfig[policy.name].properties.update(dict(own.properties))
    servicer.Configure(request, None)
    return servicer


def _violations(by_name: Mapping[str, Policy], response: wire.AnalyzeResponse, default_urn: str) -> Iterator[Violation]:
    for one in response.diagnostics:
        policy = by_name[one.policyName]
        note = one.message.startswith(_COULD_NOT_RUN)
        yield Violation(
            policy=policy.name,
            level=NOTE if note else wire.EnforcementLevel.Name(one.enforcementLevel).lower(),
            severity=policy.severity,
            urn=one.urn or default_urn,
            message=_note(one.message) if note else one.message.removeprefix(f"{policy.description}\n"),
            remedy="" if note else policy.remedy,
        )


def _note(message: str) -> str:
    what = message.rpartition("during preview: ")[2]
    return f"Not judged before the update: {what.removesuffix(' during preview')}."


class _Providers:
    """The provider of a resource as policies see it; each is encoded once."""

    def __init__(self, resources: Sequence[Resource]) -> None:
        self._by_urn = {one.urn: one for one in resources if one.type.startswith("pulumi:providers:")}
        self._encoded: dict[str, wire.AnalyzerProviderResource] = {}

    def of(self, resource: Resource) -> wire.AnalyzerProviderResource | None:
        urn = resource.provider.rpartition("::")[0]
        provider = self._by_urn.get(urn)
        if provider is None:
            return None
        if urn not in self._encoded:
            self._encoded[urn] = wire.AnalyzerProviderResource(
                type=provider.type, urn=urn, name=provider.name, properties=_struct(provider.inputs)
            )
        return self._encoded[urn]


def _request(resource: Resource, providers: _Providers) -> wire.AnalyzeRequest:
    return wire.AnalyzeRequest(
        type=resource.type,
        urn=resource.urn,
        name=resource.name,
        properties=_struct(resource.inputs),
        options=_options(resource),
        provider=providers.of(resource),
    )


def _whole(resource: Resource) -> wire.AnalyzerResource:
    whole = _bare(resource)
    # A provider answers a preview with the inputs; a component has only what it registered as outputs.
    outputs = {**resource.inputs, **resource.outputs} if resource.custom else resource.outputs
    whole.properties.CopyFrom(_struct(outputs))
    whole.options.CopyFrom(_options(resource))
    return whole


def _bare(resource: Resource) -> wire.AnalyzerResource:
    return wire.AnalyzerResource(
        type=resource.type,
        urn=resource.urn,
        name=resource.name,
        parent=resource.parent,
        dependencies=resource.dependencies,
        propertyDependencies={
            key: wire.AnalyzerPropertyDependencies(urns=urns) for key, urns in resource.property_dependencies.items()
        },
    )


def _options(resource: Resource) -> wire.AnalyzerResourceOptions:
    timeouts = {key: _duration(value) for key, value in resource.custom_timeouts.items()}
    return wire.AnalyzerResourceOptions(
        protect=resource.protect,
        ignoreChanges=resource.ignore_changes,
        parent=resource.parent,
        customTimeouts=wire.AnalyzerResourceOptions.CustomTimeouts(**timeouts) if timeouts else None,
    )


def _duration(text: str) -> float:
    """Seconds of a Go duration such as `1h30m`."""
    return sum(float(count) * _SECONDS[unit] for count, unit in _DURATION.findall(text))


def _struct(values: Mapping[str, object]) -> struct_pb2.Struct:
    return encode({key: _plain(value) for key, value in values.items()})


def _plain(value: Any) -> Any:
    """Without what the engine opens or replaces before it shows a resource to a policy."""
    match value:
        case Secret():
            return _plain(value.value)
        case Reference():
            return value.urn if value.id is None else value.id
        case Asset():
            return _plain(dict(value.source))
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case _:
            return value
