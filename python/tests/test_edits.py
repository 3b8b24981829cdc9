"""Edits by a stage's name: found and set at once, whatever edits the chain in between."""
import threading

import numpy as np
import pytest

import specklescope as ss

SCENE = "synthetic:vessels?width=64&height=48&live=false"


class Between:
    """A value that edits the chain when it is read, as another thread may at any moment."""

    def __init__(self, edit, value):
        self.edit, self.value = edit, value

    def item(self):
        self.edit()
        return self.value


def test_a_name_is_looked_for_where_its_value_is_set():
    chain = ss.Chain("speckle", backend="cpu")
    chain.set("speckle", radius=Between(lambda: chain.replace("gamma", "speckle:radius=5"), 2))
    assert chain.get("speckle", "radius") == "2"
    with ss.open(SCENE, backend="cpu").chain("speckle:output=contrast") as stream:
        next(stream)
        stream.set("speckle", output=Between(lambda: stream.chain("gamma", "speckle:output=contrast"), "tau"))
        assert any(frame.unit == "s" for frame, _ in zip(stream, range(1000)))
        assert stream.messages() == []


def test_several_values_are_set_at_once_or_none():
    chain = ss.Chain("crop:width=20", "speckle:radius=2", backend="cpu")
    for wrong in ({"radius": 3, "output": "colour"}, {"radius": 3, "radios": 3}, {"radius": 3, "output": None}):
        with pytest.raises(ss.UsageError):
            chain.set("speckle", **wrong)
        assert chain.get("speckle", "radius") == "2"
    chain.set("speckle", radius=3, output="contrast")
    assert (chain.get("speckle", "radius"), chain.get(1, "output")) == ("3", "contrast")
    with ss.open(SCENE, backend="cpu").chain("crop:width=32") as stream:
        next(stream)
        for x, width in ((56, 8), (0, 64), (60, 4)):  # a frame between the two would be cut beyond its edge
            stream.set("crop", x=x, width=width)
            assert any(frame.data.shape[1] == width for frame, _ in zip(stream, range(1000)))
        assert stream.messages() == []


def test_values_with_commas_and_quotes_arrive_whole(tmp_path):
    chain = ss.Chain("background", backend="cpu")
    for name in ('a,b.tiff', 'say "x".tiff', "back\\slash,.tiff", "=.tiff", "|.tiff", ""):
        chain.set("background", dark_file=name, black=3)
        assert chain.get("background", "dark_file") == name


@pytest.mark.parametrize("stage, sentence", [(0.0, "A stage of the type float is not possible; allowed: its name, or its place from 0."),
                                             (None, "A stage of the type NoneType is not possible"), ([0], "A stage of the type list"),
                                             (b"speckle", "A stage of the type bytes"), (-1, "The chain has no stage '-1'"),
                                             (7, "There is no stage number 7 in the chain; it has 1, counted from 0."),
                                             (2**80, f"The chain has no stage '{2**80}'"), ("x", "The chain has no stage 'x'; it is made of speckle")])
def test_what_is_no_stage_is_refused(stage, sentence):
    chain = ss.Chain("speckle", backend="cpu")
    with ss.open(SCENE, backend="cpu").chain(chain) as stream:
        for call in (lambda: chain.set(stage, radius=2), lambda: chain.set(stage), lambda: chain.get(stage, "radius"),
                     lambda: stream.set(stage, radius=2)):
            with pytest.raises(ss.UsageError) as refused:
                call()
            assert str(refused.value).startswith(sentence)
    assert chain.set(np.int64(0), radius=2).get("speckle", "radius") == "2"


def test_a_name_is_found_while_another_thread_puts_stages_in_front_of_it():
    chain = ss.Chain("speckle", backend="cpu")
    done = threading.Event()

    def replace():
        while not done.is_set():
            chain.replace("gamma", "speckle").replace("speckle")

    other = threading.Thread(target=replace)
    other.start()
    try:
        for number in range(2000):
            chain.set("speckle", radius=2 + number % 3)
            assert chain.get("speckle", "radius") in "2345"
    finally:
        done.set()
        other.join()
