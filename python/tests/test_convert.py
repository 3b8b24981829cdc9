"""specklescope convert: what zarr-python, yaozarrs and h5py read is what was recorded, and a round trip changes no bit."""
import csv
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import specklescope as ss

zarr = pytest.importorskip("zarr")
pytest.importorskip("pynwb")

from specklescope.convert import from_dicom, from_zarr, to_nwb, to_zarr  # noqa: E402
from specklescope.convert.__main__ import main  # noqa: E402

SUBJECT = {"subject_id": "mouse-7", "species": "Mus musculus", "sex": "F", "age": "P12W"}
FILMS = {"uint8": (2, (24, 32), np.uint8), "uint16": (7, (24, 32), np.uint16), "one": (1, (5, 7), np.uint16),
         "float": (9, (24, 33), np.float32), "colour": (3, (24, 32, 3), np.uint8),
         "colour16": (3, (24, 32, 3), np.uint16), "light": (3, (24, 32, 3), np.float32), "long": (70, (200, 311), np.uint16)}


@pytest.fixture(params=FILMS)
def film(request, tmp_path, rng):
    """A recording with irregular times: (file, pixels, times in ns)."""
    count, shape, dtype = FILMS[request.param]
    frames = rng.integers(0, 256, (count, *shape)).astype(dtype)
    if dtype == np.float32:
        frames += rng.normal(0, 1, frames.shape).astype(dtype)
        frames[1, 2, 3], frames[0, 1, 1], frames[-1, 0, 0] = np.nan, np.inf, -0.0
    times = 10**12 + np.cumsum(rng.integers(1, 10**8, count))
    return record(tmp_path / "film.raw", frames, times), frames, times


def record(file, frames, times, step_ms=1):
    quantity = {"quantity": "speckle flow index", "symbol": "SFI", "unit": "1/s", "measure": "flow"}
    kind = {"what": "frames"} if frames.dtype != np.float32 else quantity
    with ss.Recorder(file, um_per_px=2.5, **kind) as recorder:
        for number, (frame, time) in enumerate(zip(frames, times)):
            recorder.push(frame, time_ns=int(time), exposure_ms=4 + number * step_ms)
    return recorder.path


def arrays(file):
    group = zarr.open_group(file, mode="r")
    pixels = np.asarray(group["0"])
    return group, np.moveaxis(pixels, 1, -1) if pixels.ndim == 4 else pixels


def same(one, other):
    assert (one.shape, one.dtype, one.tobytes()) == (other.shape, other.dtype, other.tobytes())


def test_other_readers_find_the_same_bits(film, tmp_path):
    file, frames, times = film
    assert to_zarr(file, tmp_path / "film.ome.zarr") == len(frames)
    pytest.importorskip("yaozarrs").validate_zarr_store(str(tmp_path / "film.ome.zarr"))
    group, pixels = arrays(tmp_path / "film.ome.zarr")
    same(pixels, frames)
    same(np.asarray(group["specklescope/time_ns"]), times)
    same(np.asarray(group["specklescope/exposure_ms"]), 4.0 + np.arange(len(frames)))
    image = group.attrs["ome"]["multiscales"][0]
    assert [axis["name"] for axis in image["axes"]] == list("tcyx" if frames.ndim == 4 else "tyx")
    scale = image["datasets"][0]["coordinateTransformations"][0]["scale"]
    assert scale[-2:] == [2.5, 2.5] and image["axes"][-1]["unit"] == "micrometer"
    if len(frames) > 1:
        assert scale[0] == pytest.approx((times[-1] - times[0]) / 1e9 / (len(times) - 1)) and image["axes"][0]["unit"] == "second"


