"""Resource options, where the SDK's own habits surprise."""

import pulumi


def child_of(parent: pulumi.Resource, opts: pulumi.ResourceOptions | None) -> pulumi.ResourceOptions:
    """Options of a child that waits for what its component waits for.

    The SDK hands a component's providers and protection down to its children, and not its `depends_on`: without this
    the children would start, and on destroy go, in any order.
    """
    return pulumi.ResourceOptions(parent=parent, depends_on=opts.depends_on if opts else None)


def after(opts: pulumi.ResourceOptions, *resources: pulumi.Resource) -> pulumi.ResourceOptions:
    """The same options, waiting for more."""
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(resources)))
