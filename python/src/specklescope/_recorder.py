"""Records your own arrays into files of the program."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal, Self

from . import _arrays, _core
from ._errors import UsageError, close_behind
from ._results import Frame, Result
from ._stream import Path, View
from ._text import kind_of_recording, path_text, real, view_text, whole

_LONGEST = 2**62 / 1e9  # in s: sums and differences of two times fit into 64 bits of nanoseconds


class Recorder:
    """``with Recorder("flow.tiff", quantity=chain.result) as r: r.push(array, time=0.1)``; the extension selects the
    format.

    what: "results", "frames" (raw) or "mask" (of their saturated samples). quantity: quantity of the results, from a
    Result or a Frame, or a name with symbol, unit and measure ("contrast", "contrast2", "time", "flow", "other").
    source: origin of the frames, for the file's description. view: colours of .mkv, .mp4 and .png, a dictionary of the
    options of --view. rate: in frames/s. um_per_px: pixel size. live: drop and count frames if the queue is full,
    instead of waiting.

    An existing name gets a number, see `path`. No file is created before the first frame.
    """

    def __init__(self, path: Path, what: Literal["results", "frames", "mask"] = "results", *,
                 quantity: str | Frame | Result | None = None, symbol: str | None = None, unit: str | None = None,
                 measure: str | None = None, source: str | None = None, view: View = None, rate: float | None = None,
                 um_per_px: float | None = None, live: bool = False) -> None:
        if isinstance(quantity, (Frame, Result)):
            of = quantity.result if isinstance(quantity, Frame) else quantity
            quantity, symbol, unit, measure = of.quantity, of.symbol, of.unit, of.measure
        elif quantity is None and not (symbol is unit is measure is None):
            raise UsageError("There is a symbol, a unit or a measure and no quantity; give its name, too.")
        told = {"quantity": quantity, "symbol": symbol, "unit": unit, "measure": measure, "source": source,
                "view": None if view is None else view_text(view), "rate": rate, "um_per_px": um_per_px}
        told = {name: real(value, name) if name in ("rate", "um_per_px") else str(value)
                for name, value in told.items() if value is not None}
        self._recorder = _core.Recorder(path_text(path), kind_of_recording(what), told, bool(live))
        self._what = what

    def push(self, frame: Any, *, time: float | None = None, time_ns: int | None = None, exposure_ms: float | None = None,
             full_scale: float | None = None, discontinuity: bool = False, warming_up: bool = False) -> Self:
        """Records a copy of one frame: an array as for a Chain, or a Frame of a stream with its time, exposure and
        warm-up state.

        time (in s) or time_ns: capture time on any clock that does not run backwards, within 146 years of 0. Without
        either, the frame was captured now; if the recorder has a rate and is not live, one period after the previous
        frame. In one file either all frames have a time or none. exposure_ms, full_scale: from the camera;
        discontinuity: the frame does not follow the previous one; warming_up: as in a Result.
        """
        if isinstance(frame, Frame):
            told = frame.result
            time_ns = told.time_ns if time is None and time_ns is None else time_ns
            exposure_ms = told.exposure_ms if exposure_ms is None else exposure_ms
            made_now = self._what == "results" or told.warmup[1] == 0  # a stage that fills its history does not affect raw frames
            warming_up = warming_up or (told.warming_up and made_now)
            frame = frame.data if self._what == "results" else frame.raw
        if time is not None and time_ns is not None:
            raise UsageError("The frame has a time and a time_ns; give one of them.")
        if time is not None:
            if not abs(real(time, "time")) < _LONGEST:  # also refuses NaN
                raise UsageError(f"The frame's time = {time} s is not possible; allowed: seconds within 146 years of 0.")
            time_ns = round(float(time) * 1e9)
        self._recorder.push(_arrays.readable(frame), real(exposure_ms or 0.0, "exposure_ms"), real(full_scale or 0.0, "full_scale"),
                            whole(time_ns or 0, "time_ns"), time_ns is not None, bool(discontinuity), bool(warming_up))
        return self

    def mark(self, label: object = "") -> int:
        """Marks an event at the next pushed frame; returns its number, from 1."""
        return self._recorder.mark(str(label))

    @property
    def path(self) -> str:
        """Path of the current or last file; "" before the first frame."""
        return self._recorder.info()["path"]

    @property
    def counts(self) -> dict[str, Any]:
        """Numbers of written, dropped and queued frames, bytes of the current file, number of files, closed, and the
        error that ended the recording."""
        info = self._recorder.info()
        del info["path"]
        return info

    def close(self) -> None:
        """Writes pending frames and finishes the file; RunError if that failed."""
        self._recorder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        close_behind(error, self.close, "recorder")