def test_a_round_trip_changes_nothing(film, tmp_path):
    file, frames, times = film
    to_zarr(file, tmp_path / "film.ome.zarr")
    assert from_zarr(tmp_path / "film.ome.zarr", tmp_path / "again.raw") == len(frames)
    first, again = list(ss.open(file, backend="cpu")), list(ss.open(tmp_path / "again.raw", backend="cpu"))
    same(np.array([frame.raw for frame in again]), frames)
    assert [frame.time_ns for frame in again] == times.tolist()
    for one, other in zip(first, again, strict=True):
        assert one.result._replace(arrival_ns=0) == other.result._replace(arrival_ns=0)
    with ss.open(file) as one, ss.open(tmp_path / "again.raw") as other:
        assert {**one.source, "name": ""} == {**other.source, "name": ""}
    described = [json.loads(Path(f"{name}.jsonl").read_text().splitlines()[0]) for name in (file, tmp_path / "again.raw")]
    for key in ("started", "um_per_px", "content", "format", "width", "program", "time_origin"):
        assert described[0][key] == described[1][key], key


def test_nwb_holds_the_same_bits(film, tmp_path):
    h5py = pytest.importorskip("h5py")
    file, frames, times = film
    assert to_nwb(file, tmp_path / "film.nwb", about={"subject": SUBJECT}) == len(frames)
    with h5py.File(tmp_path / "film.nwb") as nwb:
        series = nwb["acquisition/RawFrames" if frames.dtype != np.float32 else "processing/ophys/SpeckleFlowIndex"]
        assert series["data"].attrs["unit"] == ("DN" if frames.dtype != np.float32 else "1/s")
        same(np.swapaxes(series["data"][()], 1, 2), frames)
        if "timestamps" in series:
            seconds = series["timestamps"][()]
        else:
            start = series["starting_time"]
            seconds = start[()] + np.arange(len(frames)) / start.attrs["rate"]
        assert np.rint(seconds * 1e9).tolist() == (times - times[0]).tolist()
        np.testing.assert_allclose(nwb["acquisition/ExposureTime/data"][()], (4 + np.arange(len(frames))) / 1000, rtol=1e-15)
        assert nwb["general/optophysiology/ImagingPlane/grid_spacing"][()].tolist() == [2.5, 2.5]
    if frames.ndim == 3 and len(frames) > 1:
        again = [frame.raw for frame in ss.open(tmp_path / "film.nwb", backend="cpu")]
        same(np.array(again), frames)


def test_a_part_has_the_date_of_its_first_frame(tmp_path, rng):
    """Made by from= or by a recording that began later: its times are relative to this frame."""
    import pynwb
    times = 10**9 + np.cumsum(rng.integers(10**7, 10**8, 300))
    file = record(tmp_path / "film.raw", rng.integers(0, 99, (300, 6, 8)).astype(np.uint8), times)
    with ss.open(file, backend="cpu") as stream:
        for number, _ in enumerate(stream):
            if number == 20:
                stream.record(tmp_path / "later.raw", "frames")
    begun, later = (json.loads(Path(f"{name}.jsonl").read_text().splitlines()[0])["started"] for name in (file, tmp_path / "later.raw"))
    kept = len(Path(f"{tmp_path}/later.raw.jsonl").read_text().splitlines()) - 1
    assert 0 < kept <= 280

    def at(frame):
        return datetime.fromisoformat(begun) + timedelta(microseconds=int(times[frame] - times[0]) / 1000)

    half = timedelta(microseconds=501)
    assert abs(datetime.fromisoformat(later) - at(300 - kept)) < half
    to_nwb(file, tmp_path / "part.nwb", about={"subject": SUBJECT}, **{"from": 20})
    with pynwb.NWBHDF5IO(tmp_path / "part.nwb", "r") as io:
        nwb = io.read()
        assert abs(nwb.session_start_time - at(20)) < half
        assert np.rint(nwb.acquisition["RawFrames"].timestamps[:] * 1e9).tolist() == (times[20:] - times[20]).tolist()
    to_zarr(file, tmp_path / "part.ome.zarr", **{"from": 20})
    from_zarr(tmp_path / "part.ome.zarr", tmp_path / "again.raw")
    again = json.loads(Path(tmp_path, "again.raw.jsonl").read_text().splitlines()[0])["started"]
    assert abs(datetime.fromisoformat(again) - at(20)) < half


