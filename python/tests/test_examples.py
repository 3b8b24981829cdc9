"""The examples in examples/python run with the expected output."""
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np

import specklescope as ss

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/python"
SCENE = "synthetic:vessels?width=64&height=48&live=false"


def run(name, *arguments):
    made = subprocess.run([sys.executable, EXAMPLES / name, *map(str, arguments)], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_contrast_of_noise_is_its_deviation_over_its_mean(tmp_path):
    # White noise over 200 levels from 1000: 57.7 / 1100.
    assert 0.049 < float(run("contrast.py").split()[2].rstrip(",")) < 0.055
    np.save(tmp_path / "dark.npy", np.full((40, 50), 7, np.uint8))
    assert run("contrast.py", tmp_path / "dark.npy").startswith("K = 0.0000")


def test_stream_turns_a_parameter_while_it_runs():
    lines = run("stream.py", SCENE).splitlines()
    assert len(lines) == 20 and all("SFI" in line for line in lines)
    assert lines[0].split()[-1] != lines[-1].split()[-1]


def test_record_writes_what_is_played_back(tmp_path):
    assert run("record.py", tmp_path / "flow.tiff").split()[1:] == ["30", "frames"]
    frames = list(ss.open(tmp_path / "flow.tiff", backend="cpu"))
    assert len(frames) == 30 and frames[3].measure == "flow" and frames[3].time_ns == 150_000_000


def test_device_runs_or_says_why_not():
    made = subprocess.run([sys.executable, EXAMPLES / "device.py"], capture_output=True, text=True)
    assert made.stdout.startswith("cuda:0 (10, 480, 640)") if made.returncode == 0 else made.stderr.startswith("PyTorch ")


def test_layers_of_napari_are_made_without_napari():
    spec = importlib.util.spec_from_file_location("napari_layers", EXAMPLES / "napari_layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert "napari" not in sys.modules
    (raw, raw_settings, _), (flow, settings, kind) = module.layers(SCENE, "speckle:radius=2", frames=5)
    assert raw.shape == flow.shape == (5, 48, 64) and flow.dtype == np.float32 and kind == "image"
    assert settings["name"] == "speckle flow index 1/(2TK²) (1/s)" and raw_settings["visible"] is False
    source = ss.open(SCENE, frames=1)
    exposure = next(iter(source.chain("speckle:radius=2"))).exposure_ms
    chain = ss.Chain("speckle:radius=2", backend="cpu")
    np.testing.assert_array_equal(flow[2], chain(raw[2], full_scale=source.source["full_scale"], exposure_ms=exposure))
