"""The user's arrays in files of the program: bytes, times, exposures and quantities are restored, also by the program."""
import json
import subprocess

import numpy as np
import pytest

import specklescope as ss


def test_what_was_pushed_comes_back(tmp_path, rng):
    frames = rng.normal(100, 20, (7, 24, 32)).astype(np.float32)
    frames[3, 4, 5] = np.nan
    with ss.Recorder(tmp_path / "flow.tiff", quantity="speckle flow index", symbol="SFI", unit="1/s", measure="flow",
                     source="mine", rate=20, um_per_px=2.5) as recorder:
        assert recorder.path == "" and recorder.counts["written"] == 0
        for number, frame in enumerate(frames):
            if number == 2:
                assert recorder.mark("stimulus") == 1
            recorder.push(frame, time=1 + 0.05 * number, exposure_ms=4)
    assert recorder.counts == {"written": 7, "dropped": 0, "queued": 0, "bytes": recorder.counts["bytes"], "files": 1,
                               "closed": True, "error": ""}
    assert recorder.path == str(tmp_path / "flow.tiff")
    for frame, expected in zip(ss.open(recorder.path, backend="cpu"), frames, strict=True):
        np.testing.assert_array_equal(frame.data, expected)
        assert frame.time_ns == round((1 + 0.05 * frame.sequence) * 1e9) and frame.exposure_ms == 4
        assert (frame.quantity, frame.symbol, frame.unit, frame.measure) == ("speckle flow index", "SFI", "1/s", "flow")


def test_the_program_reads_it(tmp_path, rng, program):
    with ss.Recorder(tmp_path / "raw.tiff", "frames", rate=50) as recorder:
        for number in range(5):
            recorder.push(rng.integers(0, 4096, (24, 32), np.uint16), time=number / 50)
    subprocess.run([program, "run", recorder.path, "--stage", "speckle", "--backend", "cpu", "--stats",
                    str(tmp_path / "stats.json")], check=True, capture_output=True)
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert "5" in json.dumps(stats)


def test_results_of_a_stream_are_recorded_as_the_stream_would(tmp_path):
    scene = "synthetic:vessels?width=64&height=48&live=false"
    with ss.open(scene, frames=6, backend="cpu").chain("speckle:radius=2") as stream:
        recorder = None
        kept = []
        for frame in stream:
            recorder = recorder or ss.Recorder(tmp_path / "flow.tiff", quantity=frame)
            recorder.push(frame)
            kept.append(frame)
        recorder.close()
    for again, frame in zip(ss.open(tmp_path / "flow.tiff", backend="cpu"), kept, strict=True):
        np.testing.assert_array_equal(again.data, frame.data)
        assert (again.time_ns, again.measure, again.unit) == (frame.time_ns, "flow", "1/s")


def test_what_cannot_be_recorded_is_refused(tmp_path):
    for make, sentence in (
            (lambda: ss.Recorder(tmp_path / "x.doc"), "x.doc"),
            (lambda: ss.Recorder(tmp_path / "x.tiff", "colours"), "What is to be recorded is 'colours'; allowed: results, frames, mask."),
            (lambda: ss.Recorder(tmp_path / "x.tiff", unit="1/s"), "give its name, too."),
            (lambda: ss.Recorder(tmp_path / "x.tiff", quantity="v", measure="speed"), "The measure 'speed' is not known"),
            (lambda: ss.Recorder(tmp_path / "x.tiff", view={"colormap": "red"}), "colormap")):
        with pytest.raises(ss.UsageError) as refused:
            make()
        assert sentence in str(refused.value) and str(refused.value).endswith(".")
    recorder = ss.Recorder(tmp_path / "x.tiff")
    frame = np.zeros((8, 9), np.float32)
    recorder.push(frame, time=2)
    for wrong, sentence in ((dict(time=1), "is before the last one's"), (dict(time=3, time_ns=4), "give one of them")):
        with pytest.raises(ss.UsageError, match=sentence):
            recorder.push(frame, **wrong)
    recorder.close()
    recorder.close()
    with pytest.raises(ss.UsageError, match="The recorder is closed; make another one"):
        recorder.push(frame)
    assert recorder.counts["written"] == 1
