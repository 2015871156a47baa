"""A training environment in a VPC that another team made."""

import pulumi

from spotproof import operators
from spotproof.clouds.aws import EksEnvironment

name = f"train-{pulumi.get_stack()}"
environment = EksEnvironment(name, {"environment": pulumi.Config().require_object("environment")})
operators.install(name, environment.settings, environment.cluster)

pulumi.export("configureKubectl", environment.cluster.exports["configureKubectl"])
pulumi.export("checkpoints", environment.cluster.checkpoints.uri)
