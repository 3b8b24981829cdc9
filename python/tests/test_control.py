"""A running program is queried, controlled and ended from a script."""
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import specklescope as ss


@pytest.fixture
def running(program, tmp_path):
    """Address of the program, and its process."""
    (tmp_path / "out").mkdir()
    child = subprocess.Popen(
        [program, "run", "synthetic:vessels?width=64&height=48&rate=200", "--stage", "speckle:output=contrast", "--control",
         "zmq://127.0.0.1:0", "--control-folder", "out"],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in child.stderr:
        if "answered at " in line:
            yield line.split("answered at ")[1].strip().rstrip("."), child
            break
    if child.poll() is None:
        child.kill()
    child.wait(60)


def test_a_set_parameter_makes_the_numbers_of_the_function(running):
    address, child = running
    with ss.Control(address) as control:
        for radius in (1, 4):
            frame = control.frame(version=control.set("speckle", radius=radius), raw=True)
            assert frame.raw.dtype == np.uint16 and frame.raw.shape == (48, 64)
            chain = ss.Chain(f"speckle:radius={radius},output=contrast", backend="cpu")
            np.testing.assert_array_equal(frame.image, chain(frame.raw, full_scale=frame.header["full_scale"]))
        assert control.get(stage="speckle", key="radius") == {"value": 4}
        assert control.set("speckle") is None
        control.set_chain("flip", "gamma:gamma=1")
        assert [stage["stage"] for stage in control.get()["stages"]] == ["flip", "gamma"]
        first = control.frame().header["sequence"]
        assert control.frame(after=first).header["sequence"] > first
        assert control.stats()["stats"]["frames"]["processed"] > 0
        control.quit()
    assert child.wait(60) == 0


def test_a_further_image_is_that_of_the_function(running):
    address, _ = running
    with ss.Control(address) as control:
        version = control.set("speckle", also="mean+contrast2")
        for name in ("mean", "contrast2"):
            frame = control.frame(version=version, raw=True, output=name)
            assert frame.header["output"] == name and frame.header["symbol"] == {"mean": "⟨I⟩", "contrast2": "K²"}[name]
            chain = ss.Chain(f"speckle:output=contrast,also={name}", backend="cpu")
            chain(frame.raw, full_scale=frame.header["full_scale"])
            np.testing.assert_array_equal(frame.image, chain.also[name].data)
        files = [control.record(what="results", output=name, file=f"{name}.tiff")["file"] for name in ("mean", "contrast2")]
        assert {one["output"] for one in control.get()["recordings"]} == {"mean", "contrast2"}
        while any(one["written"] == 0 for one in control.get()["recordings"]):
            pass
        assert [control.stop(what="results", output=name)["files"] for name in ("mean", "contrast2")] == [[f] for f in files]
        with pytest.raises(ss.UsageError, match="'bfi'"):
            control.frame(output="bfi")


def test_what_is_wrong_raises_the_sentence_of_the_program(running, program):
    address, _ = running
    said = subprocess.run([program, "run", "synthetic", "--stage", "speckle:radius=99"], capture_output=True, text=True)
    with ss.Control(address) as control:
        with pytest.raises(ss.UsageError) as error:
            control.set("speckle", radius=99)
        assert f"specklescope: {error.value}\n" == said.stderr
        with pytest.raises(ss.UsageError, match="There is no request 'fly'"):
            control.fly()
        assert "seek" in dir(control)
        with pytest.raises(ss.UsageError, match="A run keeps the source that it was started with"):
            control.open("synthetic:vessels")
        control.close()
        with pytest.raises(ss.UsageError, match="closed"):
            control.get()


def test_what_is_too_long_is_refused_before_it_is_sent(running):
    address, _ = running
    most = 1 << 20  # as in docs/doors.md
    with ss.Control(address) as control:
        room = most - len(json.dumps({"request": "mark", "label": ""}))
        with pytest.raises(ss.UsageError, match=f"The request mark is {most + 1} bytes long; allowed: {most}"):
            control.mark(label="x" * (room + 1))
        control.frame()  # an event belongs to one
        assert control.mark(label="x" * room)["number"] == 1, "the program takes as much as that, and has not heard the other"


def test_recordings_are_made(running, tmp_path):
    address, _ = running
    with ss.Control(address) as control:
        control.record(what="raw", file="a.raw")
        begun = control.frame().header["sequence"]
        control.frame(after=begun + 10)
        made = control.stop(what="raw")
        assert made["complete"] and made["written"] > 5
        assert (tmp_path / "out/a.raw").stat().st_size == made["written"] * 64 * 48 * 2


def test_a_window_without_a_display_opens_another_source_and_stays_at_its_end(program, tmp_path):
    film = "synthetic:vessels?width=32&height=24&live=false"
    subprocess.run([program, "run", film, "--frames", "5", "--stage", "flip", "--record-raw", "film.tiff"], cwd=tmp_path,
                   check=True, capture_output=True)
    child = subprocess.Popen(
        [program, "view", "--offscreen", "synthetic:uniform?width=64&height=48", "--control", "ipc://socket"],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        said = next((line for line in child.stderr if "answered at " in line or "EGL" in line), "")
        if "EGL" in said:
            pytest.skip(said)
        with ss.Control(f"ipc://{tmp_path}/socket", timeout=100) as control:
            opened = control.open(Path("film.tiff"))
            assert opened["length"] == 5 and "flip" in opened["chain"]
            assert control.frame().image.shape == (24, 32)
            with pytest.raises(ss.RunError, match="missing.tiff"):
                control.open("missing.tiff")
            assert control.get()["source"] == "film.tiff"
            control.quit()
        child.stderr.read()
        assert child.wait(60) == 0
    finally:
        child.kill()


def test_who_is_not_there_is_not_waited_for_long():
    with ss.Control("ipc:///nonexistent/flow", timeout=0.2) as control:
        with pytest.raises(TimeoutError, match="Nobody answered at ipc:///nonexistent/flow"):
            control.get()
    with pytest.raises(ss.UsageError, match="is no address"):
        ss.Control("tcp://127.0.0.1:1")


def test_a_wait_that_was_interrupted_leaves_the_connection_of_use():
    import zmq

    other = zmq.Context.instance().socket(zmq.REP)
    port = other.bind_to_random_port("tcp://127.0.0.1")
    done = threading.Event()

    def answer():
        while not done.is_set():
            if other.poll(50):
                other.recv()
                other.send_string('{"ok":true,"n":1}')

    late = threading.Thread(target=answer)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with ss.Control(f"zmq://127.0.0.1:{port}", timeout=20) as control:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                control.get()
            late.start()
            assert control.get() == {"n": 1}
    finally:
        done.set()
        late.join()
        signal.signal(signal.SIGALRM, before)
        other.close(0)


def test_the_program_may_take_its_time_to_finish_a_file():
    with ss.Control("ipc:///nonexistent/flow") as control:
        assert control._timeout > 30, "what config/control/keeping.cpp waits for"


def test_without_pyzmq_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "zmq", None)
    with pytest.raises(ImportError, match="pip install pyzmq"):
        ss.Control()
