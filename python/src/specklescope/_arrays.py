"""Arrays of NumPy in a chain's own memory of the host."""

import math
import operator

import numpy

from ._errors import UsageError

_TYPES = ("uint8", "uint16", "float32")
_MOST = 2**63 - 1  # the library says what is too much; this is for the narrower type


def empty(chain, shape, dtype):
    """Of `chain`, a _core.Chain; as Chain.empty says."""
    try:
        kind = numpy.dtype(dtype)
    except TypeError:
        kind = None
    if kind is None or kind not in _TYPES:
        raise UsageError(f"There is no memory for {dtype if kind is None else kind}; allowed: {', '.join(_TYPES)}.")
    try:
        sides = tuple(operator.index(side) for side in shape)
    except TypeError:
        sides = ()
    if not sides or min(sides) < 1:
        raise UsageError(f"An array of the shape {shape} is not possible; allowed: whole numbers above 0, (height, width), "
                         "(height, width, 3) or one more in front for a stack.")
    return chain.host_memory(min(math.prod(sides) * kind.itemsize, _MOST)).view(kind).reshape(sides)
