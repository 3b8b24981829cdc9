"""User callbacks of the library: their arguments, and exceptions in them. An exception ends the run cleanly and is
raised to the caller, files are complete, and the state is unchanged."""
import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
import weakref

import numpy as np
import pytest

import specklescope as ss

SCENE = "synthetic:vessels?width=64&height=48&live=false"
LONG = "synthetic:vessels?width=700&height=500&live=false"
LIVE = "synthetic:uniform?width=64&height=48&rate=200&live=true"


class Enough(Exception):
    pass


def raising(what):
    def progress(*_):
        raise what

    return progress


def at_least_5_and_one_recorded(source):
    """True after enough frames: a camera may have delivered five or more before it was recorded."""
    begin = 0 if source == SCENE else time.monotonic_ns()
    return lambda seen, frame: len(seen) >= 5 and frame.arrival_ns > begin


def test_progress_is_told_what_is_done_and_how_far_it_is():
    told = []
    ss.open(LONG, progress=lambda what, part: told.append((what, part))).close()
    assert {type(what) for what, _ in told} == {str} and "drawing the simulated vessels" in {what for what, _ in told}
    assert all(part is None or 0 <= part <= 1 for _, part in told)
    drawn = [part for what, part in told if what == "drawing the simulated vessels" and part is not None]
    assert min(drawn) < max(drawn)


@pytest.mark.parametrize("error", [Enough("that will do"), KeyboardInterrupt(), StopIteration(), ss.UsageError("mine.")])
def test_what_progress_raises_is_raised_by_who_prepares(error):
    asked = []

    def progress(what, part):
        asked.append(what)
        if len(asked) == 3:
            raise error

    with pytest.raises(type(error)) as raised:
        ss.open(LONG, progress=progress)
    assert raised.value is error and len(asked) == 3, "nobody is asked again"


def test_false_ends_the_preparation_with_the_programs_sentence():
    with pytest.raises(ss.RunError, match="^Interrupted: .* was not finished, and nothing is left of it.$"):
        ss.open(LONG, progress=lambda what, part: False)
    ss.open(LONG, progress=lambda what, part: None).close()


@pytest.mark.parametrize("error", [Enough(), KeyboardInterrupt()])
def test_a_chain_whose_edit_was_stopped_is_as_it_was(rng, error):
    small, large = rng.integers(0, 4096, (24, 32), np.uint16), rng.integers(0, 4096, (40, 48), np.uint16)
    says = []

    def progress(what, part):
        if says:
            says[0] -= 1
            if says[0] == 0:
                says.clear()
                raise error

    chain = ss.Chain("convolve:kernel=gaussian,sigma=2", "speckle:output=contrast", backend="cpu", progress=progress)
    expected = chain(small)
    for question in range(1, 8):
        chain.set("convolve", sigma=3)
        says[:] = [question]
        with pytest.raises(type(error)) as raised:
            chain(large)
        assert raised.value is error
        np.testing.assert_array_equal(chain(small), expected)
    assert chain.get("convolve", "sigma") == "2"


def test_a_stream_whose_new_chain_was_stopped_goes_on(tmp_path):
    with ss.Recorder(tmp_path / "dark.tiff", "frames") as recorder:
        for number in range(30):
            recorder.push(np.full((48, 64), 100, np.uint16), time=number / 100)
    wanted = []

    def progress(what, part):
        if wanted and "averaging" in what:
            raise Enough

    with ss.open(SCENE, backend="cpu", progress=progress).chain("speckle:output=contrast") as stream:
        assert next(stream).symbol == "K"
        wanted.append(True)
        with pytest.raises(Enough):
            stream.chain(f'background:dark=file,dark_file="{tmp_path}/dark.tiff"')
        assert next(stream).symbol == "K"


def test_what_holds_itself_by_its_callable_is_collected():
    class Owner:
        def told(self, what, part):
            pass

    for make in (lambda told: ss.Chain(progress=told), lambda told: ss.open(SCENE, progress=told)):
        owner = Owner()
        owner.made = make(owner.told)
        gone = weakref.ref(owner)
        del owner
        gc.collect()
        assert gone() is None


def test_run_gives_every_frame_and_finishes_what_is_recorded(tmp_path):
    seen = []
    with ss.open(SCENE, frames=12, backend="cpu").chain("speckle") as stream:
        stream.record(tmp_path / "flow.tiff")
        assert stream.run(lambda frame: seen.append(frame.data.copy())) == 12
        with ss.open(tmp_path / "flow.tiff") as recorded:
            np.testing.assert_array_equal([frame.data for frame in recorded], seen)
        assert stream.run(seen.append) == 0


