"""What is known of a result beside its pixels."""

from typing import NamedTuple, Optional

import numpy

from ._device import DeviceArray, stream_number


class Counts(NamedTuple):
    """What was counted of one frame and its result."""

    undefined: int  #: pixels of the result that are NaN
    infinite: int  #: pixels of the result that are infinite
    saturated: int  #: windows with a sample at full scale, of ``windows``
    windows: int  #: 0: no stage looked
    raw_saturated: int  #: samples of the frame at full scale, of ``raw_samples``
    raw_samples: int  #: 0: they have no full scale


class Region(NamedTuple):
    """One region of interest, measured; NaN where there is nothing to tell."""

    name: str
    shape: str
    fit: str  #: "whole", "clipped" or "outside" the picture
    mean: float  #: in the unit of the result, taken as its quantity asks
    mean_of_map: float  #: the plain mean
    std: float
    min: float
    max: float
    median: float  #: NaN unless medians were asked for
    pixels: int
    valid: int
    infinite: int
    undefined: int
    saturated: Optional[int]


class Result(NamedTuple):
    """What is known of the last result of a chain."""

    sequence: int  #: of the frame; a gap is a loss
    version: int  #: of the parameters; edits count it up
    time_ns: int
    exposure_ms: Optional[float]  #: that the numbers rest on; None: unknown, or they rest on none
    exposure_origin: str  #: "camera", "file", "parameter", "default", "unknown"
    quantity: str  #: "speckle flow index"
    symbol: str  #: "SFI"
    unit: str  #: "1/s"
    measure: str  #: "intensity", "contrast", "contrast2", "time", "flow", "other"
    counts: Counts
    warmup: tuple  #: (7, 25): a stage holds 7 of the 25 frames that it wants; (0, 0): none fills its history now
    warming_up: bool  #: a stage filled its history or took a capture, now or when what is played back was recorded
    regions: tuple  #: of Region
    arrival_ns: int  #: when its pixels were complete here: time.monotonic_ns()
    position: Optional[int]  #: of the frame in its film, from 0; None: of no film

    @property
    def time(self) -> float:
        """Seconds, on the clock of whoever took the frame."""
        return self.time_ns * 1e-9


_TOLD = (*Result._fields, "time")


def result_of(told, regions):
    return Result(**{**told, "counts": Counts(**told["counts"]), "regions": tuple(Region(**one) for one in regions)})


class Frame:
    """A result of a stream; its pixels are read-only and stay as long as an array of them does.

    Of a stream with memory="device" they lie on the GPU, complete, and may be written: they are this frame's alone. With
    the last array their memory is written again, behind what those streams hold then that DLPack was asked with or
    used_on() has named; where there are none, behind the default stream."""

    __slots__ = ("_frame", "_told")

    def __init__(self, frame):
        self._frame = frame
        self._told = None

    @property
    def data(self) -> "numpy.ndarray | DeviceArray":
        """What the chain made, a NumPy array, or with memory="device" a DeviceArray; not a copy."""
        told = self._frame.device_pixels()
        if told is None:
            return self._frame.data()
        address, shape, kind, pitch = told
        return DeviceArray(self._frame, address, shape, kind, None, pitch)

    def used_on(self, stream):
        """A stream, as a Chain takes it, on which the result in memory of a GPU is used and of which DLPack knows nothing."""
        self._frame.order(stream_number(stream), stream)
        return self

    @property
    def raw(self) -> numpy.ndarray:
        """What the source gave; not a copy."""
        return self._frame.raw()

    @property
    def result(self) -> Result:
        if self._told is None:
            self._told = result_of(self._frame.result(), self._frame.regions())
        return self._told

    def __getattr__(self, name):
        if name not in _TOLD:
            raise AttributeError(f"'Frame' object has no attribute '{name}'")
        return getattr(self.result, name)

    def __dir__(self):
        return [*super().__dir__(), *_TOLD]

    def __array__(self, dtype=None, copy=None):
        data = self.data
        if isinstance(data, DeviceArray):
            return data.__array__()
        if dtype is not None and data.dtype != dtype:
            if copy is False:
                raise ValueError(f"A result of {data.dtype} is no array of {numpy.dtype(dtype)} without a copy.")
            return data.astype(dtype)
        return data.copy() if copy else data

    def __repr__(self):
        data = self.data
        return f"<specklescope.Frame {self.sequence}: {data.shape} {data.dtype}, {self.symbol} in {self.unit}>"
