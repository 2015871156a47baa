"""What the start leaves behind in memory is given back: pages of lists, and what was parsed from them."""

import ctypes
import gc
import sys
from typing import Final

SELDOM: Final = (50_000, 20, 100)
"""New containers before the young ones are looked through, and how often that is before older ones are (Python: 700, 10
and 10). News is made of mappings that stay: with 25 reclaimed gangs a second looking through them was half of what it
took to decode them, and its pauses made the slowest hundredth of first patches 1.0 s where it is 0.2."""


def give_back() -> None:
    """Collect once, and seldom from now on; what is left is the cache, which no later collection need walk through.

    A full collection walks every dict there is: a second, with 10,000 jobs. The C library keeps freed memory unless it
    is asked for it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)
