"""FallbackPolicy objects, and who may read and write them."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from spotproof.fallback.resolved import (
    NO_PRICE,
    PRICE_SOURCE_LENGTH,
    ResolvedPolicy,
    ResolvedTier,
    TierAccelerator,
    TierToleration,
)
from spotproof.manifests.crd import AGE, Column, definition, keyed, top_level
from spotproof.manifests.fallback_rules import OF_A_TIER, OF_A_TOLERATION, OF_TIERS, Rules, of_the_name
from spotproof.manifests.metadata import metadata
from spotproof.manifests.rbac import GROUP, READ, cluster_role
from spotproof.manifests.scheduling import Placement
from spotproof.manifests.structural import Schema, structural
from spotproof.prices import Price
from spotproof.settings.fallback import FallbackPolicy, Tier
from spotproof.settings.pools import Pool
from spotproof.vocabulary import API_GROUP, API_VERSION, Manifest

KIND: Final = "FallbackPolicy"
PLURAL: Final = "fallbackpolicies"

VALID: Final = "Valid"
"""The condition by which the controller says whether it can carry a policy out."""

COLUMNS: Final = (
    Column("First", "string", ".spec.tiers[0].pool"),
    Column("Deadline", "string", ".spec.deadline.mode"),
    Column(VALID, "string", f'.status.conditions[?(@.type=="{VALID}")].status'),
    AGE,
)

POLICY_READER_ROLE: Final = "spotproof-fallback-policy-reader"

WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")


def resolve_tiers(
    policy: FallbackPolicy,
    *,
    pools: Mapping[str, Pool],
    scheduling: Mapping[str, Placement],
    price: Callable[[Pool], Price | None],
) -> tuple[ResolvedTier, ...]:
    """The policy's tiers with everything their readers need, in the policy's order.

    Args:
        policy: The policy; validated, so that every tier's pool is there.
        pools: Pool name to pool.
        scheduling: Pool name to selector and tolerations.
        price: The price of one node of a pool, or None where nobody knows it.
    """
    return tuple(
        _resolved(tier, pools[tier.pool], scheduling[tier.pool], price(pools[tier.pool])) for tier in policy.tiers
    )


def _resolved(tier: Tier, pool: Pool, scheduling: Placement, price: Price | None) -> ResolvedTier:
    accelerator = pool.accelerator and TierAccelerator(
        type=pool.accelerator.type, count=pool.accelerator.count, memory_gib=pool.accelerator.memory_gib
    )
    return ResolvedTier(
        pool=tier.pool,
        max_failures=tier.max_failures,
        pending_timeout=tier.pending_timeout,
        capacity=pool.capacity,
        node_selector=dict(scheduling.node_selector),
        tolerations=tuple(TierToleration.model_validate(dict(each)) for each in scheduling.tolerations),
        accelerator=accelerator,
        zones=pool.zones,
        instance_types=pool.instance_types or None,
        usd_per_node_hour=price.usd_per_hour if price else None,
        price_source=_price_source(price),
    )


def _price_source(price: Price | None) -> str:
    if price is None:
        return NO_PRICE
    mark = ", assumed" if price.assumed else ""
    return price.source[: PRICE_SOURCE_LENGTH - len(mark)] + mark


def fallback_policy(policy: FallbackPolicy, *, tiers: Sequence[ResolvedTier]) -> Manifest:
    """The object of one policy; everything is written out, what does not apply is left out.

    Args:
        policy: The policy.
        tiers: Its tiers, from resolve_tiers.
    """
    rest = {name: getattr(policy, name) for name in FallbackPolicy.model_fields if name != "tiers"}
    resolved = ResolvedPolicy(**rest, tiers=tuple(tiers))
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata(policy.name),
        "spec": resolved.model_dump(mode="json", exclude={"name"}, exclude_none=True),
    }


def read_policy(manifest: Mapping[str, object]) -> ResolvedPolicy:
    """The policy an object holds; fields of a later version are ignored.

    Raises:
        pydantic.ValidationError: the object is no policy this version can carry out.
    """
    meta, spec = manifest.get("metadata"), manifest.get("spec")
    name = meta.get("name") if isinstance(meta, Mapping) else None
    fields = {**(spec if isinstance(spec, Mapping) else {}), "name": name}
    return ResolvedPolicy.model_validate_json(json.dumps(fields), extra="ignore")


def crd() -> Manifest:
    """The CustomResourceDefinition of FallbackPolicy, made from the model its objects are made from."""
    return definition(kind=KIND, plural=PLURAL, scope="Cluster", short_name="fbp", schema=_schema(), columns=COLUMNS)


def _schema() -> Schema:
    spec = structural(ResolvedPolicy)
    name = spec["properties"].pop("name")
    spec["required"].remove("name")
    tiers = spec["properties"]["tiers"]
    _add(tiers, OF_TIERS)
    tier = tiers["items"]
    _add(tier, OF_A_TIER)
    _write_out(tier)
    _add(tier["properties"]["tolerations"]["items"], OF_A_TOLERATION)
    whole = top_level(
        "How jobs fall down and climb an ordered list of pools. A job names a policy by the label "
        "spotproof.dev/fallback-policy.",
        spec=spec,
        status=_status(),
    )
    return {**whole, "x-kubernetes-validations": of_the_name(name["pattern"], name["maxLength"])}


def _add(node: Schema, rules: Rules) -> None:
    node["x-kubernetes-validations"] = [*node.get("x-kubernetes-validations", []), *map(dict, rules)]


def _write_out(tier: Schema) -> None:
    # The settings' defaults of a tier depend on its place in the list, which a schema cannot tell.
    written = [name for name, each in tier["properties"].items() if each.pop("default", None) is not None]
    tier["required"] = [name for name in tier["properties"] if name in {*tier["required"], *written}]


def _status() -> Schema:
    text = {"type": "string", "maxLength": 1024}
    condition = {
        "type": "object",
        "required": ["type", "status", "lastTransitionTime", "reason", "message"],
        "properties": {
            "type": {**text, "maxLength": 316},
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "reason": text,
            "message": {**text, "maxLength": 32768},
        },
    }
    return {
        "type": "object",
        "description": "What the controller makes of the policy.",
        "properties": {
            "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
            "conditions": keyed({"type": "array", "maxItems": 16, "items": condition}, "type"),
        },
    }


def aggregate_roles() -> list[Manifest]:
    """ClusterRoles that add our kinds, and the jobs they act on, to Kubernetes' own view, edit and admin roles.

    The job kinds are among them because JobSet's chart aggregates nothing, and KubeRay's only if a value asks for it:
    a member who holds `edit` could not create the very jobs a workspace is for.
    A third role reads policies alone; members are bound to it across namespaces.
    """
    policies: Manifest = {"apiGroups": [API_GROUP], "resources": [PLURAL]}
    kinds: list[Manifest] = [
        policies,
        {"apiGroups": [API_GROUP], "resources": ["trainingruns"]},
        {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"]},
        {"apiGroups": ["ray.io"], "resources": ["rayclusters", "rayjobs"]},
    ]
    return [
        cluster_role("spotproof-view", [{**kind, "verbs": [*READ]} for kind in kinds], labels=_aggregated("view")),
        cluster_role("spotproof-edit", [{**kind, "verbs": [*WRITE]} for kind in kinds], labels=_aggregated("edit")),
        cluster_role(POLICY_READER_ROLE, [{**policies, "verbs": [*READ]}]),
    ]


def _aggregated(role: str) -> dict[str, str]:
    return {f"{GROUP}/aggregate-to-{role}": "true"}
