"""Facts of a result, besides its pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Self

import numpy
from numpy.typing import DTypeLike, NDArray

from ._device import DeviceArray, stream_number


class Counts(NamedTuple):
    """Pixel counts of one frame and its result."""

    undefined: int  #: pixels of the result that are NaN
    infinite: int  #: pixels of the result that are infinite
    saturated: int  #: windows with a sample at full scale, of ``windows``
    windows: int  #: 0: no stage checks this
    raw_saturated: int  #: samples of the frame at full scale, of ``raw_samples``
    raw_samples: int  #: 0: samples have no full scale


class Region(NamedTuple):
    """Statistics of one region of interest; NaN if a value does not exist."""

    name: str
    shape: str
    fit: str  #: "whole", "clipped" or "outside", relative to the image
    mean: float  #: in the unit of the result; docs/science.md defines it for each quantity
    mean_of_map: float  #: the plain mean
    std: float
    min: float
    max: float
    median: float  #: NaN unless medians=True was given
    pixels: int
    valid: int
    infinite: int
    undefined: int
    saturated: Optional[int]


class Result(NamedTuple):
    """Facts of the last result of a chain."""

    sequence: int  #: sequence number of the frame; a gap is a loss
    version: int  #: version of the parameters; every edit increases it
    time_ns: int
    exposure_ms: Optional[float]  #: used for the numbers; None: unknown, or not used
    exposure_origin: str  #: "camera", "file", "parameter", "default", "unknown"
    quantity: str  #: "speckle flow index"
    symbol: str  #: "SFI"
    unit: str  #: "1/s"
    measure: str  #: "intensity", "contrast", "contrast2", "time", "flow", "other"
    counts: Counts
    warmup: tuple[int, int]  #: (7, 25): a stage holds 7 of the 25 frames it needs; (0, 0): no stage fills its history
    warming_up: bool  #: made while a stage filled its history or took a capture, now or when the file was recorded
    regions: tuple[Region, ...]
    arrival_ns: int  #: when its pixels were complete: time.monotonic_ns()
    position: Optional[int]  #: position of the frame in its file, from 0; None: no file

    @property
    def time(self) -> float:
        """Capture time in seconds, on the clock of the source."""
        return self.time_ns * 1e-9


_TOLD = (*Result._fields, "time")


def result_of(told: Mapping[str, Any], regions: Iterable[Mapping[str, Any]]) -> Result:
    return Result(**{**told, "counts": Counts(**told["counts"]), "regions": tuple(Region(**one) for one in regions)})


class Image(NamedTuple):
    """A further image of a result, from a stage with ``also``: its pixels and its facts, without regions."""

    data: NDArray[Any]
    result: Result


def also_of(told: Mapping[str, tuple[NDArray[Any], Mapping[str, Any]]]) -> dict[str, Image]:
    return {name: Image(data, result_of(facts, ())) for name, (data, facts) in told.items()}


class Frame:
    """A result of a stream. Its pixels are read-only and valid as long as an array of them exists.

    With memory="device" the pixels are on the GPU, complete and writable: they belong only to this frame. After the last
    array is released, their memory is reused when the caller's work is done: the work then on the streams given to
    DLPack or used_on(), or on the default stream if there are none.

    pickle (multiprocessing, joblib, Dask) copies pixels and facts; the copy is in host memory.
    """

    __slots__ = ("_frame", "_told")

    if TYPE_CHECKING:  # attributes of its Result
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

    def __reduce__(self) -> tuple[Callable[..., Frame], tuple[Any, ...]]:
        frame = self._frame
        return _copied, (numpy.asarray(self.data), frame.raw(), frame.also(), frame.result(), frame.regions())

    @property
    def data(self) -> NDArray[Any]:
        """Pixels of the result, without a copy. With memory="device" it is a DeviceArray, despite the annotation."""
        told = self._frame.device_pixels()
        if told is None:
            pixels: NDArray[Any] = self._frame.data()
            return pixels
        address, shape, kind, pitch = told
        return DeviceArray(self._frame, address, shape, kind, None, pitch)  # type: ignore[return-value]

    def used_on(self, stream: Any) -> Self:
        """Registers a stream, as for a Chain, that uses the result in GPU memory without DLPack."""
        self._frame.order(stream_number(stream), stream)
        return self

    @property
    def raw(self) -> NDArray[Any]:
        """Pixels of the raw frame, without a copy."""
        pixels: NDArray[Any] = self._frame.raw()
        return pixels

    @property
    def also(self) -> dict[str, Image]:
        """Further images by name, without a copy: ``frame.also["contrast"].data`` of ``speckle:also=contrast``."""
        return also_of(self._frame.also())

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


def _copied(data: NDArray[Any], raw: NDArray[Any], also: dict[str, tuple[NDArray[Any], Any]], result: Any, regions: Any) -> Frame:
    """A frame of arrays, for pickle."""
    for pixels in (data, raw, *(image for image, _ in also.values())):
        pixels.setflags(write=False)
    return Frame(SimpleNamespace(data=lambda: data, raw=lambda: raw, also=lambda: also, result=lambda: result,
                                 regions=lambda: regions, device_pixels=lambda: None, order=lambda *_: None))
