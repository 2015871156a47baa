"""Every policy of the pack, in one explicit table. A policy that is not here does not run."""

from typing import Final

from spotproof_policies.aks_node_classes_are_spelled import policy as aks_node_classes_are_spelled
from spotproof_policies.assumed_discounts_are_modest import policy as assumed_discounts_are_modest
from spotproof_policies.attempts_save_their_work import policy as attempts_save_their_work
from spotproof_policies.checkpoint_buckets_are_encrypted import policy as checkpoint_buckets_are_encrypted
from spotproof_policies.checkpoint_buckets_are_private import policy as checkpoint_buckets_are_private
from spotproof_policies.checkpoint_buckets_are_protected import policy as checkpoint_buckets_are_protected
from spotproof_policies.checkpoint_buckets_are_versioned import policy as checkpoint_buckets_are_versioned
from spotproof_policies.checkpoint_buckets_refuse_plain_http import policy as checkpoint_buckets_refuse_plain_http
from spotproof_policies.checkpoint_intervals_suit_the_market import policy as checkpoint_intervals_suit_the_market
from spotproof_policies.checkpoint_versions_expire import policy as checkpoint_versions_expire
from spotproof_policies.compute_class_selectors_stand_alone import policy as compute_class_selectors_stand_alone
from spotproof_policies.compute_classes_wait_for_their_crd import policy as compute_classes_wait_for_their_crd
from spotproof_policies.fallback_ends_on_on_demand import policy as fallback_ends_on_on_demand
from spotproof_policies.fallback_waits_for_spot import policy as fallback_waits_for_spot
from spotproof_policies.federated_credentials_are_made_in_turn import policy as federated_credentials_are_made_in_turn
from spotproof_policies.gke_deletion_protection_is_said import policy as gke_deletion_protection_is_said
from spotproof_policies.guards_leave_room_for_a_start import policy as guards_leave_room_for_a_start
from spotproof_policies.hierarchical_namespaces_have_no_versions import (
    policy as hierarchical_namespaces_have_no_versions,
)
from spotproof_policies.iam_names_its_actions import policy as iam_names_its_actions
from spotproof_policies.iam_names_its_members import policy as iam_names_its_members
from spotproof_policies.iam_names_its_resources import policy as iam_names_its_resources
from spotproof_policies.interruption_queue_admits_events import policy as interruption_queue_admits_events
from spotproof_policies.interruption_rules_are_complete import policy as interruption_rules_are_complete
from spotproof_policies.karpenter_interruptions_are_heard import policy as karpenter_interruptions_are_heard
from spotproof_policies.karpenter_nodes_have_their_own_role import policy as karpenter_nodes_have_their_own_role
from spotproof_policies.kubernetes_providers_have_an_identifier import policy as kubernetes_providers_have_an_identifier
from spotproof_policies.labels_are_text import policy as labels_are_text
from spotproof_policies.live_checkpoints_are_kept import policy as live_checkpoints_are_kept
from spotproof_policies.model import Policy
from spotproof_policies.node_auto_provisioning_stands_alone import policy as node_auto_provisioning_stands_alone
from spotproof_policies.node_classes_have_time_to_go import policy as node_classes_have_time_to_go
from spotproof_policies.node_classes_outlive_their_nodes import policy as node_classes_outlive_their_nodes
from spotproof_policies.node_disks_hold_images import policy as node_disks_hold_images
from spotproof_policies.node_images_are_pinned import policy as node_images_are_pinned
from spotproof_policies.node_labels_are_ours import policy as node_labels_are_ours
from spotproof_policies.node_metadata_is_guarded import policy as node_metadata_is_guarded
from spotproof_policies.node_upgrades_are_held_back import policy as node_upgrades_are_held_back
from spotproof_policies.nodes_have_their_own_account import policy as nodes_have_their_own_account
from spotproof_policies.one_gpu_plugin import policy as one_gpu_plugin
from spotproof_policies.operators_on_on_demand_nodes import policy as operators_on_on_demand_nodes
from spotproof_policies.pace_knows_its_prices import policy as pace_knows_its_prices
from spotproof_policies.pods_of_workload_identity_carry_the_label import (
    policy as pods_of_workload_identity_carry_the_label,
)
from spotproof_policies.pools_are_labelled import policy as pools_are_labelled
from spotproof_policies.pools_are_limited import policy as pools_are_limited
from spotproof_policies.roles_are_not_administrators import policy as roles_are_not_administrators
from spotproof_policies.soft_delete_is_chosen import policy as soft_delete_is_chosen
from spotproof_policies.spot_nodes_come_back import policy as spot_nodes_come_back
from spotproof_policies.spot_pools_are_tainted import policy as spot_pools_are_tainted
from spotproof_policies.spot_price_cap_is_kept import policy as spot_price_cap_is_kept
from spotproof_policies.spot_service_linked_role_exists import policy as spot_service_linked_role_exists
from spotproof_policies.spot_service_linked_role_is_kept import policy as spot_service_linked_role_is_kept
from spotproof_policies.spot_tiers_pay import policy as spot_tiers_pay
from spotproof_policies.system_images_are_by_digest import policy as system_images_are_by_digest
from spotproof_policies.system_pods_have_no_privileges import policy as system_pods_have_no_privileges
from spotproof_policies.tiers_are_cheapest_first import policy as tiers_are_cheapest_first
from spotproof_policies.tiers_are_different_nodes import policy as tiers_are_different_nodes
from spotproof_policies.tiers_are_interchangeable import policy as tiers_are_interchangeable
from spotproof_policies.tiers_wait_long_enough import policy as tiers_wait_long_enough
from spotproof_policies.training_pools_are_left_alone import policy as training_pools_are_left_alone

