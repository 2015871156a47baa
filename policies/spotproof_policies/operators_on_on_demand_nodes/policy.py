"""What restarts the jobs is not reclaimed together with them."""

from collections.abc import Iterator

from spotproof.vocabulary import SYSTEM_LABEL
from spotproof_policies.charts import HELM_RELEASE, NODE_SELECTORS, chart, values
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, table


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield an operator whose pods may land on spot nodes; charts outside the table are not judged."""
    name = chart(resource)
    if name not in NODE_SELECTORS:
        return
    path = NODE_SELECTORS[name]
    selector = table(at(values(resource), *path))
    if SYSTEM_LABEL not in set(selector) or selector[SYSTEM_LABEL] != "true":
        yield (
            f"The operator {name} is not pinned to system nodes, so it may run on a spot node and go with the jobs "
            f'that it should bring back. Write values.{".".join(path)}: {{{SYSTEM_LABEL}: "true"}}, in quotes.'
        )


POLICY = Policy(
    name="operators-on-on-demand-nodes",
    description="Operators run on on-demand system nodes.",
    level="mandatory",
    severity="high",
    remedy="Installed through `operators` they are pinned; in a program of your own, write the chart's nodeSelector.",
    url="https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/",
    judges=EachResource((HELM_RELEASE,), check),
)
