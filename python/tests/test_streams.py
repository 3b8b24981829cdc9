"""Sources as iterators: every frame, its facts, recordings, Ctrl-C."""
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import specklescope as ss

SCENE = "synthetic:vessels?width=64&height=48&live=false"
SLOW = "synthetic:uniform?width=64&height=48&rate=0.1&live=true"


def test_every_frame_comes_in_order_and_may_be_kept():
    chain = ss.Chain("speckle:output=contrast", backend="cpu")
    frames = list(ss.open(SCENE, frames=40, backend="cpu").chain(chain))
    assert [frame.sequence for frame in frames] == list(range(40))
    assert all(later.time > earlier.time for earlier, later in zip(frames, frames[1:]))
    full_scale = ss.open(SCENE).source["full_scale"]
    for frame in frames:
        assert frame.data.tobytes() == chain(frame.raw, full_scale=full_scale).tobytes()
        assert frame.symbol == "K" and frame.counts.raw_samples == 64 * 48
        np.testing.assert_array_equal(np.asarray(frame), frame.data)


def test_arrays_outlive_frame_and_stream():
    with ss.open(SCENE, frames=1) as stream:
        data = next(stream).data
    assert data.shape == (48, 64) and data.max() > 0
    with pytest.raises(ValueError):
        data[0, 0] = 1


def test_recordings_hold_what_was_given(tmp_path):
    with ss.open(SCENE, frames=6, backend="cpu").chain("speckle") as stream:
        stream.record(tmp_path / "flow.tiff").record(tmp_path / "raw.tiff", "frames")
        given = [(frame.data.tobytes(), frame.raw.tobytes()) for frame in stream]
        assert stream.statistics["frames"]["processed"] == 6
        with pytest.raises(ss.UsageError, match="What is to be recorded is 'all'; allowed: results, frames, mask."):
            stream.record(tmp_path / "x.tiff", "all")
    for name, place in (("flow.tiff", 0), ("raw.tiff", 1)):
        with ss.open(tmp_path / name) as recorded:
            assert [frame.data.tobytes() for frame in recorded] == [one[place] for one in given]


def test_what_is_wrong_is_said_at_once(tmp_path):
    with pytest.raises(ss.RunError, match="no/such/file.tiff"):
        ss.open("no/such/file.tiff")
    with pytest.raises(ss.UsageError, match="A stream has no option 'speed'; allowed: backend, "):
        ss.open(SCENE, speed=3)
    with ss.open(SCENE) as stream:
        with pytest.raises(ss.UsageError, match="stage crop"):
            stream.chain("crop:x=64")
        with pytest.raises(ss.UsageError, match="source synthetic: rate = -1 is not possible"):
            stream.set_source(rate=-1)
    with pytest.raises(ss.UsageError, match="The stream has been closed"):
        next(stream)


def test_a_closed_stream_is_refused(tmp_path):
    stream = ss.open("synthetic:vessels?live=false&width=64&height=48", frames=3)
    stream.close()
    stream.close()
    for call in (stream.next, lambda: stream.statistics, lambda: stream.source, stream.stop, stream.pause, stream.mark,
                 stream.messages, lambda: stream.seek(1), lambda: stream.set("speckle", radius=2), lambda: stream.chain("gamma"),
                 lambda: stream.set_source(rate=3), lambda: stream.record(tmp_path / "x.tiff"),
                 lambda: stream.traces(tmp_path / "x.csv"), lambda: stream.regions, lambda: setattr(stream, "regions", [])):
        with pytest.raises(ss.UsageError) as refused:
            call()
        assert str(refused.value) == "The stream has been closed; ss.open gives another one."


def test_close_ends_a_loop_of_another_thread():
    for end in ("close", "stop"):
        stream = ss.open(SLOW, backend="cpu")
        waiting, ended = threading.Event(), []

        def loop():
            try:
                for _ in stream:
                    waiting.set()  # the next frame comes after 10 s
                ended.append("well")
            except BaseException as error:
                ended.append(error)

        thread = threading.Thread(target=loop)
        thread.start()
        waiting.wait()
        getattr(stream, end)()
        thread.join()
        assert ended == ["well"], end


