"""The roles of an experiment as what they become: a part of the job with a name, a size and a place in the file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spotproof.settings.experiment.model import KUBERAY, Experiment, ExtraToleration, Gpu, Role
from spotproof.vocabulary import ON_DEMAND, ON_DEMAND_SELECTORS, SPOT, SPOT_SELECTORS, Capacity

HEAD = "Head"
RAY_WORKERS = ("Worker", "Workers")


@dataclass(frozen=True)
class Part:
    """One role, or one group of Ray workers. `at` is its path in the file, `name` what its pods are called."""

    at: str
    name: str
    role: Role
    is_ray_head: bool = False

    @property
    def gpu(self) -> Gpu | None:
        """GPUs of one pod."""
        return self.role.resources.gpu

    def selectors(self) -> Iterator[tuple[str, str, str]]:
        """Every extra selector: its path in the file, key and value."""
        for at, selectors in (
            (f"{self.at}.extraSelectors", self.role.extra_selectors),
            (f"{self.at}.resources.extraSelectors", self.role.resources.extra_selectors),
        ):
            yield from ((f"{at}.{key}", key, value) for key, value in selectors.items())

    def tolerations(self) -> Iterator[tuple[str, ExtraToleration]]:
        """Every extra toleration with its path in the file."""
        for at, tolerations in (
            (f"{self.at}.extraTolerations", self.role.extra_tolerations),
            (f"{self.at}.resources.extraTolerations", self.role.resources.extra_tolerations),
        ):
            yield from ((f"{at}[{index}]", each) for index, each in enumerate(tolerations))

    @property
    def capacity_selectors(self) -> Mapping[str, tuple[str, Capacity]]:
        """Extra selectors that name a capacity, by any cloud's key: path -> (key and value, capacity)."""
        return {
            at: (f"{key}: {value}", capacity)
            for at, key, value in self.selectors()
            if (capacity := capacity_of(key, value)) is not None
        }

    @property
    def other_selectors(self) -> dict[str, str]:
        """Extra selectors that name something else, kept as they are."""
        return {key: value for _, key, value in self.selectors() if not is_capacity_key(key)}


def capacity_of(key: str, value: str) -> Capacity | None:
    """The capacity a node label means, by any key in use for it; None where it means none."""
    if SPOT_SELECTORS.get(key) == value:
        return SPOT
    return ON_DEMAND if ON_DEMAND_SELECTORS.get(key) == value else None


def is_capacity_key(key: str) -> bool:
    """Whether nodes carry their capacity under this label, on whichever cloud."""
    return key in SPOT_SELECTORS


def parts_of(experiment: Experiment) -> tuple[Part, ...]:
    """The parts of a job in the order of the file; a Ray head first."""
    found = [part for name, role in experiment.spec.types.items() for part in _parts(experiment, name, role)]
    return tuple(sorted(found, key=lambda part: not part.is_ray_head))


def _parts(experiment: Experiment, name: str, role: Role | tuple[Role, ...]) -> Iterator[Part]:
    at = f"spec.types.{name}"
    if isinstance(role, Role):
        yield Part(at, dns_name(name), role, experiment.spec.operator == KUBERAY and name == HEAD)
        return
    for index, group in enumerate(role):
        yield Part(f"{at}[{index}]", getattr(group, "name", dns_name(name)), group)


def dns_name(role: str) -> str:
    """A role's name as names in Kubernetes have it: `Worker` is `worker`, `data_loader` is `data-loader`."""
    return re.sub(r"[^a-z0-9]+", "-", role.lower()).strip("-")
