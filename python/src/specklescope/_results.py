"""What is known of a result beside its pixels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Self

import numpy
from numpy.typing import DTypeLike, NDArray

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
    warmup: tuple[int, int]  #: (7, 25): a stage holds 7 of the 25 frames that it wants; (0, 0): none fills its history now
    warming_up: bool  #: a stage filled its history or took a capture, now or when what is played back was recorded
    regions: tuple[Region, ...]
    arrival_ns: int  #: when its pixels were complete here: time.monotonic_ns()
    position: Optional[int]  #: of the frame in its film, from 0; None: of no film

    @property
    def time(self) -> float:
        """Seconds, on the clock of whoever took the frame."""
        return self.time_ns * 1e-9


_TOLD = (*Result._fields, "time")


def result_of(told: Mapping[str, Any], regions: Iterable[Mapping[str, Any]]) -> Result:
    return Result(**{**told, "counts": Counts(**told["counts"]), "regions": tuple(Region(**one) for one in regions)})


class Frame:
    """A result of a stream; its pixels are read-only and stay as long as an array of them does.

    Of a stream with memory="device" they lie on the GPU, complete, and may be written: they are this frame's alone. With
    the last array their memory is written again, behind what those streams hold then that DLPack was asked with or
    used_on() has named; where there are none, behind the default stream."""

    __slots__ = ("_frame", "_told")

    if TYPE_CHECKING:  # of its Result
        sequence: int
        version: int
        time_ns: int
        time: float
        exposure_ms: float | None
        exposure_origin: str
        quantity: str
        symbol: str
        unit: str
        measure: str
        counts: Counts
        warmup: tuple[int, int]
        warming_up: bool
        regions: tuple[Region, ...]
        arrival_ns: int
        position: int | None

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._told: Result | None = None

    @property
    def data(self) -> NDArray[Any]:
        """What the chain made; not a copy. With memory="device" it is a DeviceArray, whatever the annotation says."""
        told = self._frame.device_pixels()
        if told is None:
            pixels: NDArray[Any] = self._frame.data()
            return pixels
        address, shape, kind, pitch = told
        return DeviceArray(self._frame, address, shape, kind, None, pitch)  # type: ignore[return-value]

    def used_on(self, stream: Any) -> Self:
        """A stream, as a Chain takes it, on which the result in memory of a GPU is used and of which DLPack knows nothing."""
        self._frame.order(stream_number(stream), stream)
        return self

    @property
    def raw(self) -> NDArray[Any]:
        """What the source gave; not a copy."""
        pixels: NDArray[Any] = self._frame.raw()
        return pixels

    @property
    def result(self) -> Result:
        if self._told is None:
            self._told = result_of(self._frame.result(), self._frame.regions())
        return self._told

    def __getattr__(self, name: str) -> Any:
        if name not in _TOLD:
            raise AttributeError(f"'Frame' object has no attribute '{name}'")
        return getattr(self.result, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_TOLD]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        data: Any = self.data
        if isinstance(data, DeviceArray):
            return data.__array__()
        if dtype is not None and data.dtype != dtype:
            if copy is False:
                raise ValueError(f"A result of {data.dtype} is no array of {numpy.dtype(dtype)} without a copy.")
            data = data.astype(dtype)
        elif copy:
            data = data.copy()
        return data  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        data = self.data
        return f"<specklescope.Frame {self.sequence}: {data.shape} {data.dtype}, {self.symbol} in {self.unit}>"
