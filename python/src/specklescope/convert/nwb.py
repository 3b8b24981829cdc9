"""NWB by pynwb: frames, and the traces of regions with their masks."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Union
from uuid import uuid4

import numpy as np
from hdmf.backends.hdf5.h5_utils import H5DataIO
from hdmf.data_utils import DataChunkIterator
from numpy.typing import NDArray
from pynwb import NWBHDF5IO, NWBFile, TimeSeries
from pynwb.file import Subject
from pynwb.image import ImageSeries
from pynwb.ophys import ImageSegmentation, ImagingPlane, OpticalChannel, PlaneSegmentation, RoiResponseSeries

from .. import _core
from .._chain import Chain, Regions
from .._errors import UsageError
from .._stream import Path as Source
from .._text import regions_text
from .film import Film, new_file

CHUNK = 2**20  #: bytes of pixels, at least one frame
About = Union[str, os.PathLike[str], Mapping[str, Mapping[str, Any]], None]

#: Tables of the file about.toml, and their keys, which are those of pynwb.
KEYS = {
    "session": ("session_description", "session_start_time", "session_id", "experimenter", "experiment_description", "institution",
                "lab", "keywords", "notes", "pharmacology", "protocol", "related_publications", "surgery"),
    "subject": ("subject_id", "species", "sex", "age", "date_of_birth", "description", "genotype", "strain", "weight"),
    "plane": ("description", "excitation_lambda", "indicator", "location"),
    "device": ("name", "description", "manufacturer"),
}


def to_nwb(source: Source, output: str | os.PathLike[str], *, traces: str | os.PathLike[str] | None = None,
           regions: Regions = None, about: About = None, **options: Any) -> int:
    """Writes a recording as NWB; returns the number of frames. Intensities become an ImageSeries of the acquisition, results
    one of the processing module ophys; with traces, their means and events, and the masks of the regions.

    Reads the recording twice, since the times come before the frames. about: a dictionary of the tables session,
    subject, plane and device, or a .toml file of them; its keys are those of pynwb. options: as of specklescope.open().
    Memory: a few chunks of 1 MiB, or of one frame if that is larger; the traces.
    """
    stated = _about(about)
    film = Film(source, **options)
    if not film.timed:
        raise UsageError(f"'{film.name}' has no times, which NWB needs. Give its rate: '{film.name}?rate=100'.")
    if (traces is None) != (regions is None):
        raise UsageError("Traces and regions belong together. Name both files, or none.")
    frames = sum(1 for _ in film.frames())
    nwb = _file(film, stated)
    plane = _plane(nwb, film, stated)
    _add_frames(nwb, film)
    if traces is not None:
        _add_traces(nwb, film, plane, os.fspath(traces), regions)
    with new_file(output) as part, NWBHDF5IO(str(part), "w") as file:
        file.write(nwb)
    return frames


def _about(about: About) -> dict[str, dict[str, Any]]:
    name = "about"
    if isinstance(about, (str, os.PathLike)):
        name = os.fspath(about)
        try:
            with open(about, "rb") as file:
                about = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"'{name}' is no TOML: {error}.") from None
    stated = {table: dict((about or {}).get(table, {})) for table in KEYS}
    for table, values in (about or {}).items():
        unknown = set(values) - set(KEYS[table]) if table in KEYS else {""}
        if unknown:
            keys = ", ".join(KEYS.get(table, KEYS))
            raise UsageError(f"'{name}' has the unknown key [{table}] {', '.join(sorted(unknown))}. Allowed: {keys}.")
    if subject := stated["subject"]:
        missing = [key for key in ("subject_id", "species", "sex") if key not in subject]
        missing += [] if {"age", "date_of_birth"} & set(subject) else ["age or date_of_birth"]
        if missing:
            raise UsageError(f"'{name}' does not state {', '.join(missing)} of the subject, which DANDI needs. Add them to [subject].")
    return stated


def _file(film: Film, stated: dict[str, dict[str, Any]]) -> NWBFile:
    session = stated["session"]
    start = session.pop("session_start_time", film.recording.get("started"))
    if isinstance(start, str):
        start = datetime.fromisoformat(start)
    if not isinstance(start, datetime) or start.tzinfo is None:
        raise UsageError(f"'{film.name}' does not state when it was recorded, which NWB needs. Write session_start_time = "
                         "2026-11-28T10:00:00+01:00, date and time of the first frame with the time zone, below [session] of about.")
    note = film.recording.get("note", "")
    session.setdefault("session_description", note or f"Frames of {film.source['name']}")
    subject = stated["subject"] or ({"subject_id": film.recording["subject"]} if film.recording.get("subject") else None)
    return NWBFile(identifier=str(uuid4()), session_start_time=start, subject=Subject(**subject) if subject else None,
                   source_script=f"specklescope convert {_core.version()}", source_script_file_name="specklescope", **session)


def _plane(nwb: NWBFile, film: Film, stated: dict[str, dict[str, Any]]) -> ImagingPlane:
    """NWB requires a wavelength, an indicator and a location: unstated ones are NaN and "not stated"."""
    camera = film.recording.get("source_name") or "camera"
    device = nwb.create_device(**({"name": camera.replace("/", "_").replace(":", "_"), "description": "camera"} | stated["device"]))
    grid = {"grid_spacing": [film.um_per_px] * 2, "grid_spacing_unit": "micrometers"} if film.um_per_px else {}
    plane = {"description": "camera image", "excitation_lambda": float("nan"), "indicator": "none", "location": "not stated"} | stated["plane"]
    return nwb.create_imaging_plane(name="ImagingPlane", device=device, **plane, **grid,
                                    optical_channel=OpticalChannel(name="OpticalChannel", description="scattered light",
                                                                   emission_lambda=plane["excitation_lambda"]))


def _times(film: Film, times_ns: NDArray[np.int64]) -> dict[str, Any]:
    """Times since the first frame of the film: a rate if it gives each time to the nanosecond, otherwise all of them."""
    since = times_ns - film.column("time_ns")[0]
    if rate := film.exact_rate(times_ns):
        return {"starting_time": float(since[0]) * 1e-9, "rate": rate}
    return {"timestamps": _stored(since * 1e-9)}


def _stored(data: Any, **chunks: Any) -> H5DataIO:
    return H5DataIO(data, compression="gzip", compression_opts=4, shuffle=True, **chunks)


def _add_frames(nwb: NWBFile, film: Film) -> None:
    assert film.first is not None
    times = film.column("time_ns").copy()
    first = film.first.raw
    shape = (first.shape[1], first.shape[0], *first.shape[2:])  # NWB: x before y
    step = max(1, CHUNK // first.nbytes)
    chunks = (min(step, len(times)), *shape)
    data = DataChunkIterator(data=_transposed(film), maxshape=(len(times), *shape), dtype=first.dtype, buffer_size=step)
    raw = film.about["measure"] == "intensity" and film.recording.get("content", "raw") == "raw"
    series = ImageSeries(
        name="RawFrames" if raw else _plain(film.about["quantity"]), data=_stored(data, chunks=chunks),
        unit=film.about["unit"], format="raw", dimension=list(shape[:2]),
        description=f"{film.about['quantity']} ({film.about['symbol']}), frame × x × y" + (" × red, green, blue" if len(shape) == 3 else ""),
        comments=json.dumps({"file": film.about, "recording": film.recording}), device=next(iter(nwb.devices.values())), **_times(film, times))
    if raw:
        nwb.add_acquisition(series)
    else:
        _module(nwb).add(series)
    exposures = film.column("exposure_ms") * 1e-3
    if not np.isnan(exposures).all():
        nwb.add_acquisition(TimeSeries(name="ExposureTime", data=_stored(exposures), unit="seconds",
                                       description="exposure time of each frame", **_times(film, times)))


def _transposed(film: Film) -> Iterator[NDArray[Any]]:
    for frame in film.frames():
        yield np.ascontiguousarray(np.swapaxes(frame, 0, 1))


def _module(nwb: NWBFile) -> Any:
    return nwb.processing.get("ophys") or nwb.create_processing_module("ophys", "results of Specklescope")


def _plain(quantity: str) -> str:
    """"speckle flow index 1/(2TK²)" as a name: "SpeckleFlowIndex"."""
    words = [word for word in quantity.split() if word.isalpha() and word.isascii()]
    return "".join(word.capitalize() for word in words) or "Results"


def _add_traces(nwb: NWBFile, film: Film, plane: ImagingPlane, file: str, regions: Regions) -> None:
    from ..analysis import read_traces
    traces = read_traces(file)
    if traces.clock != "capture_s":
        raise UsageError(f"'{file}' has only times of arrival, which are not on the clock of the frames. Record it again with --rate.")
    used = traces.frames[traces.frames["usable"]]
    means = used.pivot_table(index="time_s", columns="region", values="mean", dropna=False)
    first, last = film.column("time_ns")[[0, -1]] * 1e-9
    seconds = means.index.to_numpy(float)
    if not len(seconds) or seconds[0] < first - 1e-6 or seconds[-1] > last + 1e-6:
        raise UsageError(f"The times of '{file}' are not those of '{film.name}'. Name the traces of this recording.")
    quantity, symbol, unit = traces.map
    rois = _segmentation(nwb, plane, traces, regions, list(means.columns), file)
    _module(nwb).add(RoiResponseSeries(
        name=_plain(quantity) + "OfRegions", data=_stored(means.to_numpy(float)), rois=rois, unit=unit or "not stated",
        description=f"{quantity} ({symbol}) of each region: {traces.about.get('mean', 'mean')}. {len(traces.frames) - len(used)} values of "
                    "a warm-up or of earlier settings are left out.",
        comments=json.dumps(traces.about), **_times(film, np.rint(seconds * 1e9).astype(np.int64))))
    events = traces.events[traces.events["time_s"].notna()]
    if len(events):
        table = nwb.create_events_table(name="Events", description="marked events, at the time of their frame")
        for event in events.itertuples():
            table.add_row(timestamp=float(event.time_s) - first, annotation=str(event.label))


def _segmentation(nwb: NWBFile, plane: ImagingPlane, traces: Any, regions: Regions, names: list[str], file: str) -> Any:
    known = Chain(regions=regions).regions
    text = regions_text(known)
    size = [int(side) for side in traces.about["map"].rpartition(" of ")[2].removesuffix(" pixels").split("×")]
    pixels = dict(zip(traces.regions["region"], traces.regions["pixels"]))
    table = PlaneSegmentation(name="PlaneSegmentation", imaging_plane=plane,
                              description=f"regions on images of {size[0]} × {size[1]} pixels, x from the left, y from the top")
    table.add_column("region", "name of the region")
    for name in names:
        index = next((i for i, one in enumerate(known) if one["name"] == name), None)
        if index is None:
            raise UsageError(f"Region '{name}' of '{file}' is not among the regions. Name the file of regions that made the traces.")
        mask = np.frombuffer(_core.region_mask(text, index, *size), np.uint8).reshape(size[::-1])
        y, x = np.nonzero(mask)
        if len(x) != pixels.get(name, len(x)):
            raise UsageError(f"Region '{name}' has {len(x)} pixels, and {pixels[name]} in '{file}'. Name the file of regions that made "
                             "the traces.")
        table.add_roi(pixel_mask=[(int(a), int(b), 1.0) for a, b in zip(x, y)], region=name)
    segmentation = ImageSegmentation()
    segmentation.add_plane_segmentation(table)
    _module(nwb).add(segmentation)
    return table.create_roi_table_region(description="all regions", region=list(range(len(names))))
