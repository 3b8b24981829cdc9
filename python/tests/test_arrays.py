"""Arrays that are read without a copy, arrays that are copied, and refused arrays with their messages."""
import json
import sys
import threading
import time

import numpy as np
import pytest

import specklescope as ss


@pytest.fixture
def chain():
    with ss.Chain("speckle:output=contrast", backend="cpu") as made:
        yield made


def test_every_layout_gives_the_same(chain, rng):
    image = rng.integers(0, 4096, (30, 41), np.uint16)
    expected = chain(image)
    wide = np.zeros((35, 60), np.uint16)
    wide[2:32, 7:48] = image
    odd = np.zeros(2 * image.size + 1, np.uint8)[1:].view(np.uint16).reshape(image.shape)
    odd[...] = image
    assert not odd.flags.aligned
    for same in (wide[2:32, 7:48], np.asfortranarray(image), image[::-1][::-1], np.repeat(image, 2, 1)[:, ::2], odd):
        np.testing.assert_array_equal(chain(same), expected)
    np.testing.assert_array_equal(chain(image[::-1]), chain(image[::-1].copy()))


def test_a_field_of_a_structured_array_is_copied(chain, rng):
    for kind in (np.uint8, np.uint16, np.float32):
        records = np.zeros((30, 41), [("tag", np.uint8), ("value", kind)])
        records["value"] = rng.integers(0, 200, (30, 41))
        np.testing.assert_array_equal(chain(records["value"]), chain(records["value"].copy()))
    out = np.zeros((30, 41), [("tag", np.uint8), ("value", np.float32)])["value"]
    with pytest.raises(ss.UsageError, match="The output's samples do not follow each other in a row; give a contiguous array"):
        chain(np.zeros((30, 41), np.uint8), out=out)


@pytest.mark.parametrize("kind", [">u2", ">f4", "float64", ">f8", "float16", "int8", "int16", ">i2", "int32", "uint32", "int64"])
def test_other_numbers_are_read_as_they_are(chain, rng, kind):
    image = rng.integers(1, 100, (30, 41)).astype(kind)
    same = image.astype(image.dtype.newbyteorder("=") if kind == ">u2" else np.float32)
    np.testing.assert_array_equal(chain(image), chain(same))
    np.testing.assert_array_equal(ss.speckle(np.stack([image, image[::-1]]), backend="cpu")[1], ss.speckle(same[::-1], backend="cpu"))


def test_values_that_float32_lacks_are_said(chain, recwarn):
    with ss.Chain("", backend="cpu") as copy:
        exact = np.array([[2**24, -(2**24)]], np.int32)
        assert (copy(exact) == exact).all() and not recwarn.list
        infinite = np.array([[np.inf, np.nan]])
        np.testing.assert_array_equal(copy(infinite), infinite)
        with pytest.warns(UserWarning, match="beyond 16777216"):
            copy(exact + np.array([[1, 0]], np.int32))
        with pytest.raises(ss.UsageError, match="beyond float32"):
            copy(np.array([[1e39, 0]]))
        with pytest.raises(ss.UsageError, match="has a mask"):
            copy(np.ma.array(np.zeros((2, 2)), mask=True))


def test_what_has_only_an_array_protocol_is_read(chain, rng, tmp_path):
    image = rng.integers(0, 4096, (30, 41), np.uint16)

    class Labelled:
        shape = image.shape

        def __array__(self, dtype=None, copy=None):
            return image

    np.testing.assert_array_equal(chain(Labelled()), chain(image))
    with ss.Recorder(tmp_path / "labelled.tiff", "frames", rate=10) as recorder:
        recorder.push(Labelled()).push(image.astype(">u2"))
    assert all((frame.raw == image).all() for frame in ss.open(tmp_path / "labelled.tiff", backend="cpu"))
    for name in ("xarray", "dask.array"):  # if they are installed
        try:
            module = __import__(name, fromlist=["x"])
        except ImportError:
            continue
        made = module.DataArray(image) if name == "xarray" else module.from_array(image, chunks=10)
        np.testing.assert_array_equal(chain(made), chain(image))


def test_what_is_masked_is_refused(chain):
    image = np.zeros((8, 9), np.float32)
    for mask in (True, False, np.ma.nomask):
        with pytest.raises(ss.UsageError, match="The frame has a mask, which no stage knows; fill what is masked, with filled"):
            chain(np.ma.array(image, mask=mask))
        with pytest.raises(ss.UsageError, match="The output has a mask, which no stage knows"):
            chain(image, out=np.ma.array(np.zeros((8, 9), np.float32), mask=mask))
    with pytest.raises(ss.UsageError, match="The frame has a mask"):
        ss.speckle(np.ma.zeros((2, 8, 9), np.float32))


def test_read_only_frames_are_read(chain, rng):
    image = rng.integers(0, 4096, (30, 41), np.uint16)
    image.flags.writeable = False
    chain(image)