def test_close_in_a_loop_ends_it():
    stream = ss.open(SCENE, frames=5, backend="cpu")
    for frame in stream:
        stream.close()
    assert frame.sequence == 0 and next(stream, None) is None
    for call in (stream.next, lambda: iter(stream)):
        with pytest.raises(ss.UsageError, match="The stream has been closed"):
            call()
    stream = ss.open(SCENE, frames=5, backend="cpu")
    assert stream.run(lambda frame: stream.close()) == 1
    stream = ss.open(SCENE, frames=5, backend="cpu")
    assert stream.run(lambda frame: stream.close() or False) == 1


def test_a_new_chain_lets_other_threads_in():
    turns, done = 0, threading.Event()

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0)

    usual = sys.getswitchinterval()
    other = threading.Thread(target=count)
    with ss.open("synthetic:uniform?width=1000&height=1000&live=false", backend="cpu") as stream:
        other.start()
        try:
            sys.setswitchinterval(1000)  # no forced switches between threads: another thread runs only if the call has released the GIL
            for _ in range(1000):
                before = turns
                stream.chain("temporal:frames=10")
                if turns > before:
                    break
            else:
                pytest.fail("no call out of 1000 let another thread in")
        finally:
            sys.setswitchinterval(usual)
            done.set()
            other.join()


def test_nothing_in_time_is_a_timeout():
    with ss.open(SLOW) as stream:
        next(stream)
        with pytest.raises(TimeoutError, match="No frame came in time"):
            stream.next(timeout=0)


def test_stop_of_another_thread_ends_the_wait():
    with ss.open(SLOW) as stream:
        next(stream)
        threading.Thread(target=stream.stop).start()
        assert list(stream) == []


@pytest.mark.parametrize("what", ["next(stream); print('begun', flush=True); list(stream)",
                                  "print('begun', flush=True); ss.open('synthetic:vessels?width=4000&height=4000')"])
def test_ctrl_c_ends_a_wait_and_a_preparation(what):
    program = textwrap.dedent(f"""
        import signal
        import specklescope as ss
        signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs this in the background leaves it ignored
        SLOW = {SLOW!r}
        stream = ss.open(SLOW)
        try:
            {what}
        except KeyboardInterrupt:
            print('interrupted', flush=True)
        """)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    os.kill(child.pid, signal.SIGINT)  # a signal before the call is handled in the call or by Python
    assert child.communicate(timeout=60)[0] == "interrupted\n" and child.returncode == 0


def test_a_file_is_sought_paused_and_marked(tmp_path):
    with ss.Recorder(tmp_path / "raw.tiff", "frames") as recorder:
        for number in range(30):
            recorder.push(np.full((12, 16), 10 * number, np.uint16), time=number / 100)
    (tmp_path / "box.json").write_text('{"regions":[{"name":"box","shape":"rectangle","points":[[2,3],[5,6]]}]}')
    with ss.open(recorder.path, backend="cpu", regions=tmp_path / "box.json") as stream:
        stream.traces(tmp_path / "box.csv")
        assert next(stream).raw[0, 0] == 0
        assert stream.mark("stimulus") == 1
        assert stream.seek(20).next().raw[0, 0] == 200
        with pytest.raises(ss.UsageError, match="30"):
            stream.seek(30)
        with pytest.raises(ss.UsageError, match="frame = -1 is not possible; allowed: whole numbers, 0…18446744073709551615."):
            stream.seek(-1)
        assert stream.pause().seek(5).next(timeout=30).raw[0, 0] == 50
        with pytest.raises(TimeoutError):
            stream.next(timeout=0.2)
        assert [frame.raw[0, 0] for frame in stream.pause(False)] == [10 * number for number in range(6, 30)]
    table = (tmp_path / "box.csv").read_text()
    assert "stimulus" in table and ",box,200" in table


def test_regions_of_a_stream_are_dictionaries_or_a_file(tmp_path):
    box = {"name": "box", "shape": "rectangle", "points": [[2, 3], [5, 6]]}
    (tmp_path / "r.json").write_text(json.dumps({"regions": [box]}))
    with ss.open(jumps(tmp_path), backend="cpu", regions=[{**box, "name": "other"}]) as stream:
        stream.regions = tmp_path / "r.json"
        assert stream.regions == [box]
        assert [frame.regions[0].mean for frame in stream] == [10 * number for number in range(30)]


