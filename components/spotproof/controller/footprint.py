"""What the start leaves behind in memory is given back: pages of lists, and what was parsed from them."""

import ctypes
import gc
import sys


def give_back() -> None:
    """Collect once; what is left from now on is the cache, which no later collection need walk through.

    A full collection walks every dict there is: a second, with 10,000 jobs. The C library keeps freed memory unless it
    is asked for it.
    """
    gc.collect()
    gc.freeze()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)
