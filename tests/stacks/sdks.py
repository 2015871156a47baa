"""Imports the SDKs that a preview of our program takes, once, for all processes that are forked from this one."""

import importlib
from functools import reduce
from typing import Final

SDKS: Final = {
    "pulumi_policy": (),
    "pulumi_aws": ("cloudwatch", "ec2", "eks", "iam", "kms", "s3", "sqs", "vpc"),
    "pulumi_azure_native": (
        "authorization",
        "containerservice",
        "managedidentity",
        "monitor",
        "network",
        "operationalinsights",
        "resources",
        "storage",
    ),
    "pulumi_gcp": ("compute", "container", "logging", "projects", "serviceaccount", "storage"),
    "pulumi_kubernetes": ("admissionregistration.v1", "apiextensions.v1", "core.v1", "helm.v3", "meta.v1", "rbac.v1"),
    "pydantic": ("type_adapter",),
    "requests": (),
    "rich": ("console", "table", "tree"),
    "ruamel.yaml": (),
    "typer": (),
}
"""What is missing here is imported each time."""

for sdk, parts in SDKS.items():
    whole = importlib.import_module(sdk)
    for part in parts:
        importlib.import_module(f"{sdk}.{part}")
        # Pulumi's parts are lazy: what they hold is imported at the first look at it, not by their own import
        hasattr(reduce(getattr, part.split("."), whole), "outputs")
