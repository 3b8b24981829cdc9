"""Every stage has a function equivalent to its chain. tests/library/agreement.py compares the chain's bytes with the
program's."""
import numpy as np
import pytest

import specklescope as ss
from specklescope import _core

STAGES = [stage["name"] for stage in _core.stages()]


@pytest.mark.parametrize("stage", [name for name in STAGES if name not in ("flow", "mesi")])
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
