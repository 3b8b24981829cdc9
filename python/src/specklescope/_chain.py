"""A chain that is fed frame by frame."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Self, Union, overload

import numpy
from numpy.typing import DTypeLike, NDArray

from . import _arrays, _core, _device
from ._results import Result, result_of
from ._text import callable_or_none, pairs_text, path_text, real, regions_text, stage_name, told_regions, values_text, whole


#: A file of regions by its name, or regions as dictionaries.
Regions = Union[str, bytes, "os.PathLike[str]", Iterable[Mapping[str, Any]], None]
Progress = Union[Callable[[str, Union[float, None]], Any], None]
Backend = Literal["auto", "cpu", "cuda"]


def text_of(stages: Iterable[str | Chain]) -> str:
    """Of texts and chains, in order."""
    texts = (stage.text if isinstance(stage, Chain) else stage for stage in stages)
    return " | ".join(text for text in texts if text not in ("", "none"))


def set_regions(core: Any, regions: Regions) -> None:
    """Of a chain or a stream of the library: a file of regions by its name, a list of dictionaries, or None."""
    if isinstance(regions, (str, bytes, os.PathLike)):
        core.set_regions(_core.Chain("", {"regions": path_text(regions)}, None).regions())  # it knows files of ImageJ, too
    else:
        core.set_regions(regions_text(regions or []))


def regions_of(core: Any) -> list[dict[str, Any]]:
    regions: list[dict[str, Any]] = json.loads(core.regions())["regions"]
    return regions


class Chain:
    """Stages one behind the other: ``Chain("background:black=64", "speckle:radius=3")``.

    Calling it with a frame gives a new array, or fills ``out``. Stages that look back over frames remember the frames
    that the chain was called with. One thread may be in a call at a time, others may edit it meanwhile; the GIL is
    released while it computes. backend: "auto", "cpu" or "cuda"; threads: at most so many, 0: all; channel: what stages
    for grey get of colour; regions: what is measured on each result, a file of regions or a list of them as dictionaries;
    gpus: which GPU, from 0.

    progress: called in long preparations with what is done and how far it is, 0 to 1 or None where nobody knows. If it
    returns False the call ends with a RunError; what it raises ends the call, too, and is raised there. Either way the
    chain is as it was. It must not use the chain.
    """

    def __init__(self, *stages: str | Chain, backend: Backend = "auto", threads: int = 0, channel: str = "luma",
                 regions: Regions = None, medians: bool = False, gpus: int | str | None = None,
                 progress: Progress = None) -> None:
        options = pairs_text({"backend": backend, "threads": threads, "channel": channel, "medians": medians,
                              "gpus": gpus})
        self._chain = _core.Chain(text_of(stages), {"options": options, **told_regions(regions)}, callable_or_none(progress))

    @overload
    def __call__(self, frame: NDArray[Any], out: None = None, *, exposure_ms: float | None = None, full_scale: float | None = None,
                 time_ns: int = 0, stream: Any = None) -> NDArray[Any]: ...

    @overload
    def __call__(self, frame: Any, out: Any = None, *, exposure_ms: float | None = None, full_scale: float | None = None,
                 time_ns: int = 0, stream: Any = None) -> Any: ...

    def __call__(self, frame: Any, out: Any = None, *, exposure_ms: float | None = None, full_scale: float | None = None,
                 time_ns: int = 0, stream: Any = None) -> Any:
        """The result of one frame, (height, width) or (height, width, 3).

        uint8, uint16 and float32 are read as they are. Other real numbers are converted to float32, whose full scale is unknown
        unless full_scale says it. What has __array__ (xarray, Dask) is read as a NumPy array.

        A frame of another library (PyTorch, JAX, CuPy, whatever has DLPack) is read where it lies and gives a result of the
        same library, without a copy. In memory of a GPU (also with __cuda_array_interface__) that is so there, in the order of
        `stream`: of the caller's present stream if it is None. Nothing is waited for; but where `stream` is a number, which
        keeps no stream alive, memory of the result goes back when the GPU is idle, and that is waited for.

        exposure_ms: as the camera said it, in place of the stages' own; full_scale: the largest value that the camera
        can give, that of the type if it is None; time_ns: when the frame was taken.
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
        except TypeError:  # of these, or of somebody's array
            real(facts[0], "exposure_ms"), real(facts[1], "full_scale"), whole(time_ns, "time_ns")
            raise

    def empty(self, shape: Iterable[int], dtype: DTypeLike) -> NDArray[Any]:
        """An array as of numpy.empty, in memory that this chain reads and writes at full speed: page-locked where it runs on
        a GPU, which fetches frames there and leaves results there (``out=``) without a copy in between.

        dtype: uint8, uint16 or float32. It may be a stack of frames, and outlives the chain. Make it once and fill it often:
        to lock pages takes longer than to copy a frame.
        """
        return _arrays.empty(self._chain, shape, dtype)

    @property
    def result(self) -> Result:
        """What is known of the last result: quantity, unit, counts, regions … Waits for it where a GPU is at it."""
        return result_of(*self._chain.result())

    @property
    def text(self) -> str:
        """Every stage with every parameter, as the command line takes it."""
        return self._chain.text()

    def add(self, stage: str) -> Self:
        """Puts a stage behind the others."""
        self._chain.add(stage)
        return self

    def replace(self, *stages: str | Chain) -> Self:
        """Other stages from the next frame on."""
        self._chain.replace(text_of(stages))
        return self

    def set(self, stage: str | int, **values: Any) -> Self:
        """``chain.set("speckle", radius=5)``: from the next frame on; `stage` by its name or its place from 0. Several values
        take effect at once, or none does where one is refused."""
        self._chain.set(stage_name(stage), values_text(values))
        return self

    def get(self, stage: str | int, name: str) -> str:
        """A parameter as text."""
        return self._chain.get(stage_name(stage), name)

    @property
    def regions(self) -> list[dict[str, Any]]:
        """What is measured from the next frame on: dictionaries with name, shape and points, as in a file of regions, which
        may be set by its name, too."""
        return regions_of(self._chain)

    @regions.setter
    def regions(self, regions: Regions) -> None:
        set_regions(self._chain, regions)

    def reset(self) -> None:
        """The next frame does not follow the last one: stages forget their history."""
        self._chain.reset()

    def close(self) -> None:
        """Gives back its memory; the chain is of no use afterwards."""
        self._chain.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<specklescope.Chain {self.text}>"
