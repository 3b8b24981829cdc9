"""Every stage in Python gives the bytes that the program gives."""
import subprocess

import numpy as np
import pytest

import specklescope as ss
from specklescope import _core

STAGES = [stage["name"] for stage in _core.stages()]
FORMATS = {"gray8": (np.uint8, ()), "gray16le": (np.uint16, ()), "rgb8": (np.uint8, (3,))}


def by_program(program, folder, frames, kind, chain):
    frames.tofile(folder / "frames.bin")
    height, width = frames.shape[1:3]
    stages = [word for stage in chain.split(" | ") for word in ("--stage", stage)]
    subprocess.run([program, "run", f"raw:{folder}/frames.bin?width={width}&height={height}&format={kind}", "--backend", "cpu",
                    "--log", "quiet", "--record", str(folder / "made.tiff"), *stages], check=True)
    with ss.open(folder / "made.tiff", backend="cpu") as recorded:
        return [frame.data.copy() for frame in recorded]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("stage", STAGES)
def test_a_chain_gives_the_programs_bytes(program, tmp_path, rng, stage, kind):
    dtype, colour = FORMATS[kind]
    frames = rng.integers(0, np.iinfo(dtype).max, (4, 39, 53, *colour), dtype, endpoint=True)
    text = "speckle:output=contrast2 | flow" if stage == "flow" else stage
    chain = ss.Chain(text, backend="cpu")
    expected = by_program(program, tmp_path, frames, kind, text)
    assert len(expected) == len(frames)
    for frame, wanted in zip(frames, expected):
        made = chain(frame)
        assert made.dtype == wanted.dtype and made.shape == wanted.shape
        assert made.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("stage", [name for name in STAGES if name != "flow"])
def test_the_function_of_a_stage_is_its_chain(rng, stage):
    frames = rng.integers(0, 65536, (3, 21, 34), np.uint16)
    function = getattr(ss, stage)
    chain = ss.Chain(stage, backend="cpu")
    assert function(frames[0], backend="cpu").tobytes() == chain(frames[0]).tobytes()
    chain.reset()
    stacked = function(frames, backend="cpu")
    assert stacked.tobytes() == np.stack([chain(frame) for frame in frames]).tobytes()
    assert function.__doc__.startswith(next(one["doc"] for one in _core.stages() if one["name"] == stage)[:30])


def test_contrast_is_that_of_numpy(rng):
    image = rng.integers(100, 4000, (40, 50), np.uint16)
    contrast = ss.speckle(image, radius=2, output="contrast", border="crop")
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.float64), (5, 5))
    np.testing.assert_allclose(contrast, windows.std((2, 3), ddof=1) / windows.mean((2, 3)), rtol=1e-5)