@pytest.mark.parametrize("source", [SCENE, LIVE])
def test_run_ends_where_its_callback_says_false(tmp_path, source):
    seen = []
    with ss.open(source, backend="cpu") as stream:
        stream.record(tmp_path / "raw.tiff", "frames")
        wanted = at_least_5_and_one_recorded(source)
        assert stream.run(lambda frame: seen.append(frame) or not wanted(seen, frame)) == len(seen)
        with ss.open(tmp_path / "raw.tiff") as recorded:
            assert len(list(recorded)) >= (5 if source == SCENE else 1)


@pytest.mark.parametrize("error", [Enough("enough"), KeyboardInterrupt(), SystemExit(3), StopIteration("mine")])
@pytest.mark.parametrize("source", [SCENE, LIVE])
def test_what_a_callback_raises_ends_the_run_with_whole_files(tmp_path, source, error):
    seen = []

    def callback(frame):
        seen.append(frame.data.tobytes())
        if wanted(seen, frame):
            raise error

    stream = ss.open(source, backend="cpu", regions=[{"name": "box", "shape": "rectangle", "points": [[2, 3], [5, 6]]}])
    stream.chain("speckle").record(tmp_path / "flow.tiff").traces(tmp_path / "box.csv")
    wanted = at_least_5_and_one_recorded(source)
    with pytest.raises(type(error)) as raised:
        stream.run(callback)
    assert raised.value is error and len(seen) >= 5
    with pytest.raises(ss.UsageError, match="The stream has been closed"):
        stream.next()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["box.csv", "flow.tiff"], "nothing half-written is left"
    with ss.open(tmp_path / "flow.tiff") as recorded:
        kept = [frame.data.tobytes() for frame in recorded]
    rows = [line for line in (tmp_path / "box.csv").read_text().splitlines() if ",box," in line]
    if source == SCENE:
        assert len(seen) == 5 == len(rows[:5]) and kept[:5] == seen
    else:  # which may have delivered some before they were recorded
        assert kept and rows


def test_the_first_of_two_failures_is_raised_and_names_the_other():
    stream, end = ss.open(SCENE, backend="cpu"), ss.RunError("The disk is full.")
    close, stream.close = stream.close, raising(end)
    with pytest.raises(Enough) as raised:
        stream.run(raising(Enough()))
    assert raised.value.__notes__ == ["The stream's end failed, too: The disk is full."]
    close()


def test_ctrl_c_in_a_callback_ends_the_run(tmp_path):
    program = textwrap.dedent(f"""
        import signal, time
        import specklescope as ss
        signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs this in the background leaves it ignored

        def callback(frame):
            if frame.sequence == 4:
                print('begun', flush=True)
                for _ in range(3000):  # a signal just before one long sleep would not end it
                    time.sleep(0.1)

        stream = ss.open({SCENE!r}, backend='cpu').record('raw.tiff', 'frames')
        try:
            stream.run(callback)
        except KeyboardInterrupt:
            print('interrupted', flush=True)
        """)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert child.stdout.readline() == "begun\n"
    os.kill(child.pid, signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted\n" and child.returncode == 0
    with ss.open(tmp_path / "raw.tiff") as recorded:
        assert len(list(recorded)) >= 5


def test_a_result_is_of_one_frame_whatever_the_collector_runs():
    regions = [{"name": f"r{number}", "shape": "rectangle", "points": [[1, 1], [5, 5]]} for number in range(60)]
    chain = ss.Chain(regions=regions, backend="cpu")
    frames = [np.full((24, 32), value, np.uint8) for value in (7, 90)]
    chain(frames[0])
    runs = []

    def in_between(phase, _):  # Python 3.11 collects when a dictionary is created; later versions between two instructions
        if phase == "start" and len(runs) < 3:
            runs.append(phase)
            chain(frames[1])

    before = gc.get_threshold()
    gc.callbacks.append(in_between)
    try:
        gc.set_threshold(20)
        told = chain._chain.result()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(in_between)
    assert len(told[1]) == len(regions) and len({region["mean"] for region in told[1]}) == 1
    assert [region["name"] for region in told[1]] == [region["name"] for region in regions]
    assert chain(frames[0]).shape == (24, 32)
