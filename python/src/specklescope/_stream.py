"""The frames of any source of the program."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
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
    """A source as on the command line: a file, ``"synthetic:vessels"``, ``"aravis:CAMERA"``, ``"rtsp://…"``.

    Options are those of the command line: backend, threads, slots, from (as ``**{"from": 5}``), frames, rate, loop, transfer, silence, channel,
    medians, gpus, memory. A camera runs from here on, a file waits for the first frame to be asked for.

    memory, which only streams have, is "host" or "device": results stay on the GPU that made them, `data` of a Frame is a
    DeviceArray, and nothing of it crosses the bus. Without a GPU it is refused.

    regions: what is measured on each result, a file of regions or a list of them as dictionaries; view: colours of what is
    recorded as .mkv, .mp4 and .png, a dictionary of what --view takes; trusted: as --trust; progress: as of a Chain, also
    called while this prepares something long.
    """
    return Stream(source, regions=regions, view=view, trusted=trusted, progress=progress, **options)


class Stream:
    """Iterating gives a Frame for each frame, in order; it ends with the source. A context manager."""

    def __init__(self, source: Path = "", *, regions: Regions = None, view: View = None, trusted: bool = False,
                 progress: Progress = None, **options: Any) -> None:
        told = {"options": pairs_text(options), "trusted": bool(trusted), **told_regions(regions)}
        if view is not None:
            told["view"] = view_text(view)
        self._begun = False  # a loop over it
        self._stream = _core.Stream(path_text(source), told, callable_or_none(progress))

    def chain(self, *stages: str | Chain) -> Self:
        """What the next frames go through: texts of stages, or a Chain, whose stages are taken as they are now."""
        self._stream.replace(text_of(stages))
        return self

    def set(self, stage: str | int, **values: Any) -> Self:
        """Parameters of a stage, by its name or its place from 0, while it runs; as of a Chain."""
        self._stream.set(stage_name(stage), values_text(values))
        return self

    def set_source(self, **values: Any) -> Self:
        """Options of the source that may be set while it runs: exposure, gain, rate …"""
        for name, value in values.items():
            self._stream.set_source(name, value_text(value))
        return self

    def record(self, path: Path, what: Literal["results", "frames", "mask"] = "results") -> Self:
        """From the next frame on, into a file whose ending names the format; what: "results", "frames" or "mask"."""
        self._stream.record(path_text(path), kind_of_recording(what))
        return self

    def traces(self, path: Path) -> Self:
        """Regions of every result from the next frame on into a table (.csv), as --traces writes it."""
        self._stream.traces(path_text(path))
        return self

    def mark(self, label: object = "") -> int:
        """An event at the frame that was fetched last, in files that are open; its number, from 1."""
        return self._stream.mark(str(label))

    def seek(self, frame: int, warm: bool = False) -> Self:
        """A file goes on at this frame, from 0, also after its end; warm: histories are filled with the frames before it.

        Where the frame turns out not to be there, or the chain cannot run on it, next() says so once and then goes on.
        """
        self._stream.seek(whole(frame, "frame", low=0, high=2**64 - 1), bool(warm))
        return self

    def pause(self, on: bool = True) -> Self:
        """A file stands until pause(False); the results of a camera stand still. From any thread."""
        self._stream.pause(bool(on))
        return self

    def next(self, timeout: float | None = None) -> Frame:
        """Waits for the next one; TimeoutError after so many seconds, StopIteration at the end."""
        try:
            return Frame(self._stream.next(-1.0 if timeout is None else real(timeout, "timeout")))
        except StopIteration:
            self._finish()
            raise

    def _finish(self) -> None:
        try:
            if self.source["live"]:
                self._stream.stop()  # a camera is for others now
            else:
                self._stream.finish()  # every file is whole, and one that failed is said; seek() goes on
        except UsageError:
            if not self._stream.closed():  # else close() has done it
                raise

    def run(self, callback: Callable[[Frame], Any]) -> int:
        """Calls it with each Frame until the source has no more, or it returns False; returns how many there were.

        What is recorded is complete then. Whatever the callback raises ends the run: files are finished, the stream is
        closed, and it is raised from here.
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
            self._stream.messages()  # has the sentence
        self._begun = True
        return self

    def __next__(self) -> Frame:
        try:
            return self.next()
        except UsageError:
            if self._begun and self._stream.closed():
                raise StopIteration from None
            raise

    @property
    def regions(self) -> list[dict[str, Any]]:
        """What is measured from the next frame on: dictionaries with name, shape and points, as in a file of regions, which
        may be set by its name, too. messages() says where one has no pixel on the picture; then the others stay."""
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
        """As --stats writes them."""
        statistics: dict[str, Any] = json.loads(self._stream.statistics())
        return statistics

    def messages(self) -> list[str]:
        """What the program would have logged since the last time."""
        return self._stream.messages().splitlines()

    def finish(self) -> None:
        """Finishes every file that is recorded, and says what failed; the stream goes on. The end of a file does so, too."""
        self._stream.finish()

    def stop(self) -> None:
        """Ends the source and finishes every file; from any thread."""
        self._stream.stop()

    def close(self) -> None:
        """Stops it, and gives back its memory; frames that are held stay. A loop over it ends, in any thread."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        close_behind(error, self.close, "stream")
