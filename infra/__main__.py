"""The program of every stack: load the settings, provision the cloud, install the operators, export."""

from pathlib import Path

import pulumi

from spotproof import clouds, operators
from spotproof.prices import load_prices
from spotproof.settings import SettingsError, clock, load_environment, warnings

STACKS = Path(__file__).resolve().parent.parent / "stacks"

try:
    env = load_environment(
        pulumi.Config("spotproof").require_object("environment"),
        today=clock.today(),
        source=f"Pulumi.{pulumi.get_stack()}.yaml",
    )
    prices = load_prices(STACKS / env.prices if env.prices else None)
except SettingsError as error:
    # a RunError has no traceback: the text is complete
    raise pulumi.RunError(str(error)) from None

for warning in warnings(env, clock.today()):
    pulumi.log.warn(str(warning))
cluster = clouds.provision(pulumi.get_stack(), env, prices)
operators.install(pulumi.get_stack(), env, cluster)
for key, value in cluster.exports.items():
    pulumi.export(key, value)