def test_square_nwb_of_others_needs_axes(tmp_path, rng):
    h5py = pytest.importorskip("h5py")
    frames = rng.integers(0, 99, (30, 8, 8)).astype(np.uint8)
    to_nwb(record(tmp_path / "film.raw", frames, np.arange(30) * 10**7), tmp_path / "film.nwb")
    same(np.array([frame.raw for frame in ss.open(tmp_path / "film.nwb", backend="cpu")]), frames)
    for description in ("frames of a camera", 7, None):
        with h5py.File(tmp_path / "film.nwb", "a") as nwb:
            attributes = nwb["acquisition/RawFrames"].attrs
            attributes.pop("description", None)
            if description is not None:
                attributes["description"] = description
        with pytest.raises(ss.UsageError, match="axes=twh"):
            ss.open(tmp_path / "film.nwb")
        same(np.array([frame.raw for frame in ss.open(f"{tmp_path}/film.nwb?axes=twh", backend="cpu")]), frames)


def test_traces_and_masks_are_those_of_the_frames(tmp_path, rng, program):
    frames = rng.integers(0, 4096, (50, 40, 48)).astype(np.uint16)
    times = 10**9 + np.cumsum(rng.integers(10**7, 10**8, len(frames)))
    file = record(tmp_path / "film.tiff", frames, times, step_ms=0)
    regions = tmp_path / "regions.json"
    regions.write_text(json.dumps({"regions": [
        {"name": "vein", "shape": "ellipse", "points": [[5, 6], [21, 18]]},
        {"name": "artery", "shape": "rectangle", "points": [[10, 8], [29, 27]]}]}))
    with ss.open(file, regions=regions, backend="cpu") as stream:
        stream.traces(tmp_path / "traces.csv")
        for number, _ in enumerate(stream):
            if number == 20:
                stream.mark("stimulus, left")
    to_nwb(file, tmp_path / "film.nwb", traces=tmp_path / "traces.csv", regions=regions, about={"subject": SUBJECT})
    import pynwb
    with pynwb.NWBHDF5IO(tmp_path / "film.nwb", "r") as io:
        nwb = io.read()
        started = re.search(rb'"started":"([^"]*)"', Path(file).read_bytes())[1].decode()
        assert nwb.session_start_time == datetime.fromisoformat(started) and nwb.subject.species == "Mus musculus"
        responses, = (one for one in nwb.processing["ophys"].data_interfaces.values() if isinstance(one, pynwb.ophys.RoiResponseSeries))
        table = responses.rois.table
        assert sorted(table["region"][:]) == ["artery", "vein"]
        seconds = responses.timestamps[:] if responses.timestamps is not None else np.arange(50) / responses.rate
        np.testing.assert_allclose(seconds, (times - times[0]) / 1e9, atol=2e-9)
        y, x = np.mgrid[:40, :48]
        truth = {"artery": (x >= 10) & (x <= 29) & (y >= 8) & (y <= 27), "vein": ((x - 13) / 8) ** 2 + ((y - 12) / 6) ** 2 <= 1}
        for index, name in enumerate(table["region"][:]):
            mask = np.zeros((40, 48), bool)
            for at_x, at_y, weight in table["pixel_mask"][index]:
                mask[at_y, at_x] = weight == 1
            assert np.array_equal(mask, truth[name]), name
            np.testing.assert_allclose(responses.data[:, index], frames[:, mask].mean(axis=1), rtol=1e-6)
        events = nwb.events["Events"]
        assert list(events["annotation"]) == ["stimulus, left"] and 0 < events["timestamp"][0] < seconds[-1]
    wrong = json.loads(regions.read_text())["regions"]
    wrong[0]["points"][0][0] = 7
    for other, traces, sentence in ((wrong, "traces.csv", "vein"), (wrong[1:], "traces.csv", "vein"), (regions, "later.csv", "times")):
        (tmp_path / "later.csv").write_text(later(tmp_path / "traces.csv"))
        with pytest.raises(ss.UsageError, match=sentence):
            to_nwb(file, tmp_path / "x.nwb", traces=tmp_path / traces, regions=other)
    assert not list(tmp_path.glob("*x*nwb"))


