"""Texts and file names for C: they arrive completely or are refused with a message."""
import os

import numpy as np
import pytest

import specklescope as ss

SCENE = "synthetic:vessels?width=64&height=48&live=false"


@pytest.fixture
def stream():
    with ss.open(SCENE, frames=3, backend="cpu") as made:
        yield made


@pytest.fixture
def chain():
    with ss.Chain("speckle", backend="cpu") as made:
        yield made


@pytest.mark.parametrize("wrong, why", [("a\0b", r"The text '.*a\\x00b.*' has a NUL in it, where it would end; allowed: .*\.$"),
                                        ("a\udcffb", r"The text '.*a\\udcffb.*' cannot be written as UTF-8; allowed: .*\.$")])
def test_what_c_would_read_otherwise_is_refused(stream, chain, tmp_path, wrong, why):
    recorder = ss.Recorder(tmp_path / "mine.tiff")
    for call in (lambda: ss.Chain("speckle:" + wrong), lambda: ss.Chain(channel=wrong), lambda: ss.Chain(regions=wrong),
                 lambda: chain.add(wrong), lambda: chain.replace(wrong), lambda: chain.set(wrong, radius=3),
                 lambda: chain.set(0, **{wrong: 3}), lambda: chain.set(0, radius=wrong), lambda: chain.get(0, wrong),
                 lambda: setattr(chain, "regions", wrong),
                 lambda: ss.open(wrong), lambda: ss.open(SCENE, backend=wrong), lambda: ss.open(SCENE, view=wrong),
                 lambda: stream.chain(wrong), lambda: stream.set(wrong, radius=3), lambda: stream.set(0, **{wrong: 3}),
                 lambda: stream.set(0, radius=wrong), lambda: stream.set_source(**{wrong: 3}),
                 lambda: stream.set_source(rate=wrong), lambda: stream.record(f"{tmp_path}/{wrong}.tiff"),
                 lambda: stream.traces(f"{tmp_path}/{wrong}.csv"), lambda: stream.mark(wrong),
                 lambda: ss.Recorder(f"{tmp_path}/{wrong}.tiff"), lambda: ss.Recorder(tmp_path / "x.tiff", quantity=wrong),
                 lambda: ss.Recorder(tmp_path / "x.tiff", source=wrong), lambda: recorder.mark(wrong)):
        with pytest.raises(ss.UsageError, match=why):
            call()
    recorder.close()
    assert os.listdir(tmp_path) == []
    assert chain.text.startswith("speckle:")


def test_a_long_text_is_refused_in_a_short_sentence(stream):
    with pytest.raises(ss.UsageError) as refused:
        stream.mark("x" * 1000 + "\0")
    assert len(str(refused.value)) < 200


def test_names_of_files_may_be_bytes(tmp_path):
    folder = os.fsencode(tmp_path)
    with ss.Recorder(folder + b"/\xc3\xa4.tiff") as recorder:
        recorder.push(np.zeros((8, 9), np.float32), time=0)
    assert recorder.path == str(tmp_path / "ä.tiff")
    with ss.open(folder + b"/\xc3\xa4.tiff", backend="cpu") as stream:
        stream.regions = [{"name": "all", "shape": "rectangle", "points": [[0, 0], [9, 8]]}]
        stream.record(folder + b"/again.tiff").traces(folder + b"/traces.csv")
        assert len(list(stream)) == 1
    assert {"ä.tiff", "again.tiff", "traces.csv"} <= set(os.listdir(tmp_path))
    for path in (folder + b"/n\xff.tiff", os.fsdecode(folder + b"/n\xff.tiff")):
        with pytest.raises(ss.UsageError, match="cannot be written as UTF-8"):
            ss.open(path)