def test_out_is_written_in_place(chain, rng):
    image = rng.integers(0, 4096, (30, 41), np.uint16)
    out = np.full((30, 64), -1, np.float32)
    assert chain(image, out=out[:, :41]).base is out
    np.testing.assert_array_equal(out[:, :41], chain(image))
    assert (out[:, 41:] == -1).all()


@pytest.mark.parametrize("frame, sentence", [
    (np.zeros((8, 8), complex), "The frame is an array of complex128; allowed: uint8, uint16, float32"),
    (np.zeros((8, 8), bool), "The frame is an array of bool; allowed:"),
    (np.full((8, 8), 1e39), "The frame is an array of float64 with values beyond float32"),
    (np.zeros((8, 8), object), "The frame is an array of object; allowed:"),
    (np.zeros(8, np.uint8), "The frame has the shape (8,); allowed: (height, width), or (height, width, 3) for colour."),
    (np.zeros((8, 8, 4), np.uint8), "The frame has the shape (8, 8, 4); allowed:"),
    (np.zeros((0, 8), np.uint8), "The input is 8×0 pixels; allowed: 1…65536 each way."),
    ("frame.png", "The frame is of the type str; allowed: NumPy arrays of"),
    (None, "The frame is of the type NoneType; allowed: NumPy arrays of"),
])
def test_what_is_no_frame_is_refused(chain, frame, sentence):
    with pytest.raises(ss.UsageError) as refused:
        chain(frame)
    assert str(refused.value).startswith(sentence)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


def test_what_cannot_be_written_into_is_refused(chain):
    image = np.zeros((8, 9), np.uint8)
    fixed = np.zeros((8, 9), np.float32)
    fixed.flags.writeable = False
    for out, sentence in ((fixed, "The output is read-only; give an array that may be written"),
                          (np.zeros((9, 8), np.float32).T, "The output's samples do not follow each other"),
                          (np.zeros((8, 8), np.float32), "The output is 8×8 f32, and the chain makes 9×8 f32"),
                          (np.zeros((8, 9), np.uint16), "The output is 9×8 u16, and the chain makes 9×8 f32")):
        with pytest.raises(ss.UsageError) as refused:
            chain(image, out=out)
        assert str(refused.value).startswith(sentence)
    shared = np.zeros((8, 9), np.float32)
    with pytest.raises(ss.UsageError, match="The output shares memory with the input"):
        chain(shared, out=shared)


def test_a_closed_chain_is_refused():
    chain = ss.Chain("speckle")
    chain.close()
    chain.close()
    frame = np.zeros((8, 8), np.uint8)
    for call in (lambda: chain(frame), lambda: chain(frame, out=np.zeros((8, 8), np.float32)), lambda: chain.text,
                 lambda: chain.set("speckle", radius=2), lambda: chain.add("gamma"), chain.reset, lambda: chain.regions,
                 lambda: setattr(chain, "regions", [])):
        with pytest.raises(ss.UsageError) as refused:
            call()
        assert str(refused.value) == "The chain has been closed; ss.Chain gives another one."


def test_an_output_of_another_shape_is_refused_in_words_of_python():
    with pytest.raises(ss.UsageError) as refused:
        ss.Chain("speckle")(np.zeros((8, 9), np.uint8), out=np.zeros((8, 8), np.float32))
    assert str(refused.value) == ("The output is 8×8 f32, and the chain makes 9×8 f32 of this input; "
                                  "give it memory of that shape.")


def test_chains_of_two_threads_do_not_meet(rng):
    images = rng.integers(0, 4096, (2, 200, 200), np.uint16)
    expected = [ss.speckle(image, backend="cpu") for image in images]
    wrong = []

    def work(index):
        chain = ss.Chain("speckle", backend="cpu", threads=1)
        wrong.extend(number for number in range(50) if not np.array_equal(chain(images[index]), expected[index]))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_is_told_is_of_one_call_though_two_threads_share_a_chain(tmp_path):
    names = [f"region with a name that has to be allocated {i}" for i in range(40)]
    (tmp_path / "r.json").write_text(json.dumps({"regions": [
        {"name": name, "shape": "rectangle", "points": [[i, i], [i, i]]} for i, name in enumerate(names)]}))
    chain = ss.Chain(backend="cpu", regions=tmp_path / "r.json")
    images = [np.full((60, 80), value, np.uint16) for value in (7, 9)]
    chain(images[0])
    wrong, busy, done = [], 0, threading.Event()

    def work(image):
        nonlocal busy
        while not done.is_set():
            try:
                chain(image)
            except ss.UsageError as error:
                busy += 1
                if "Another thread is using this chain; " not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=work, args=(image,)) for image in images]
    for thread in threads:
        thread.start()
    for _ in range(2000):
        told = chain.result
        if [one.name for one in told.regions] != names or len({one.mean for one in told.regions}) != 1 or told.unit != "DN":
            wrong.append(told)
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_other_threads_run_while_it_computes(rng):
    image = rng.integers(0, 4096, (1000, 1000), np.uint16)
    chain = ss.Chain("speckle", backend="cpu")
    chain(image)
    turns, done = 0, threading.Event()

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0)

    usual = sys.getswitchinterval()
    other = threading.Thread(target=count)
    other.start()
    try:
        sys.setswitchinterval(1000)  # no forced switches between threads: another thread runs only if the call has released the GIL
        for _ in range(1000):
            before = turns
            chain(image)
            if turns > before:
                break
        else:
            pytest.fail("no call out of 1000 let another thread in")
    finally:
        sys.setswitchinterval(usual)
        done.set()
        other.join()