def later(file):
    """The same table, recorded an hour later."""
    lines = Path(file).read_text().splitlines()
    comments, rows = [line for line in lines if line.startswith("#")], list(csv.DictReader(x for x in lines if not x.startswith("#")))
    for row in rows:
        row["capture_s"] = str(float(row["capture_s"]) + 3600)
    return "\n".join([*comments, ",".join(rows[0]), *(",".join(row.values()) for row in rows)]) + "\n"


def test_results_keep_quantity_unit_and_settings(tmp_path):
    with ss.open("synthetic:vessels?width=64&height=48&live=false", frames=12, backend="cpu").chain("speckle:radius=2") as stream:
        stream.record(tmp_path / "flow.tiff")
        made = [frame.data.copy() for frame in stream]
    to_zarr(tmp_path / "flow.tiff", tmp_path / "flow.ome.zarr")
    group, pixels = arrays(tmp_path / "flow.ome.zarr")
    same(pixels, np.array(made))
    facts = group["specklescope"].attrs.asdict()
    assert facts["file"]["unit"] == "1/s" and facts["file"]["measure"] == "flow" and "radius=2" in facts["recording"]["parameters"]
    from_zarr(tmp_path / "flow.ome.zarr", tmp_path / "again.raw")
    first, again = list(ss.open(tmp_path / "flow.tiff")), list(ss.open(tmp_path / "again.raw"))
    for one, other in zip(first, again, strict=True):
        same(one.data, other.data)
        assert one.result._replace(arrival_ns=0) == other.result._replace(arrival_ns=0)


def test_unknown_times_stay_unknown(tmp_path, rng):
    np.save(tmp_path / "film.npy", rng.integers(0, 9, (4, 6, 8), np.uint8))
    to_zarr(tmp_path / "film.npy", tmp_path / "film.ome.zarr")
    group, _ = arrays(tmp_path / "film.ome.zarr")
    image = group.attrs["ome"]["multiscales"][0]
    assert not any("unit" in axis for axis in image["axes"]) and "time_ns" not in group["specklescope"]
    from_zarr(tmp_path / "film.ome.zarr", tmp_path / "again.raw")
    with ss.open(tmp_path / "again.raw") as stream:
        assert sum(1 for _ in stream) == 4 and stream.statistics["time_origin"] == "none"
    with pytest.raises(ss.UsageError, match="no times"):
        to_nwb(tmp_path / "film.npy", tmp_path / "film.nwb")
    with pytest.raises(ss.UsageError, match="session_start_time"):
        to_nwb(f"{tmp_path}/film.npy?rate=50", tmp_path / "film.nwb")
    assert to_nwb(f"{tmp_path}/film.npy?rate=50", tmp_path / "film.nwb",
                  about={"session": {"session_start_time": datetime.fromisoformat("2026-11-28T10:00:00+01:00")}}) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.raw", "again.raw.jsonl", "film.npy", "film.nwb", "film.ome.zarr"]


def foreign(file, frames, axes, scale, version="0.5"):
    """An image as another program writes it."""
    group = zarr.create_group(file, zarr_format=3 if version == "0.5" else 2)
    group.create_array("full", data=frames, chunks=(2, *frames.shape[1:]))
    image = [{"axes": axes, "datasets": [{"path": "full", "coordinateTransformations": [{"type": "scale", "scale": scale}]}]}]
    group.attrs.update({"ome": {"version": "0.5", "multiscales": image}} if version == "0.5" else {"multiscales": image})


