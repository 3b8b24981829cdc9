"""Further images of a stage (also=), from a chain and from a stream, compared with a run of each alone."""

from __future__ import annotations

import numpy
import pytest

import specklescope as ss

FRAME = numpy.random.default_rng(11).poisson(400, (48, 64)).astype(numpy.uint16)


def alone(output: str) -> numpy.ndarray:
    return ss.Chain(f"speckle:output={output}")(FRAME)


def test_a_chain_gives_each_image_as_alone() -> None:
    chain = ss.Chain("speckle:output=sfi,exposure=5,also=contrast+contrast2+mean")
    main = chain(FRAME)
    assert list(chain.also) == ["contrast", "contrast2", "mean"]
    for name, image in chain.also.items():
        numpy.testing.assert_array_equal(image.data, alone(name))
        assert image.result.sequence == chain.result.sequence
    numpy.testing.assert_allclose(main, 1 / (2 * 0.005 * chain.also["contrast2"].data), rtol=1e-5)
    assert chain.also["contrast"].result.unit == "1" and chain.result.unit == "1/s"


def test_a_chain_returns_the_image_it_shows() -> None:
    chain = ss.Chain("speckle:also=contrast+mean | downsample:factor=2", show="contrast")
    numpy.testing.assert_array_equal(chain(FRAME), alone("contrast"))
    assert chain.result.symbol == "K" and list(chain.also) == ["contrast", "mean"]
    with pytest.raises(ss.UsageError, match="'tau'"):
        ss.Chain("speckle", show="tau")(FRAME)


def test_copies_stay_after_the_next_frame() -> None:
    chain = ss.Chain("speckle:also=mean")
    chain(FRAME)
    before = chain.also["mean"].data
    kept = before.copy()
    chain(FRAME + 1000)
    numpy.testing.assert_array_equal(before, kept)
    numpy.testing.assert_allclose(chain.also["mean"].data, kept + 1000, rtol=1e-5)


def test_a_chain_without_them_has_none() -> None:
    chain = ss.Chain("speckle")
    chain(FRAME)
    assert chain.also == {}
    chain.set("speckle", also="contrast")
    chain(FRAME)
    assert list(chain.also) == ["contrast"]
    chain.set("speckle", also="")
    chain(FRAME)
    assert chain.also == {}
    with pytest.raises(ss.UsageError):
        chain.set("speckle", also="colour")


def test_a_stage_in_the_middle_gives_its_own() -> None:
    chain = ss.Chain("speckle:output=contrast2,also=contrast | flow:input=contrast2,also=tau")
    flow = chain(FRAME)
    numpy.testing.assert_array_equal(chain.also["contrast"].data, alone("contrast"))
    numpy.testing.assert_allclose(flow * chain.also["tau"].data, 1, rtol=1e-6)


def test_frames_of_a_stream_keep_theirs() -> None:
    with ss.open("synthetic?width=64&height=48", frames=12).chain("speckle:output=contrast2,also=mean+contrast") as stream:
        frames = list(stream)  # more than the stream has slots of its own
    assert len(frames) == 12
    for frame in frames:
        assert set(frame.also) == {"mean", "contrast"}
        numpy.testing.assert_allclose(frame.also["contrast"].data ** 2, frame.data, rtol=1e-5)
        assert frame.also["mean"].result.position == frame.position
    first, last = (frame.also["mean"].data.astype(float) for frame in (frames[0], frames[-1]))
    assert abs(first - last).max() > 0, "each frame has pixels of its own"
    assert not frames[0].also["mean"].data.flags.writeable
