"""`make bench-economics`: the rule on recorded markets; writes every figure of docs/economics.md.

The traces are no part of the repository: where ../shared is not there, nothing is measured and nothing is written.
"""

import sys
import time
from collections.abc import Callable, Mapping
from typing import Final

from benchmarks import closed_form, constants, one_zone, recommended, several_zones, speed, unequal
from benchmarks.markets import ROOT, SHARED, Cores, cores
from benchmarks.measure import machine
from benchmarks.pages import between

PAGE: Final = ROOT / "docs" / "economics.md"

SECTIONS: Final[Mapping[str, Callable[[Cores], str]]] = {
    "reference": one_zone.reference,
    "development": one_zone.development,
    "probes": one_zone.probes,
    "ingredients": constants.ingredients,
    "constants": constants.constants,
    "recommended": recommended.recommended,
    "golden": several_zones.golden,
    "zones": several_zones.means,
    "unequal": unequal.pairs,
    "stakes": unequal.stakes,
    "three": unequal.three,
    "closed form": closed_form.closed_form,
    "speed": speed.speed,
}
"""By the name of the marks on the page."""


def main() -> None:
    """Measure all sections, or those that are named, and write them into the page."""
    if not SHARED.is_dir():
        print(f"{SHARED} is not there (set SPOTPROOF_SHARED): docs/economics.md stays as it is")
        return
    wanted = sys.argv[1:] or list(SECTIONS)
    begun = time.perf_counter()
    with cores() as all_cores:
        for name in wanted:
            started = time.perf_counter()
            between(PAGE, SECTIONS[name](all_cores), name)
            print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
    if wanted == list(SECTIONS):
        seconds = time.perf_counter() - begun
        between(PAGE, f"Measured on {machine()}, in {seconds / 60:.0f} minutes.", "machine")


if __name__ == "__main__":
    main()