def axes(names, time="millisecond", length="nanometer"):
    kinds = {"t": {"type": "time", "unit": time}, "c": {"type": "channel"}}
    return [{"name": name, **kinds.get(name, {"type": "space", "unit": length})} for name in names]


@pytest.mark.parametrize("version, dtype", [("0.4", ">u2"), ("0.5", "uint8"), ("0.5", "float64"), ("0.4", "int16")])
def test_files_of_other_programs_are_read(tmp_path, rng, version, dtype):
    frames = rng.integers(0, 200, (5, 2, 3, 12, 16)).astype(dtype)
    foreign(tmp_path / "a.zarr", frames, axes("tczyx"), [20, 1, 1000, 500, 500], version)
    with pytest.raises(ss.UsageError, match="--at c=0"):
        from_zarr(tmp_path / "a.zarr", tmp_path / "a.raw")
    assert from_zarr(tmp_path / "a.zarr", tmp_path / "a.raw", {"c": 1, "z": 2}) == 5
    read = list(ss.open(tmp_path / "a.raw", backend="cpu"))
    np.testing.assert_array_equal([frame.raw for frame in read], frames[:, 1, 2])
    assert [frame.time_ns for frame in read] == [i * 20_000_000 for i in range(5)]
    with ss.open(tmp_path / "a.raw") as stream:
        next(stream)
        assert stream.statistics["um_per_px"] == 0.5 and stream.source["dtype"] in (np.dtype(dtype).name, "float32")
    assert json.loads(Path(tmp_path, "a.raw.jsonl").read_text().splitlines()[0])["started"] is None


@pytest.mark.parametrize("dtype, colour", [(np.uint8, False), (np.uint16, False), (np.uint8, True)])
def test_dicom_is_read(tmp_path, rng, dtype, colour):
    pydicom = pytest.importorskip("pydicom")
    frames = rng.integers(0, 200, (6, 12, 16) + (3,) * colour).astype(dtype)
    data = pydicom.Dataset()
    data.file_meta = pydicom.dataset.FileMetaDataset()
    data.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID = pydicom.uid.UltrasoundMultiFrameImageStorage
    data.file_meta.MediaStorageSOPInstanceUID = data.SOPInstanceUID = pydicom.uid.generate_uid()
    data.PatientName, data.NumberOfFrames, data.Rows, data.Columns, data.PixelRepresentation = "Doe^Jane", 6, 12, 16, 0
    data.BitsAllocated, data.SamplesPerPixel = frames.itemsize * 8, 3 if colour else 1
    data.BitsStored, data.PhotometricInterpretation = min(12, data.BitsAllocated), "RGB" if colour else "MONOCHROME2"
    data.HighBit, data.FrameTime, data.PixelSpacing = data.BitsStored - 1, "12.5", ["0.01", "0.01"]
    if colour:
        data.PlanarConfiguration = 0
    data.PixelData = frames.tobytes()
    data.save_as(tmp_path / "film.dcm", enforce_file_format=True)
    assert from_dicom(tmp_path / "film.dcm", tmp_path / "film.raw") == 6
    with ss.open(tmp_path / "film.raw", backend="cpu") as stream:
        read = list(stream)
        assert stream.statistics["um_per_px"] == 10 and stream.source["full_scale"] == 2**data.BitsStored - 1
    same(np.array([frame.raw for frame in read]), frames)
    assert [frame.time_ns for frame in read] == [i * 12_500_000 for i in range(6)]
    assert "Doe" not in Path(tmp_path, "film.raw.jsonl").read_text()
    data.BitsAllocated, data.BitsStored, data.HighBit = 16, 12, 15
    data.save_as(tmp_path / "high.dcm", enforce_file_format=True)
    with pytest.raises(ss.UsageError):
        from_dicom(tmp_path / "high.dcm", tmp_path / "high.raw")


