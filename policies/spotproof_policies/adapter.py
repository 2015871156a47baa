"""Turns our plain policies into Pulumi's. The only module of the pack that imports `pulumi_policy`.

The guarded views that Pulumi hands over stay as they are: a check that touches an unknown value must
raise, so that Pulumi reports a note in place of a verdict.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from spotproof_policies import model


def pulumi_policies(policies: Iterable[model.Policy]) -> list[Policy]:
    """The policies as a pack takes them, in their order."""
    return [_pulumi_policy(policy) for policy in policies]


def _pulumi_policy(policy: model.Policy) -> Policy:
    metadata: dict[str, Any] = {
        "name": policy.name,
        "description": policy.description,
        "enforcement_level": EnforcementLevel(policy.level),
        "severity": Severity(policy.severity),
        "remediation_steps": policy.remedy,
        "url": policy.url,
        "config_schema": _schema(policy),
    }
    if isinstance(policy.judges, model.EachResource):
        return ResourceValidationPolicy(validate=_judge_resource(policy, policy.judges), **metadata)
    return StackValidationPolicy(validate=_judge_stack(policy, policy.judges), **metadata)


def _schema(policy: model.Policy) -> PolicyConfigSchema | None:
    if not policy.config_schema:
        return None
    return PolicyConfigSchema(properties={key: dict(schema) for key, schema in policy.config_schema.items()})


def _judge_resource(
    policy: model.Policy, judges: model.EachResource
) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    types = frozenset(judges.types)

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        if args.resource_type not in types:
            return
        resource = model.Resource(
            type=args.resource_type,
            name=args.name,
            urn=args.urn,
            props=args.props,
            protect=args.opts.protect,
            parent=args.opts.parent or "",
            delete_seconds=args.opts.custom_timeouts.delete_seconds,
            is_known=partial(_known, args.props),
        )
        # one by one, so that what was found before an unknown value is still reported
        for sentence in judges.check(resource, {**policy.defaults, **args.get_config()}):
            report(sentence, None)

    return validate


def _judge_stack(
    policy: model.Policy, judges: model.WholeStack
) -> Callable[[StackValidationArgs, ReportViolation], None]:
    reads, about = frozenset(judges.reads), frozenset(judges.about)

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        if about and not any(resource.resource_type in about for resource in args.resources):
            return
        stack = model.Stack(tuple(_stack_resource(resource, reads) for resource in args.resources))
        for finding in judges.check(stack, {**policy.defaults, **args.get_config()}):
            report(finding.sentence, finding.resource.urn)

    return validate


def _known(props: Mapping[str, Any], key: str) -> bool:
    try:
        props.get(key)
    except UnknownValueError:
        return False
    return True


def _stack_resource(resource: PolicyResource, reads: frozenset[str]) -> model.Resource:
    by_property = {
        key: tuple(dependency.urn for dependency in found) for key, found in resource.property_dependencies.items()
    }
    behind = (urn for urns in by_property.values() for urn in urns)
    dependencies = dict.fromkeys((*(dependency.urn for dependency in resource.dependencies), *behind))
    return model.Resource(
        type=resource.resource_type,
        name=resource.name,
        urn=resource.urn,
        props=resource.props if resource.resource_type in reads else {},
        protect=resource.opts.protect,
        parent=resource.parent.urn if resource.parent else "",
        delete_seconds=resource.opts.custom_timeouts.delete_seconds,
        dependencies=tuple(dependencies),
        property_dependencies=by_property,
    )
