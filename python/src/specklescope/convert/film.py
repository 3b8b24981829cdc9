"""Frames of a file with all that the program reads besides the pixels."""

from __future__ import annotations

import json
import os
import shutil
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._errors import UsageError
from .._results import Counts, Frame
from .._stream import Path as Source
from .._stream import Stream
from .._text import path_text

#: Columns of a frame besides its pixel counts, and their types.
COLUMNS = {"sequence": "L", "time_ns": "l", "exposure_ms": "d", "warming_up": "B"}


class Film:
    """A file, read from its first frame to its last, one frame at a time. Columns take 80 bytes for each frame."""

    def __init__(self, source: Source, **options: Any) -> None:
        self.name = path_text(source)
        self._options = {"backend": "cpu", **options}
        with self._open() as stream:
            self.source = stream.source
            if self.source["live"]:
                raise UsageError(f"'{self.name}' is no file. Record it first, then convert the recording.")
            self.first = next(stream, None)
            if self.first is None:
                raise UsageError(f"'{self.name}' has no frame. Choose another file.")
            statistics = stream.statistics
        self.um_per_px: float | None = statistics["um_per_px"]
        self.timed = statistics["time_origin"] != "none"
        #: Facts of the file, in the words of a recording's description.
        self.about = {name: statistics[name] for name in ("um_per_px", "um_per_px_origin", "time_origin", "assumed")}
        self.about |= {name: self.source[name] for name in ("full_scale", "rate", "coding", "lossy")}
        self.about |= {name: getattr(self.first, name) for name in ("quantity", "symbol", "unit", "measure", "exposure_origin")}
        #: Description of a recording of this program; empty for other files.
        self.recording: dict[str, Any] = json.loads(_core.recording(self.name) or "{}")
        if self.first.position and self.recording.get("started"):
            self.recording["started"] = self._date_of_first(self.recording["started"])
        self.columns = _columns()

    def _open(self) -> Stream:
        return Stream(self.name, **self._options)

    def _date_of_first(self, started: str) -> str | None:
        """Date of a part that does not begin with the first frame of the file. None: it has no times."""
        assert self.first is not None
        if not self.timed:
            return None
        whole = {name: value for name, value in self._options.items() if name not in ("from", "from_s", "from-s")}
        with Stream(self.name, **whole) as stream:
            since = self.first.time_ns - next(stream).time_ns
        date = datetime.fromisoformat(started) + timedelta(milliseconds=round(since * 1e-6))
        return date.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def frames(self) -> Iterator[NDArray[Any]]:
        """Pixels of each frame, (height, width) or (height, width, 3). Fills the columns."""
        self.columns = _columns()
        with self._open() as stream:
            for frame in stream:
                self._add(frame)
                yield frame.raw

    def _add(self, frame: Frame) -> None:
        facts = frame.result
        exposure = np.nan if facts.exposure_ms is None else facts.exposure_ms
        for name, value in zip(self.columns, (facts.sequence, facts.time_ns, exposure, facts.warming_up, *facts.counts)):
            self.columns[name].append(value)

    def column(self, name: str) -> NDArray[Any]:
        values = self.columns[name]
        return np.frombuffer(values, dtype=values.typecode)

    def exact_rate(self, times_ns: NDArray[np.int64]) -> float:
        """Nominal or mean rate, if it gives each time to the nanosecond; otherwise 0."""
        count, since = len(times_ns) - 1, times_ns - times_ns[0]
        mean = count / since[-1] * 1e9 if count and since[-1] > 0 else 0.0
        fits = (rate for rate in (float(self.source["rate"]), float(mean))
                if rate > 0 and count and np.array_equal(np.rint(np.arange(count + 1) / rate * 1e9), since))
        return next(fits, 0.0)

    @property
    def period_s(self) -> float:
        """Time between two frames, the mean one if it varies; 0: unknown."""
        times = self.column("time_ns")
        if not self.timed:
            return 0.0
        if rate := self.exact_rate(times):
            return 1 / rate
        if len(times) > 1:
            return float(times[-1] - times[0]) * 1e-9 / (len(times) - 1)
        return 1 / self.source["rate"] if self.source["rate"] > 0 else 0.0


def _columns() -> dict[str, array[Any]]:
    return {name: array(kind) for name, kind in (COLUMNS | dict.fromkeys(Counts._fields, "L")).items()}


def write_raw(output: str | os.PathLike[str], about: Mapping[str, Any], blocks: Iterable[NDArray[Any]],
              lines: Iterable[Mapping[str, Any]]) -> int:
    """Writes a recording, .raw and .raw.jsonl; returns the number of frames. A block is a stack of frames; about describes the
    file and lines the frames, in the words of a recording."""
    if Path(output).suffix != ".raw":
        raise UsageError(f"'{output}' does not end in .raw. Choose such a name; `specklescope run FILE.raw --stage none "
                         "--record-raw FILE.tiff` makes other recordings of it.")
    with new_file(output) as part, new_file(f"{output}.jsonl") as text:
        frames, dtype, shape = 0, np.dtype(np.uint8), (0, 0)
        with open(part, "wb") as file:
            for block in blocks:
                block = _readable(block)
                frames, dtype, shape = frames + len(block), block.dtype, block.shape[1:]
                file.write(block.tobytes())
        channels = 3 if len(shape) == 3 else 1
        begin = {"finished": True, "written": frames, "program": f"Specklescope {_core.version()}", "content": "raw", "started": None}
        stored = {"width": shape[1], "height": shape[0], "channels": channels, "pixel_type": {1: "u8", 2: "u16", 4: "f32"}[dtype.itemsize],
                  "format": ("rgb" if channels == 3 else "gray") + {1: "8", 2: "16le", 4: "32f"}[dtype.itemsize]}
        # facts of single frames have lines of their own
        about = {key: value for key, value in about.items() if key not in ("finished", "written", "frame", "frames", "facts", "changes")}
        with open(text, "w", encoding="ascii") as file_lines:
            for line in (begin | about | stored, *lines):
                file_lines.write(json.dumps(line) + "\n")
    return frames


def _readable(block: NDArray[Any]) -> NDArray[Any]:
    """8 or 16 bits or 32-bit float; refuses other numbers unless 32-bit floats store them exactly."""
    block = block.astype(block.dtype.newbyteorder("="), copy=False)
    if block.dtype not in (np.uint8, np.uint16, np.float32):
        with np.errstate(over="ignore"):
            single = block.astype(np.float32)
        if not np.array_equal(single.astype(block.dtype), block, equal_nan=block.dtype.kind == "f"):
            raise UsageError(f"The file holds {block.dtype} numbers that 32-bit floats cannot store. Convert them first.")
        block = single
    return block


@contextmanager
def new_file(output: str | os.PathLike[str]) -> Iterator[Path]:
    """A hidden name in the same folder, which becomes `output` when everything is written."""
    final = Path(output)
    if final.exists():
        raise UsageError(f"'{final}' exists. Choose another name, or remove it.")
    if not final.parent.is_dir():
        raise UsageError(f"The folder '{final.parent}' does not exist. Create it first.")
    part = final.with_name(f".{final.stem}.part{final.suffix}")
    _remove(part)
    try:
        yield part
        part.rename(final)
    finally:
        _remove(part)


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part)
    else:
        part.unlink(missing_ok=True)