def test_edits_and_facts():
    image = (np.arange(900, dtype=np.uint16).reshape(30, 30) * 7919) % 997
    chain = ss.Chain("speckle:radius=2", "crop", backend="cpu")
    ten = chain(image)
    assert chain.result.exposure_origin == "default" and chain.result.symbol == "SFI" and chain.result.unit == "1/s"
    np.testing.assert_allclose(chain(image, exposure_ms=5), 2 * ten, rtol=1e-6)
    assert chain.result.exposure_ms == 5 and chain.result.exposure_origin == "camera" and chain.result.sequence == 1
    chain.set("crop", x=3, width=np.int64(10)).set(0, radius=1)
    assert chain(image).shape == (30, 10) and chain.get("crop", "x") == "3"
    assert ss.Chain(chain).text == chain.text
    with pytest.raises(ss.UsageError, match="stage crop"):
        chain.set("crop", x=200)
        chain(image)
    assert chain(image).shape == (30, 10)


def test_regions_are_measured(tmp_path, rng):
    (tmp_path / "box.json").write_text('{"regions":[{"name":"box","shape":"rectangle","points":[[2,3],[5,6]]}]}')
    image = rng.integers(0, 4096, (12, 16), np.uint16)
    chain = ss.Chain(backend="cpu", regions=tmp_path / "box.json")
    np.testing.assert_array_equal(chain(image), image)
    box, = chain.result.regions
    assert box.name == "box" and box.pixels == 16 and box.mean == image[3:7, 2:6].mean()


def test_regions_are_given_as_dictionaries_and_changed_between_frames(tmp_path, rng):
    image = rng.integers(0, 4096, (12, 16), np.uint16)
    box = {"name": "box", "shape": "rectangle", "points": [[2, 3], [5, 6]]}
    chain = ss.Chain(backend="cpu", regions=[box])
    chain(image)
    assert [one.mean for one in chain.result.regions] == [image[3:7, 2:6].mean()] and chain.regions == [box]
    chain.regions = [{"name": "row", "shape": "line", "points": np.array([[0, 1], [15, 1]])}, box]
    chain(image)
    row, same = chain.result.regions
    assert row.mean == image[1].mean() and row.name == "row" and same.mean == image[3:7, 2:6].mean()
    (tmp_path / "r.json").write_text(json.dumps({"regions": [{**box, "name": "of a file"}]}))
    chain.regions = tmp_path / "r.json"
    chain(image)
    assert [one.name for one in chain.result.regions] == ["of a file"]
    for wrong, sentence in (([{"name": "a"}], "The regions, line 1"), ([box, box], "has the name 'box' too"),
                            (7, "The regions are no list of dictionaries; allowed: "),
                            ([{"name": object()}], "The regions are no list of dictionaries; allowed: ")):
        with pytest.raises(ss.UsageError, match=sentence):
            chain.regions = wrong
    with pytest.raises(ss.RunError, match="none.json"):
        chain.regions = tmp_path / "none.json"
    chain(image)
    assert [one.name for one in chain.result.regions] == ["of a file"]
    chain.regions = None
    chain(image)
    assert chain.result.regions == () and chain.regions == []


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_what_may_be_channels_is_no_stack(channels):
    with pytest.raises(ss.UsageError, match=rf"The image has the shape \(8, 9, {channels}\), whose last axis looks like channels; "
                                            "allowed: .* give image"):
        ss.speckle(np.zeros((8, 9, channels), np.uint8))
    assert ss.speckle(np.zeros((2, 8, 9), np.uint8)).shape == (2, 8, 9)
    assert ss.gamma(np.zeros((8, 9, 3), np.uint8)).shape == (8, 9, 3)


def test_a_few_rows_of_three_are_no_colour_image_in_silence():
    image = np.zeros((5, 64, 3), np.uint8)
    with pytest.raises(ss.UsageError, match=r"\(5, 64, 3\): a colour image of 5 rows, or a stack of 5 frames"):
        ss.gamma(image)
    assert ss.gamma(image[None]).shape == (1, 5, 64, 3)
