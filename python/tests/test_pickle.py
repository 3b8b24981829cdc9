"""Chains and frames in pickle, and in other processes."""
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import specklescope as ss

SCENE = "synthetic:vessels?width=64&height=48&live=false&speed=0"
REGIONS = [{"name": "a", "shape": "rectangle", "points": [[3, 3], [20, 30]]}]


def test_a_chain_keeps_stages_options_and_regions(rng):
    chain = ss.Chain("background:black=64", "speckle:radius=3", backend="cpu", medians=True, channel="red", regions=REGIONS)
    chain.set("speckle", radius=4)
    copy = pickle.loads(pickle.dumps(chain))
    assert copy.text == chain.text and copy.regions == chain.regions and "radius=4" in copy.text
    image = rng.integers(100, 4000, (48, 64, 3), np.uint16)
    np.testing.assert_array_equal(copy(image, exposure_ms=5), chain(image, exposure_ms=5))
    assert copy.result.regions == chain.result.regions and np.isfinite(copy.result.regions[0].median)
    assert pickle.loads(pickle.dumps(ss.Chain(backend="cpu"))).text == ss.Chain(backend="cpu").text
    chain.close()
    with pytest.raises(ss.UsageError):
        pickle.dumps(chain)


@pytest.mark.parametrize("protocol", [2, 5])
def test_a_frame_keeps_pixels_and_facts(protocol):
    with ss.open(SCENE, frames=2, backend="cpu", regions=REGIONS, medians=True).chain("speckle:also=contrast") as stream:
        frames = list(stream)
    for frame in frames:
        buffers = [] if protocol == 5 else None
        stored = pickle.dumps(frame, protocol, buffer_callback=None if buffers is None else buffers.append)
        first = pickle.loads(stored, buffers=buffers)
        for copy in (first, pickle.loads(pickle.dumps(first))):
            np.testing.assert_array_equal(copy.data, frame.data)
            np.testing.assert_array_equal(copy.raw, frame.raw)
            np.testing.assert_array_equal(copy.also["contrast"].data, frame.also["contrast"].data)
            assert copy.result == frame.result and repr(copy) == repr(frame) and copy.regions[0].name == "a"
            assert copy.also["contrast"].result == frame.also["contrast"].result
            assert not copy.data.flags.writeable and not copy.raw.flags.writeable
            assert np.asarray(copy) is not None and copy.used_on(0) is copy


def test_another_process_computes_with_a_chain_on_a_frame():
    with ss.open(SCENE, frames=3, backend="cpu") as stream:
        frames = list(stream)
    chain = ss.Chain("speckle:radius=2", backend="cpu")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        made = list(pool.map(chain, [frame.raw for frame in frames], timeout=300))
        same = list(pool.map(chain, frames, timeout=300))  # a frame of a stream without stages is its raw image
    for one, other, frame in zip(made, same, frames):
        np.testing.assert_array_equal(one, chain(frame.raw))
        np.testing.assert_array_equal(other, one)
