"""NumPy arrays: as input of the library, and in a chain's own host memory."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterable
from typing import Any

import numpy
from numpy.typing import DTypeLike, NDArray

from . import _core
from ._errors import UsageError

_TYPES = ("uint8", "uint16", "float32")
READ = frozenset(map(numpy.dtype, _TYPES))  # types read without a copy
_WHOLE = 2**24  # float32 is exact for integers up to here
_MOST = 2**63 - 1  # the library checks its own limit; this one protects the narrower type


def readable(frame: Any) -> Any:
    """Returns the frame, or a copy that the library can read. Other number types become float32; byte-swapped ones
    become native. Objects with only __array__, such as those of xarray and Dask, become NumPy arrays."""
    if not isinstance(frame, numpy.ndarray):
        if not hasattr(frame, "__array__") or hasattr(frame, "__dlpack__") or hasattr(frame, "__cuda_array_interface__"):
            return frame
        frame = numpy.asarray(frame)
    if frame.dtype in READ or frame.dtype.kind not in "iuf" or isinstance(frame, numpy.ma.MaskedArray):
        return frame  # the library raises the error
    native = frame.dtype.newbyteorder("=")
    if native in READ:
        return frame.astype(native)
    with numpy.errstate(over="ignore"):
        made = frame.astype(numpy.float32)
    if native.kind == "f":
        if numpy.isinf(made).sum() != numpy.isinf(frame).sum():
            raise UsageError(f"The frame is an array of {native} with values beyond float32, {float(numpy.finfo(numpy.float32).max):.3g}; "
                             "divide it by a constant.")
    elif frame.size and max(int(frame.max()), -int(frame.min())) > _WHOLE:
        warnings.warn(f"The frame is an array of {native} with values beyond {_WHOLE}, which float32 rounds by up to 6e-8 of the value.",
                      stacklevel=3)
    return made


def empty(chain: _core.Chain, shape: Iterable[int], dtype: DTypeLike) -> NDArray[Any]:
    """Implements Chain.empty; `chain` is a _core.Chain."""
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
