"""Arrays of one's own into the files that the program writes."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal, Self

from . import _arrays, _core
from ._errors import UsageError, close_behind
from ._results import Frame, Result
from ._stream import Path, View
from ._text import kind_of_recording, path_text, real, view_text, whole

_LONGEST = 2**62 / 1e9  # s: sums and differences of two are 64 bits of nanoseconds


class Recorder:
    """``with Recorder("flow.tiff", quantity=chain.result) as r: r.push(array, time=0.1)``; the ending names the format.

    what: "results", "frames" (raw) or "mask" (of their saturated samples). quantity: what the numbers of results are, a
    Result or a Frame that says it, or a name with symbol, unit and measure ("contrast", "contrast2", "time", "flow",
    "other"). source: where they come from, for the file's description; view: colours of .mkv, .mp4 and .png, a dictionary
    of what --view takes; rate in frames/s; um_per_px; live: a frame that finds no room is dropped and counted, instead of
    waiting for it. A taken name gets a number: `path` tells it. Nothing is made before the first frame.
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
        """One frame, an array as a Chain takes it, which is copied; or a Frame of a stream, with its time, its exposure and
        whether it is of a warm-up.

        time in seconds, or time_ns, on a clock of the caller's, never backwards, within 146 years of 0; neither: it was taken
        now, or, where the recorder has a rate and is not live, a period of it behind the one before. In one file either all
        frames have a time or none. exposure_ms, full_scale: as the camera said them; discontinuity: it does not
        follow the frame before; warming_up: as a Result tells it.
        """
        if isinstance(frame, Frame):
            told = frame.result
            time_ns = told.time_ns if time is None and time_ns is None else time_ns
            exposure_ms = told.exposure_ms if exposure_ms is None else exposure_ms
            made_now = self._what == "results" or told.warmup[1] == 0  # a stage that fills its history leaves raw frames alone
            warming_up = warming_up or (told.warming_up and made_now)
            frame = frame.data if self._what == "results" else frame.raw
        if time is not None and time_ns is not None:
            raise UsageError("The frame has a time and a time_ns; give one of them.")
        if time is not None:
            if not abs(real(time, "time")) < _LONGEST:  # NaN neither
                raise UsageError(f"The frame's time = {time} s is not possible; allowed: seconds within 146 years of 0.")
            time_ns = round(float(time) * 1e9)
        self._recorder.push(_arrays.readable(frame), real(exposure_ms or 0.0, "exposure_ms"), real(full_scale or 0.0, "full_scale"),
                            whole(time_ns or 0, "time_ns"), time_ns is not None, bool(discontinuity), bool(warming_up))
        return self

    def mark(self, label: object = "") -> int:
        """An event at the frame that is pushed next; its number, from 1."""
        return self._recorder.mark(str(label))

    @property
    def path(self) -> str:
        """Of the file that is written, or was last; "" before the first frame."""
        return self._recorder.info()["path"]

    @property
    def counts(self) -> dict[str, Any]:
        """written, dropped, queued frames, bytes of the present file, files, closed, and the error that ended it."""
        info = self._recorder.info()
        del info["path"]
        return info

    def close(self) -> None:
        """Writes what was given and finishes the file; RunError where that failed."""
        self._recorder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        close_behind(error, self.close, "recorder")