def test_a_view_colours_what_is_recorded(tmp_path):
    red = []
    for view in (None, {"colormap": "grey", "low": 0, "high": 1e9}, "colormap=grey,low=0,high=1e9"):
        with ss.open(SCENE, frames=1, backend="cpu", view=view) as stream:
            stream.record(tmp_path / f"{len(red)}.png").run(lambda frame: None)
        red.append(next(ss.open(tmp_path / f"{len(red)}.png", transfer="linear")).raw.max())
    assert red[0] > 100 and red[1:] == [0, 0]
    with pytest.raises(ss.UsageError, match="colormap = mauve is not possible; allowed: "):
        ss.open(SCENE, view={"colormap": "mauve"})


def test_sources_are_told_with_their_options(program):
    listed = subprocess.run([program, "list", "sources"], capture_output=True, text=True, check=True).stdout
    kinds = ss.sources()
    assert [kind["name"] for kind in kinds][0] == "synthetic" and len(kinds) > 5
    for kind in kinds:
        assert kind["syntax"] in listed
        for option in kind["options"]:
            assert option["name"] in listed and option["doc"] and option["allowed"].startswith("allowed: ")
    rate = next(option for option in kinds[0]["options"] if option["name"] == "width")
    with pytest.raises(ss.UsageError) as refused:
        ss.open(f"synthetic:uniform?width={int(rate['minimum']) - 1}")
    assert rate["allowed"] in str(refused.value)


def test_help_names_the_options_that_are_taken():
    with pytest.raises(ss.UsageError) as refused:
        ss.open(SCENE, speed=3)
    taken = set(str(refused.value).split("allowed: ")[1].rstrip(".").split(", "))
    told = re.search(r"Options are those of the command line: (.*?)\. A camera", ss.open.__doc__, re.S)[1]
    assert taken == set(re.findall(r"\w+", told)) - {"as", "5"}


def jumps(folder, frames=30):
    with ss.Recorder(folder / "jumps.tiff", "frames") as recorder:
        for number in range(frames):
            recorder.push(np.full((12, 16), 10 * number, np.uint16), time=number / 100)
    return recorder.path


def test_what_was_made_in_a_warm_up_is_known_again(tmp_path, program):
    expected = [number < 4 for number in range(30)]
    with ss.open(jumps(tmp_path), backend="cpu").chain("temporal:frames=5,output=contrast") as stream:
        with ss.Recorder(tmp_path / "flow.tiff") as recorder, ss.Recorder(tmp_path / "raw.tiff", "frames") as raw:
            frames = list(stream)
            for frame in frames:
                recorder.push(frame)
                raw.push(frame)
    assert [frame.warming_up for frame in frames] == expected
    assert [frame.warming_up for frame in ss.open(recorder.path)] == expected
    assert not any(frame.warming_up for frame in ss.open(raw.path))
    said = subprocess.run([program, "run", recorder.path], capture_output=True, text=True, check=True)
    assert "4 frames were made in it" in said.stdout + said.stderr


BESIDE = """
import faulthandler, threading
import numpy as np
import specklescope as ss

faulthandler.dump_traceback_later(300, exit=True)
with ss.Recorder("dark.tiff", "frames") as recorder:
    for number in range(60):
        recorder.push(np.full((240, 320), 100, np.uint16), time=number / 100)
stream = ss.open("synthetic:uniform?width=320&height=240&live=false", backend="cpu").chain("speckle:radius=3")
stream.next()
done = threading.Event()

def replace():
    for _ in range(10):
        stream.chain('background:dark=file,dark_file="dark.tiff" | speckle:radius=3')
    done.set()

other = threading.Thread(target=replace)
other.start()
edits = 0
while not edits or not done.is_set():
    stream.set("speckle", radius=2 + edits % 4)
    stream.statistics, stream.messages(), stream.source, stream.pause(edits % 2 == 0)
    edits += 1
other.join()
stream.close()
print("edited", edits > 0)
"""


def test_edits_of_two_threads_do_not_wait_for_each_other(tmp_path):
    child = subprocess.run([sys.executable, "-c", BESIDE], cwd=tmp_path, capture_output=True, text=True)
    assert child.stdout == "edited True\n", child.stderr