POLICIES: Final[tuple[Policy, ...]] = (
    spot_pools_are_tainted.POLICY,
    pools_are_labelled.POLICY,
    node_labels_are_ours.POLICY,
    labels_are_text.POLICY,
    pools_are_limited.POLICY,
    training_pools_are_left_alone.POLICY,
    spot_nodes_come_back.POLICY,
    node_upgrades_are_held_back.POLICY,
    spot_price_cap_is_kept.POLICY,
    node_auto_provisioning_stands_alone.POLICY,
    compute_classes_wait_for_their_crd.POLICY,
    compute_class_selectors_stand_alone.POLICY,
    fallback_ends_on_on_demand.POLICY,
    fallback_waits_for_spot.POLICY,
    tiers_wait_long_enough.POLICY,
    tiers_are_interchangeable.POLICY,
    tiers_are_different_nodes.POLICY,
    tiers_are_cheapest_first.POLICY,
    spot_tiers_pay.POLICY,
    attempts_save_their_work.POLICY,
    checkpoint_intervals_suit_the_market.POLICY,
    guards_leave_room_for_a_start.POLICY,
    pace_knows_its_prices.POLICY,
    assumed_discounts_are_modest.POLICY,
    node_images_are_pinned.POLICY,
    aks_node_classes_are_spelled.POLICY,
    node_disks_hold_images.POLICY,
    node_metadata_is_guarded.POLICY,
    node_classes_have_time_to_go.POLICY,
    node_classes_outlive_their_nodes.POLICY,
    one_gpu_plugin.POLICY,
    operators_on_on_demand_nodes.POLICY,
    system_images_are_by_digest.POLICY,
    system_pods_have_no_privileges.POLICY,
    karpenter_interruptions_are_heard.POLICY,
    interruption_rules_are_complete.POLICY,
    interruption_queue_admits_events.POLICY,
    karpenter_nodes_have_their_own_role.POLICY,
    nodes_have_their_own_account.POLICY,
    spot_service_linked_role_exists.POLICY,
    spot_service_linked_role_is_kept.POLICY,
    iam_names_its_actions.POLICY,
    iam_names_its_resources.POLICY,
    roles_are_not_administrators.POLICY,
    iam_names_its_members.POLICY,
    federated_credentials_are_made_in_turn.POLICY,
    pods_of_workload_identity_carry_the_label.POLICY,
    checkpoint_buckets_are_private.POLICY,
    checkpoint_buckets_are_encrypted.POLICY,
    checkpoint_buckets_refuse_plain_http.POLICY,
    checkpoint_buckets_are_versioned.POLICY,
    live_checkpoints_are_kept.POLICY,
    checkpoint_versions_expire.POLICY,
    soft_delete_is_chosen.POLICY,
    hierarchical_namespaces_have_no_versions.POLICY,
    checkpoint_buckets_are_protected.POLICY,
    gke_deletion_protection_is_said.POLICY,
    kubernetes_providers_have_an_identifier.POLICY,
)
"""In the order in which they are reported: pools, what makes nodes, fallback, nodes, Karpenter,
identity, checkpoints, clusters."""
