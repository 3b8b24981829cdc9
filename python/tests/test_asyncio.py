"""Coroutines wait for frames and results in threads of their loop. next() with a default ends without StopIteration,
which coroutines cannot receive."""
import asyncio

import numpy as np
import pytest

import specklescope as ss

SCENE = "synthetic:vessels?width=64&height=48&live=false"
SLOW = "synthetic:uniform?width=64&height=48&rate=0.1&live=true"


def test_every_frame_comes_to_a_coroutine():
    async def sequences():
        seen = []
        with ss.open(SCENE, frames=7, backend="cpu") as stream:
            while (frame := await asyncio.to_thread(next, stream, None)) is not None:
                seen.append(frame.sequence)
        return seen

    assert asyncio.run(sequences()) == list(range(7))


def test_a_wait_that_is_cancelled_ends_with_the_stream():
    async def main():
        with ss.open(SLOW, backend="cpu") as stream:
            next(stream)
            await asyncio.wait_for(asyncio.to_thread(next, stream, None), 0.2)  # the next frame comes after 10 s

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(main())


def test_chains_compute_side_by_side(rng):
    images = rng.integers(0, 4096, (4, 60, 80), np.uint16)
    chains = [ss.Chain("speckle", backend="cpu", threads=1) for _ in images]

    async def main():
        return await asyncio.gather(*(asyncio.to_thread(chain, image) for chain, image in zip(chains, images)))

    for made, image in zip(asyncio.run(main()), images):
        np.testing.assert_array_equal(made, ss.speckle(image, backend="cpu"))
