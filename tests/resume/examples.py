"""Every training example that is proven, in the order in which they run. A contract test holds it against examples/."""

from collections.abc import Sequence
from typing import Final

from tests.resume.example import Example
from tests.resume.jax_orbax import JAX_ORBAX
from tests.resume.ray_examples import RAY_TRAIN, TENSORFLOW
from tests.resume.torch_dcp import TORCH_DCP

EXAMPLES: Final[Sequence[Example]] = (JAX_ORBAX, RAY_TRAIN, TENSORFLOW, TORCH_DCP)
