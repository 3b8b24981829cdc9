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


def test_async_for_gives_every_frame_also_after_a_cancelled_wait():
    async def main():
        seen = []
        with ss.open("synthetic:uniform?width=64&height=48&rate=20&live=false", frames=9, backend="cpu") as stream:
            while True:
                try:
                    async with asyncio.timeout(0.03):  # shorter than the time between two frames
                        async for frame in stream:
                            seen.append(frame.sequence)
                        return seen
                except TimeoutError:
                    pass

    assert asyncio.run(main()) == list(range(9))


def test_async_for_raises_errors_and_ends_with_a_closed_stream():
    async def frames(stream):
        return [frame.sequence async for frame in stream]

    async def main():
        with ss.open(SLOW, backend="cpu") as stream:
            loop = asyncio.create_task(frames(stream))
            await asyncio.sleep(0.1)
            stream.close()
            assert await loop in ([], [0])
        with pytest.raises(ss.UsageError):
            await frames(stream)  # closed
        seen = [frame.sequence async for frame in ss.open(SCENE, frames=3, backend="cpu")]
        assert seen == [0, 1, 2]

    asyncio.run(main())


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