def test_what_cannot_be_converted_is_refused(tmp_path, rng, capsys, monkeypatch):
    foreign(tmp_path / "wide.zarr", rng.integers(2**40, 2**41, (2, 4, 6)), axes("tyx"), [1, 1, 1])
    foreign(tmp_path / "turned.zarr", np.zeros((2, 4, 6), np.uint8), axes("tzx"), [1, 1, 1])
    zarr.create_group(tmp_path / "empty.zarr")
    np.save(tmp_path / "a.npy", np.zeros((3, 4, 5), np.uint8))
    Path(tmp_path, "a.dcm").write_bytes(b"x" * 500)
    Path(tmp_path, "bad.toml").write_text("[subject]\nsubject_id = 'a'\n")
    Path(tmp_path, "odd.toml").write_text("[subject]\nname = 'a'\n")
    monkeypatch.chdir(tmp_path)
    for words, status in ((["wide.zarr", "x.raw"], 2), (["turned.zarr", "x.raw"], 2), (["empty.zarr", "x.raw"], 2), (["no.zarr", "x.raw"], 2),
                          (["turned.zarr", "x.tiff"], 2), (["a.dcm", "x.raw"], 2), (["a.npy", "x.tiff"], 2), (["a.npy", "no/x.zarr"], 2), (["a.npy", "empty.zarr"], 2),
                          (["no.tiff", "x.zarr"], 1), (["synthetic:vessels", "x.zarr"], 2), (["a.npy", "x.zarr", "--about", "bad.toml"], 2),
                          (["a.npy", "x.zarr", "--at", "c=1"], 2), (["wide.zarr", "x.raw", "--at", "c"], 2),
                          (["wide.zarr", "x.raw", "--at", "q=0"], 2), (["a.npy?rate=9", "x.nwb", "--about", "bad.toml"], 2),
                          (["a.npy?rate=9", "x.nwb", "--about", "odd.toml"], 2), (["a.npy?rate=9", "x.nwb", "--about", "no.toml"], 1),
                          (["a.npy?rate=9", "x.nwb", "--traces", "a.csv"], 2)):
        assert main(words) == status, words
        message = capsys.readouterr().err
        assert message.startswith("specklescope convert: ") and message.count("\n") == 1, message
    assert not [path for path in tmp_path.iterdir() if "x." in path.name]


def test_first_example_of_the_page_runs(program, tmp_path):
    page = (Path(__file__).resolve().parents[2] / "docs/convert.md").read_text()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/specklescope").symlink_to(program)
    done = subprocess.run(["bash", "-e"], input=page.split("```sh\n")[1].split("```")[0], text=True, capture_output=True, cwd=tmp_path,
                          env={**os.environ, "PATH": f"{tmp_path}/bin:{sys.prefix}/bin:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    for one, other in zip(ss.open(tmp_path / "raw.tiff"), ss.open(tmp_path / "again.raw"), strict=True):
        same(one.raw, other.raw)
        assert one.time_ns == other.time_ns
    blocks = [text.split("```")[0] for text in page.split("```python\n")[1:]]
    for name in ("raw.ome.zarr", "raw.nwb"):
        (tmp_path / name).rename(tmp_path / f"old.{name}")
    done = subprocess.run([sys.executable, "-c", "\n".join(reversed(blocks))], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_missing_package_is_named(program, tmp_path):
    (tmp_path / "python3").write_text(f'#!/bin/bash\nunset PYTHONPATH\nexec {sys.executable} -I -S "$@"\n')  # without packages
    (tmp_path / "python3").chmod(0o755)
    done = subprocess.run([program, "convert", "a", "b"], capture_output=True, text=True, env={**os.environ, "PATH": f"{tmp_path}:/bin"})
    assert done.returncode == 1 and "specklescope[convert]" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
