"""A chain that processes one frame after another."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal, Self, Union, overload

import numpy
from numpy.typing import DTypeLike, NDArray

from . import _arrays, _core, _device
from ._results import Image, Result, also_of, result_of
from ._text import callable_or_none, pairs_text, path_text, real, regions_text, stage_name, told_regions, values_text, whole


#: Name of a region file, or regions as dictionaries.
Regions = Union[str, bytes, "os.PathLike[str]", Iterable[Mapping[str, Any]], None]
Progress = Union[Callable[[str, Union[float, None]], Any], None]
Backend = Literal["auto", "cpu", "cuda"]


def text_of(stages: Iterable[str | Chain]) -> str:
    """Text of a chain from texts and chains, in order."""
    texts = (stage.text if isinstance(stage, Chain) else stage for stage in stages)
    return " | ".join(text for text in texts if text not in ("", "none"))


def set_regions(core: Any, regions: Regions) -> None:
    """Sets the regions of a chain or a stream: name of a region file, a list of dictionaries, or None."""
    if isinstance(regions, (str, bytes, os.PathLike)):
        core.set_regions(_core.Chain("", {"regions": path_text(regions)}, None).regions())  # the library also reads ImageJ files
    else:
        core.set_regions(regions_text(regions or []))


def regions_of(core: Any) -> list[dict[str, Any]]:
    regions: list[dict[str, Any]] = json.loads(core.regions())["regions"]
    return regions


class Chain:
    """Stages in sequence: ``Chain("background:black=64", "speckle:radius=3")``.

    Calling it with a frame returns a new array, or fills ``out``. Stages with a history remember the frames of earlier
    calls. Only one thread at a time may call it; other threads may edit it at the same time. The GIL is released during
    computation.

    backend: "auto", "cpu" or "cuda"; threads: maximum number, 0: all; channel: channel of a colour image for grey-only
    stages; regions: regions to measure on each result, a region file or a list of dictionaries; gpus: index of the GPU,
    from 0; show: further image (``also`` of a stage) that is returned instead of the last one.

    pickle (multiprocessing, joblib, Dask) copies its current stages, options and regions, without the histories of stages and
    without progress.

    progress: called during long preparations with the name of the work and its progress, 0 to 1, or None if unknown. If
    it returns False, the call ends with a RunError. An exception in it also ends the call and is raised there. In both
    cases the chain is unchanged. It must not use the chain.
    """

    def __init__(self, *stages: str | Chain, backend: Backend = "auto", threads: int = 0, channel: str = "luma",
                 regions: Regions = None, medians: bool = False, gpus: int | str | None = None,
                 show: str | None = None, progress: Progress = None) -> None:
        self._options: dict[str, Any] = {"backend": backend, "threads": threads, "channel": channel, "medians": medians, "gpus": gpus,
                                         "show": show}
        self._chain = _core.Chain(text_of(stages), {"options": pairs_text(self._options), **told_regions(regions)},
                                  callable_or_none(progress))

    def __reduce__(self) -> tuple[Callable[..., Chain], tuple[str]]:
        return partial(Chain, regions=self.regions or None, **self._options), (self.text,)

    @overload
    def __call__(self, frame: NDArray[Any], out: None = None, *, exposure_ms: float | None = None, full_scale: float | None = None,
                 time_ns: int = 0, stream: Any = None) -> NDArray[Any]: ...

    @overload
    def __call__(self, frame: Any, out: Any = None, *, exposure_ms: float | None = None, full_scale: float | None = None,
                 time_ns: int = 0, stream: Any = None) -> Any: ...

    def __call__(self, frame: Any, out: Any = None, *, exposure_ms: float | None = None, full_scale: float | None = None,
                 time_ns: int = 0, stream: Any = None) -> Any:
        """Returns the result of one frame, (height, width) or (height, width, 3).

        uint8, uint16 and float32 are read directly. Other real numbers are converted to float32; their full scale is
        unknown unless full_scale is given. Objects with __array__ (xarray, Dask) are read as NumPy arrays.

        A frame of another library with DLPack (PyTorch, JAX, CuPy) is read in place and returns a result of the same
        library, without a copy. This includes GPU memory (also with __cuda_array_interface__), in the order of `stream`;
        None: the caller's current stream. The call does not wait, with one exception: if `stream` is a number, which
        keeps no stream alive, freeing the result waits until the GPU is idle.

        exposure_ms: exposure from the camera, replaces the stages' parameter; full_scale: largest value of the camera,
        by default of the type; time_ns: capture time of the frame.
        """
        facts = exposure_ms or 0.0, full_scale or 0.0, time_ns
        try:
            if type(frame) is not numpy.ndarray or frame.dtype not in _arrays.READ:
                frame = _arrays.readable(frame)
            if type(frame) is numpy.ndarray and (out is None or type(out) is numpy.ndarray):
                return self._chain.process(frame, out, *facts)
            if _device.on_device(frame) or _device.on_device(out):
                return _device.process(self._chain, frame, out, stream, facts)
            if out is None:
                return _device.process_lent(self._chain, frame, facts)
            return self._chain.process(frame, out, *facts)
        except TypeError:  # of these calls, or of the given array
            real(facts[0], "exposure_ms"), real(facts[1], "full_scale"), whole(time_ns, "time_ns")
            raise

    def empty(self, shape: Iterable[int], dtype: DTypeLike) -> NDArray[Any]:
        """Returns an array like numpy.empty, in memory that this chain reads and writes at full speed. For a chain on a
        GPU it is page-locked: frames are read and results (``out=``) are written without an intermediate copy.

        dtype: uint8, uint16 or float32. The array may be a stack of frames, and may outlive the chain. Allocate it once
        and reuse it: locking pages takes longer than copying a frame.
        """
        return _arrays.empty(self._chain, shape, dtype)

    @property
    def result(self) -> Result:
        """Facts of the last result: quantity, unit, counts, regions … Waits if a GPU is still computing it."""
        return result_of(*self._chain.result())

    @property
    def also(self) -> dict[str, Image]:
        """Further images of the last result by name, as copies: ``chain.also["contrast"].data`` of
        ``speckle:also=contrast``. A chain on a GPU copies them to the host with each frame."""
        return also_of(self._chain.also())

    @property
    def text(self) -> str:
        """All stages with all parameters, as on the command line."""
        return self._chain.text()

    def add(self, stage: str) -> Self:
        """Adds a stage at the end."""
        self._chain.add(stage)
        return self

    def replace(self, *stages: str | Chain) -> Self:
        """Replaces the stages from the next frame on."""
        self._chain.replace(text_of(stages))
        return self

    def set(self, stage: str | int, **values: Any) -> Self:
        """``chain.set("speckle", radius=5)`` takes effect with the next frame. `stage` is a name or an index from 0.
        Several values take effect together; if one is refused, none is set."""
        self._chain.set(stage_name(stage), values_text(values))
        return self

    def get(self, stage: str | int, name: str) -> str:
        """Returns a parameter as text."""
        return self._chain.get(stage_name(stage), name)

    @property
    def regions(self) -> list[dict[str, Any]]:
        """Regions measured from the next frame on: dictionaries with name, shape and points, as in a region file. The
        name of a file can be assigned too."""
        return regions_of(self._chain)

    @regions.setter
    def regions(self, regions: Regions) -> None:
        set_regions(self._chain, regions)

    def reset(self) -> None:
        """Clears the histories of the stages: the next frame does not follow the previous one."""
        self._chain.reset()

    def close(self) -> None:
        """Frees the memory; the chain cannot be used afterwards."""
        self._chain.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<specklescope.Chain {self.text}>"
