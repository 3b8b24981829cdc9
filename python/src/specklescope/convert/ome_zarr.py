"""OME-Zarr 0.5 by zarr-python. acquire-zarr 0.10 queues compression without a limit if a file is read faster than it compresses."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import BloscCodec

from .._errors import UsageError
from .._results import Counts
from .._stream import Path as Source
from .film import Film, new_file, write_raw

CHUNK, SHARD = 2**20, 2**25  #: bytes of pixels; at least one frame each
FACTS = "specklescope"  #: group next to the image: facts of the file, and an array for each fact of the frames


def to_zarr(source: Source, output: str | os.PathLike[str], **options: Any) -> int:
    """Writes each frame of a file as OME-Zarr 0.5, compressed without loss; returns the number of frames.

    options: as of specklescope.open(). Memory: about four shards of 32 MiB, or of one frame if that is larger.
    """
    film = Film(source, **options)
    assert film.first is not None
    with new_file(output) as part:
        group = zarr.open_group(part, mode="w", zarr_format=3)
        frame = _planes(film.first.raw)
        chunk = max(1, CHUNK // frame.nbytes)
        shard = chunk * max(1, SHARD // (chunk * frame.nbytes))
        array = group.create_array("0", shape=(0, *frame.shape), dtype=frame.dtype, chunks=(chunk, *(1,) * (frame.ndim - 2), *frame.shape[-2:]),
                                   shards=(shard, *frame.shape), compressors=BloscCodec(cname="zstd", clevel=3, shuffle="shuffle"),
                                   dimension_names="tyx" if frame.ndim == 2 else "tcyx", config={"write_empty_chunks": True})
        frames = film.frames()
        while block := [_planes(one) for one in islice(frames, shard)]:
            done = array.shape[0]
            array.resize((done + len(block), *frame.shape))
            array[done:] = np.stack(block)
        _describe(group, film, Path(output).name)
        return array.shape[0]


def _planes(frame: NDArray[Any]) -> NDArray[Any]:
    """Colour first: OME-Zarr has channels before y and x."""
    return np.moveaxis(frame, -1, 0).copy() if frame.ndim == 3 else frame.copy()


def _describe(group: zarr.Group, film: Film, name: str) -> None:
    """Scales and units, which are known at the end, and the facts."""
    known = {"t": film.period_s, "c": 0.0, "y": film.um_per_px or 0.0, "x": film.um_per_px or 0.0}
    kinds = {"t": ("time", "second"), "c": ("channel", "")}
    axes, scale = [], []
    for axis in "tyx" if film.source["channels"] == 1 else "tcyx":
        kind, unit = kinds.get(axis, ("space", "micrometer"))
        axes.append({"name": axis, "type": kind} | ({"unit": unit} if known[axis] else {}))
        scale.append(known[axis] or 1.0)
    dataset = {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": scale}]}
    ome: dict[str, Any] = {"version": "0.5", "multiscales": [{"name": name, "axes": axes, "datasets": [dataset]}]}
    if len(axes) == 4:
        top = float(film.source["full_scale"] or 1)
        ome["omero"] = {"channels": [{"label": label, "color": colour, "active": True,
                                      "window": {"min": 0.0, "max": top, "start": 0.0, "end": top}}
                                     for label, colour in (("red", "FF0000"), ("green", "00FF00"), ("blue", "0000FF"))]}
    group.attrs["ome"] = ome
    facts = group.create_group(FACTS, attributes={"file": film.about, "recording": film.recording})
    for column in film.columns:
        if column != "time_ns" or film.timed:
            facts.create_array(column, data=film.column(column), chunks=(2**17,))


def from_zarr(source: str | os.PathLike[str], output: str | os.PathLike[str], at: Mapping[str, int] | None = None) -> int:
    """Writes an OME-Zarr image as a recording: .raw and .raw.jsonl, which the program reads; returns the number of
    frames. Times, exposures, units and settings come back from files of to_zarr(); other files give pixel size and period.

    at: index of axes that are neither time nor y and x, such as {"c": 0, "z": 3}. Memory: one chunk of frames.
    """
    group, image = _open(source)
    array, colour, pick = _select(group, image, at or {}, str(source))
    facts = group.get(FACTS)
    facts = facts if isinstance(facts, zarr.Group) else None
    frames = array.shape[0] if image["axes"][0]["name"] == "t" else 1
    about = _about(image, facts)
    return write_raw(output, about, _blocks(array, pick, colour), _frame_lines(about, facts, frames))


def _open(source: str | os.PathLike[str]) -> tuple[zarr.Group, dict[str, Any]]:
    try:
        group = zarr.open_group(os.fspath(source), mode="r")
    except (FileNotFoundError, ValueError, KeyError):
        raise UsageError(f"'{source}' is no Zarr group. Name an OME-Zarr image.") from None
    attributes: dict[str, Any] = group.attrs.asdict()
    images = attributes.get("ome", attributes).get("multiscales")
    if not images:
        raise UsageError(f"'{source}' has no image of OME-Zarr 0.4 or 0.5. Name the group of one image.")
    image: dict[str, Any] = images[0]
    if any(isinstance(axis, str) for axis in image.get("axes", ["t"])):
        raise UsageError(f"'{source}' is of an old version of OME-Zarr. Convert it to version 0.4 or 0.5.")
    return group, image


def _select(group: zarr.Group, image: dict[str, Any], at: Mapping[str, int], name: str) -> tuple[zarr.Array[Any], int, tuple[Any, ...]]:
    """The array of full resolution, its number of colours, and the index of its axes after time."""
    array = group[image["datasets"][0]["path"]]
    assert isinstance(array, zarr.Array)
    axes = [axis["name"] for axis in image["axes"]]
    if axes[-2:] != ["y", "x"] or len(axes) != len(array.shape) or "t" in axes[1:]:
        raise UsageError(f"'{name}' has the axes {''.join(axes)}. Only images with t first and y, x last are read.")
    ours = FACTS in group and array.shape[-3:-2] == (3,) and axes[-3:-2] == ["c"] and not at
    pick: list[Any] = []
    for axis, size in zip(axes[1 if axes[0] == "t" else 0:-2], array.shape[1 if axes[0] == "t" else 0:-2]):
        if ours and axis == "c":
            pick.append(slice(None))
        elif axis in at or size == 1:
            index = at.get(axis, 0)
            if not 0 <= index < size:
                raise UsageError(f"'{name}' has {size} of {axis}; {axis}={index} does not exist. Use 0 to {size - 1}.")
            pick.append(index)
        else:
            raise UsageError(f"'{name}' has {size} of {axis}. Choose one with --at {axis}=0 … {axis}={size - 1}.")
    if unknown := set(at) - set(axes[:-2]) | ({"t"} & set(at)):
        raise UsageError(f"'{name}' has no axis {', '.join(sorted(unknown))} to choose from. Its axes: {''.join(axes)}.")
    return array, 3 if ours else 1, tuple(pick)


def _blocks(array: zarr.Array[Any], pick: tuple[Any, ...], colour: int) -> Iterator[NDArray[Any]]:
    timed = array.ndim == len(pick) + 3
    step = array.chunks[0] if timed else 1
    for begin in range(0, array.shape[0] if timed else 1, step):
        frames = np.asarray(array[(slice(begin, begin + step), *pick) if timed else pick])
        frames = frames if timed else frames[np.newaxis]
        yield np.moveaxis(frames, -3, -1) if colour == 3 else frames


def _about(image: dict[str, Any], facts: zarr.Group | None) -> dict[str, Any]:
    """A recording's description."""
    if facts is not None:
        stored: dict[str, Any] = facts.attrs.asdict()
        file: dict[str, Any] = stored["file"]
        recording: dict[str, Any] = stored["recording"]
        return {"content": "raw" if file["measure"] == "intensity" else "processed"} | recording | file
    scale = [t["scale"] for t in image["datasets"][0]["coordinateTransformations"] if t["type"] == "scale"][0]
    outer = [t["scale"] for t in image.get("coordinateTransformations", ()) if t["type"] == "scale"]
    scale = np.multiply(scale, outer[0]) if outer else scale
    units = {axis["name"]: (float(side), _UNITS.get(axis.get("unit", ""), 0.0)) for axis, side in zip(image["axes"], scale)}
    period = units["t"][0] * units["t"][1] if "t" in units else 0.0
    sides = [units[axis][0] * units[axis][1] for axis in "yx"]
    return {"source_name": image.get("name", ""), "rate": 1 / period if period > 0 else 0,
            "time_origin": "source" if period > 0 else "none", "um_per_px": sides[0] if sides[0] == sides[1] > 0 else None}


#: Units of OME-Zarr in s and µm.
_UNITS = {"second": 1.0, "millisecond": 1e-3, "microsecond": 1e-6, "nanosecond": 1e-9, "minute": 60.0, "hour": 3600.0,
          "meter": 1e6, "centimeter": 1e4, "millimeter": 1e3, "micrometer": 1.0, "nanometer": 1e-3}


def _frame_lines(about: dict[str, Any], facts: zarr.Group | None, frames: int) -> Iterator[dict[str, Any]]:
    if facts is None:
        timed = about["time_origin"] != "none"
        for i in range(frames):
            yield {"sequence": i, "capture_ns": round(i / about["rate"] * 1e9) if timed else None}
        return
    columns: dict[str, list[Any]] = {name: np.asarray(facts[name]).tolist() for name in facts.array_keys()}
    for i in range(frames):
        row = {name: values[i] for name, values in columns.items()}
        exposure = row["exposure_ms"] if row["exposure_ms"] == row["exposure_ms"] else None
        yield {"sequence": row["sequence"], "capture_ns": row.get("time_ns"), "exposure_ms": exposure, "exposure_used_ms": exposure,
               "exposure_origin": about["exposure_origin"], "complete": not row["warming_up"], **{name: row[name] for name in Counts._fields}}
