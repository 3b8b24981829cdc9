"""Frames of any source of the program."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Literal, Self, Union

from . import _core
from ._chain import Chain, Progress, Regions, regions_of, set_regions, text_of
from ._errors import UsageError, close_behind
from ._results import Frame
from ._text import (callable_or_none, kind_of_recording, pairs_text, path_text, real, stage_name, told_regions, value_text,
                    values_text, view_text, whole)

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
View = Union[str, Mapping[str, Any], None]


def open(source: Path = "", *, regions: Regions = None, view: View = None, trusted: bool = False,
         progress: Progress = None, **options: Any) -> Stream:
    """Opens a source, as on the command line: a file, ``"synthetic:vessels"``, ``"aravis:CAMERA"``, ``"rtsp://…"``.

    Options are those of the command line: backend, threads, slots, from (as ``**{"from": 5}``), frames, rate, loop,
    transfer, silence, channel, medians, gpus, memory. A camera starts at once; a file waits until the first frame is
    requested.

    memory (only for streams): "host" or "device". With "device", results stay on the GPU that made them: `data` of a
    Frame is a DeviceArray, and results are not transferred to the host. It requires a GPU.

    regions: regions to measure on each result, a region file or a list of dictionaries; view: colours of .mkv, .mp4 and
    .png recordings, a dictionary of the options of --view; trusted: like --trust; progress: as in Chain, also called
    during long preparations of this function.
    """
    return Stream(source, regions=regions, view=view, trusted=trusted, progress=progress, **options)


class Stream:
    """Iterates over the frames in order, to the end of the source, with ``for`` or ``async for``. A context manager."""

    def __init__(self, source: Path = "", *, regions: Regions = None, view: View = None, trusted: bool = False,
                 progress: Progress = None, **options: Any) -> None:
        told = {"options": pairs_text(options), "trusted": bool(trusted), **told_regions(regions)}
        if view is not None:
            told["view"] = view_text(view)
        self._begun = False  # a loop has started
        self._waiting: Future[Frame | None] | None = None  # for a frame, in a thread
        self._thread: ThreadPoolExecutor | None = None
        self._stream = _core.Stream(path_text(source), told, callable_or_none(progress))

    def chain(self, *stages: str | Chain) -> Self:
        """Stages for the next frames: texts of stages, or a Chain, whose current stages are copied."""
        self._stream.replace(text_of(stages))
        return self

    def set(self, stage: str | int, **values: Any) -> Self:
        """Sets parameters of a stage (a name or an index from 0) while it runs, as in Chain."""
        self._stream.set(stage_name(stage), values_text(values))
        return self

    def set_source(self, **values: Any) -> Self:
        """Sets options of the source that may change while it runs: exposure, gain, rate …"""
        for name, value in values.items():
            self._stream.set_source(name, value_text(value))
        return self

    def record(self, path: Path, what: Literal["results", "frames", "mask"] = "results") -> Self:
        """Records from the next frame on into a file whose extension is the format; what: "results", "frames" or "mask"."""
        self._stream.record(path_text(path), kind_of_recording(what))
        return self

    def traces(self, path: Path) -> Self:
        """Writes the regions of every result from the next frame on into a table (.csv), like --traces."""
        self._stream.traces(path_text(path))
        return self

    def mark(self, label: object = "") -> int:
        """Marks an event at the last fetched frame, in open files; returns its number, from 1."""
        return self._stream.mark(str(label))

    def seek(self, frame: int, warm: bool = False) -> Self:
        """Continues a file at this frame, from 0, also after its end; warm: the preceding frames fill the histories
        first.

        If the frame is missing, or the chain cannot run on it, next() reports this once and then continues.
        """
        self._stream.seek(whole(frame, "frame", low=0, high=2**64 - 1), bool(warm))
        return self

    def pause(self, on: bool = True) -> Self:
        """Pauses until pause(False): a file stops, a camera continues without results. From any thread.

        next() still returns the results computed before (more than a hundred for small frames)."""
        self._stream.pause(bool(on))
        return self

    def next(self, timeout: float | None = None) -> Frame:
        """Waits for the next frame; TimeoutError after this many seconds, StopIteration at the end."""
        try:
            return Frame(self._stream.next(-1.0 if timeout is None else real(timeout, "timeout")))
        except StopIteration:
            self._finish()
            raise

    def _finish(self) -> None:
        try:
            if self.source["live"]:
                self._stream.stop()  # releases the camera for others
            else:
                self._stream.finish()  # every file is complete, and failures are reported; seek() can continue
        except UsageError:
            if not self._stream.closed():  # otherwise close() has done it
                raise

    def run(self, callback: Callable[[Frame], Any]) -> int:
        """Calls `callback` with each Frame until the source ends or the callback returns False; returns the number of
        frames.

        Recordings are complete afterwards. An exception in the callback ends the run: files are finished, the stream is
        closed, and the exception is raised here.
        """
        frames = 0
        try:
            for frame in self:
                frames += 1
                if callback(frame) is False:
                    self._finish()
                    break
        except BaseException as error:
            close_behind(error, self.close, "stream")
            raise
        return frames

    def __iter__(self) -> Self:
        if self._stream.closed():
            self._stream.messages()  # raises the library's message
        self._begun = True
        return self

    def __next__(self) -> Frame:
        try:
            return self.next()
        except UsageError:
            if self._begun and self._stream.closed():
                raise StopIteration from None
            raise

    def __aiter__(self) -> Self:
        return self.__iter__()

    async def __anext__(self) -> Frame:
        """Waits in a thread. If the wait is cancelled, the next one returns its frame: no frame is lost."""
        self._thread = self._thread or ThreadPoolExecutor(1, "specklescope")
        waiting = self._waiting = self._waiting or self._thread.submit(next, self, None)
        await asyncio.wait([asyncio.wrap_future(waiting)])
        self._waiting = None
        if (frame := waiting.result()) is None:
            raise StopAsyncIteration
        return frame

    @property
    def regions(self) -> list[dict[str, Any]]:
        """Regions measured from the next frame on: dictionaries with name, shape and points, as in a region file. The
        name of a file can be assigned too. If a region has no pixel in the image, messages() reports it and the previous
        regions stay."""
        return regions_of(self._stream)

    @regions.setter
    def regions(self, regions: Regions) -> None:
        set_regions(self._stream, regions)

    @property
    def source(self) -> dict[str, Any]:
        """Name, size, rate, full scale …"""
        return self._stream.source()

    @property
    def statistics(self) -> dict[str, Any]:
        """Statistics, like --stats."""
        statistics: dict[str, Any] = json.loads(self._stream.statistics())
        return statistics

    def messages(self) -> list[str]:
        """Log messages since the last call."""
        return self._stream.messages().splitlines()

    def finish(self) -> None:
        """Finishes all recordings and reports failures; the stream continues. The end of a file does this too."""
        self._stream.finish()

    def stop(self) -> None:
        """Stops the source and finishes all recordings; from any thread."""
        self._stream.stop()

    def close(self) -> None:
        """Stops the stream and frees its memory; frames in use stay valid. A loop over it ends, in any thread."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        close_behind(error, self.close, "stream")
