"""Multi-frame DICOM, read by pydicom."""

from __future__ import annotations

import os

import numpy as np

from .._errors import UsageError
from .film import write_raw


def from_dicom(source: str | os.PathLike[str], output: str | os.PathLike[str]) -> int:
    """Writes the frames of a DICOM file as a recording, .raw and .raw.jsonl; returns the number of frames. Stored values, times
    from FrameTimeVector, FrameTime or CineRate, pixel size from PixelSpacing. Nothing that identifies a patient is copied.
    Memory: one frame."""
    import pydicom
    from pydicom.pixels.utils import iter_pixels
    try:
        data = pydicom.dcmread(source, stop_before_pixels=True)
    except pydicom.errors.InvalidDicomError:
        raise UsageError(f"'{source}' is no DICOM. Choose another file.") from None
    light = data.get("PhotometricInterpretation")
    if light not in ("MONOCHROME2", "RGB") and not str(light).startswith("YBR") or data.get("PixelRepresentation") or data.get("BitsAllocated") not in (8, 16):
        raise UsageError(f"'{source}' holds {light} of {data.get('BitsAllocated')} bits. Only unsigned MONOCHROME2 and colour of 8 or "
                         "16 bits is read.")
    if data.get("HighBit") != data.BitsStored - 1:  # pydicom would cut off the highest bits
        raise UsageError(f"'{source}' stores {data.BitsStored} bits below bit {data.get('HighBit')}, which is not read. Save it with "
                         f"HighBit {data.BitsStored - 1}.")
    count = int(data.get("NumberOfFrames", 1))
    vector = [float(step) for step in data.get("FrameTimeVector", ())]
    step = float(data.get("FrameTime") or 0) or 1000 / float(data.get("CineRate") or np.inf)
    steps = np.array(vector if len(vector) == count else [0.0] + [step] * (count - 1))
    times = np.rint(np.cumsum(steps) * 1e6).astype(int) if vector or step > 0 else None
    mm = [float(side) for side in data.get("PixelSpacing", (0, 1))]
    about = {"source_name": "DICOM", "time_origin": "none" if times is None else "source", "rate": 1000 / step if step > 0 else 0,
             "full_scale": 2 ** data.BitsStored - 1, "um_per_px": mm[0] * 1000 if mm[0] == mm[1] > 0 else None}
    return write_raw(output, about, (frame[np.newaxis] for frame in iter_pixels(source)),
                     ({"sequence": i, "capture_ns": None if times is None else int(times[i])} for i in range(count)))
