"""Edits by a stage's name: lookup and edit are one step, for any concurrent edits of the chain."""
import re
import threading

import numpy as np
import pytest

import specklescope as ss
from conftest import ROOT

SCENE = "synthetic:vessels?width=64&height=48&live=false"


class Between:
    """A value that edits the chain when it is read, as another thread could at any moment."""

    def __init__(self, edit, value):
        self.edit, self.value = edit, value

    def item(self):
        self.edit()
        return self.value


def rows():
    """Rows of tests/edits/table.txt: (chain, stage or "chain", text, chain afterwards or None, words of the error)."""
    for line in (ROOT / "tests/edits/table.txt").read_text().splitlines():
        if " >> " in line and not line.startswith("#"):
            chain, edit, after = (part.strip() for part in line.split(" >> "))
            stage, text = (part.strip() for part in edit.split(":", 1))
            refused = after.startswith("!")
            yield pytest.param(chain, stage, text, None if refused else after, after[1:].split(",") if refused else [], id=line)


@pytest.mark.parametrize("chain, stage, text, after, named", list(rows()))
def test_the_table_of_edits_holds(chain, stage, text, after, named):
    edited = ss.Chain(chain, backend="cpu")
    with ss.open(SCENE, backend="cpu").chain(chain) as stream:
        for one in (edited, stream):
            replace = one.chain if one is stream else one.replace
            values = {name: re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] == '"' else value
                      for name, value in re.findall(r'(\w+)=("(?:\\.|[^"\\])*"|[^,]*)', text)}
            try:
                replace(text) if stage == "chain" else one.set(int(stage) if stage.isdigit() else stage, **values)
                assert after is not None
            except ss.UsageError as error:
                assert after is None and all(name.strip() in str(error) for name in named), error
    assert edited.text == ss.Chain(after or chain, backend="cpu").text


def test_a_name_is_looked_for_where_its_value_is_set():
    chain = ss.Chain("speckle", backend="cpu")
    chain.set("speckle", radius=Between(lambda: chain.replace("gamma", "speckle:radius=5"), 2))
    assert chain.get("speckle", "radius") == "2"
    with ss.open(SCENE, backend="cpu").chain("speckle:output=contrast") as stream:
        next(stream)
        stream.set("speckle", output=Between(lambda: stream.chain("gamma", "speckle:output=contrast"), "tau"))
        assert any(frame.unit == "s" for frame, _ in zip(stream, range(1000)))
        assert stream.messages() == []


def test_values_with_commas_and_quotes_arrive_whole(tmp_path):
    chain = ss.Chain("background", backend="cpu")
    for name in ('a,b.tiff', 'say "x".tiff', "back\\slash,.tiff", "=.tiff", "|.tiff", ""):
        chain.set("background", dark_file=name, black=3)
        assert chain.get("background", "dark_file") == name


@pytest.mark.parametrize("stage, sentence", [(0.0, "A stage of the type float is not possible; allowed: its name, or its place from 0."),
                                             (None, "A stage of the type NoneType is not possible"), ([0], "A stage of the type list"),
                                             (b"speckle", "A stage of the type bytes"), (-1, "The chain has no stage '-1'"),
                                             (2**80, f"The chain has no stage '{2**80}'")])
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
