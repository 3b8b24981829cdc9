"""Runs every block of docs/doors.md unchanged, each in a separate process, with an installed program, library and
element. Only its ports are replaced by free ones, since other programs may use them."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zmq

import specklescope as ss

PAGE = Path(__file__).resolve().parents[2] / "docs/doors.md"
PORTS = ("5556", "5557", "8554", "9464")
NOT_RUN = {"systemd": "it asks for root, a running systemd and a graphical session; packaging.systemd_units tries what it enables"}
OPEN = re.compile(r"(published at|answered at|told at|served at) \S")  # text that a program prints when its output is open

# napari is not in Debian, and requires Qt: a replacement records the arguments of the page's calls.
NAPARI = """
class Viewer:
    def add_image(self, data, **settings):
        print(data.shape, data.dtype, sorted(settings.items()))


def run():
    print("shown")
"""


def blocks():
    """{section: [(language, code)]}; blocks before the first section belong to ""."""
    sections = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    found = {name: re.findall(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M)
             for name, text in zip(["", *sections[1::2]], sections[::2])}
    return {name: each for name, each in found.items() if each}


def free_ports():
    held = [socket.create_server(("127.0.0.1", 0)) for _ in PORTS]
    ports = {port: str(one.getsockname()[1]) for port, one in zip(PORTS, held)}
    for one in held:
        one.close()
    return ports


class Reader:
    """A user who tries a section in an empty folder."""

    def __init__(self, section, folder, environment):
        self.blocks, self.folder, self.environment = iter(blocks()[section]), folder, environment
        self.ports, self.programs = free_ports(), []

    def next(self, language):
        """Code of the section's next block."""
        said, code = next(self.blocks)
        assert said == language
        assert code.count("\n") < 10, "the page promises less than ten lines"
        return re.sub("|".join(PORTS), lambda port: self.ports[port[0]], code)

    def begin(self, language):
        """Starts the next block as a program that keeps running."""
        code = self.next(language)
        words = [sys.executable, "-c", code] if language == "python" else ["bash", "-euo", "pipefail", "-c", code]
        self.programs.append(subprocess.Popen(words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                              stderr=subprocess.PIPE, text=True, start_new_session=True))
        return self.programs[-1]

    def run(self, language, well=None):
        """Runs the next block to its end; returns its output. It may fail with this text."""
        program = self.begin(language)
        said, wrong = program.communicate(timeout=300)
        assert program.returncode == 0 or (well and well in wrong), f"{said}\n{wrong}"
        return said

    def open(self):
        """Starts the next block, which opens an output of the program."""
        program = self.begin("sh")
        said = ""
        while not OPEN.search(said):
            line = program.stderr.readline()
            assert line, f"it ended: {said}"
            said += line
        return program

    def end(self, program):
        """Interrupts like Ctrl-C in a terminal."""
        os.killpg(program.pid, signal.SIGINT)
        said, wrong = program.communicate(timeout=120)
        soon = "Interrupted: drawing" in wrong  # before the simulated scene was ready
        assert program.returncode == (1 if soon else 0), f"{said}\n{wrong}"

    def leave(self):
        for program in self.programs:
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGKILL)
            program.communicate()


@pytest.fixture
def reader(request, tmp_path, at_home, prefix):
    """Commands of the section in the test's marker, in the environment of the page's first block."""
    first, = blocks()[""]
    assert first[0] == "sh"
    there = {key: value for key, value in at_home.items() if key not in ("PKG_CONFIG_PATH", "GST_PLUGIN_PATH")}
    made = subprocess.run(["bash", "-euc", first[1] + "env -0"], env={**there, "PREFIX": str(prefix)}, check=True,
                          capture_output=True, text=True).stdout
    environment = dict(pair.split("=", 1) for pair in made.split("\0") if pair)
    one = Reader(request.node.get_closest_marker("section").args[0], tmp_path, environment)
    yield one
    one.leave()
    assert next(one.blocks, None) is None, "a block of this section is not tried"


def test_every_section_with_a_block_is_tried():
    tried = {mark.args[0] for name, test in globals().items() if name.startswith("test_")
             for mark in getattr(test, "pytestmark", ())}
    assert sorted({"", *tried, *NOT_RUN}) == sorted(blocks())
    assert not tried & set(NOT_RUN)


@pytest.mark.section("C")
def test_c(reader):
    (reader.folder / "one.c").write_text(reader.next("c"))
    reader.run("sh")


@pytest.mark.section("Python")
def test_python(reader):
    lines = reader.run("python").splitlines()
    assert [line.split()[0] for line in lines] == [str(number) for number in range(20)]
    reader.run("python")
    frames = list(ss.open(reader.folder / "flow.tiff", backend="cpu"))
    assert len(frames) == 40 and frames[7].measure == "flow" and frames[7].time == pytest.approx(7 / 20)
    (reader.folder / "napari.py").write_text(NAPARI)
    raw, flow, shown = reader.run("python").splitlines()
    assert raw.startswith("(20, 1024, 1280) uint16") and flow.startswith("(20, 1024, 1280) float32") and shown == "shown"
    assert "speckle flow index 1/(2TK²) (1/s)" in flow


@pytest.mark.section("GStreamer")
def test_gstreamer(reader):
    reader.run("sh")
    assert (reader.folder / "flow.raw").stat().st_size == 25 * 320 * 240 * 4
    assert (reader.folder / "flow.mkv").read_bytes()[:4] == b"\x1a\x45\xdf\xa3"


@pytest.mark.section("ZeroMQ")
def test_zeromq(reader):
    program = reader.open()
    for numbers in (4, 3):  # with the package, which counts missing frames, and without it
        listener = reader.begin("python")
        for _ in range(5):
            line = listener.stdout.readline()
            assert line, listener.stderr.read()
            said = [float(number) for number in line.split()]
            assert len(said) == numbers and said[0] >= 0 and said[1] >= 0 and said[2] > 0
    with zmq.Context() as context, context.socket(zmq.SUB) as subscriber:
        subscriber.rcvtimeo, subscriber.linger = 30_000, 0
        subscriber.subscribe('{"content":"frame"')
        subscriber.connect(f"tcp://127.0.0.1:{reader.ports['5556']}")
        sent, shown = json.loads(subscriber.recv()), json.loads(reader.next("json"))
    del shown["position"]  # position in a file
    assert list(sent) == list(shown)
    assert list(sent["regions"]["artery"]) == list(shown["regions"]["artery"])
    assert sent["regions"]["artery"]["pixels"] == shown["regions"]["artery"]["pixels"]
    reader.end(program)


@pytest.mark.section("Requests")
def test_requests(reader):
    program = reader.open()
    mean, unit = reader.run("python").split()
    assert np.isfinite(float(mean)) and unit == "1/s"
    said, wrong = program.communicate(timeout=120)
    assert program.returncode == 0, f"the page's script ends it: {said}{wrong}"


@pytest.mark.section("Keys")
def test_keys(reader):
    program = reader.open()
    assert "processed" in reader.run("python")
    reader.end(program)


@pytest.mark.section("Prometheus")
def test_prometheus(reader):
    program = reader.open()
    lines = reader.run("sh").splitlines()
    names = {re.match(r"\w+", line)[0] for line in lines if not line.startswith("#")}
    section = PAGE.read_text(encoding="utf-8").split("\n## Prometheus\n")[1].split("\n## ")[0]
    assert "specklescope_latency_seconds_sum" in names
    for name in re.findall(r"`(specklescope_\w+_total)", section):
        assert name in names
    reader.end(program)


@pytest.mark.section("Pipes")
def test_pipes(reader):
    means = reader.run("python").split()
    assert len(means) == 20 and all(float(mean) > 0 for mean in means)
    reader.run("sh")
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", "location=flow.mkv", "!", "decodebin", "!", "videoconvert", "!",
                    "video/x-raw,format=RGB", "!", "filesink", "location=played"], cwd=reader.folder, env=reader.environment,
                   check=True, timeout=120)
    assert (reader.folder / "played").stat().st_size == 50 * 320 * 240 * 3


@pytest.mark.section("RTSP")
def test_rtsp(reader):
    program = reader.open()
    # GStreamer's client may send TEARDOWN, disconnect, and then try to pause.
    reader.run("sh", well="Could not send message. (Received end-of-file)")
    assert (reader.folder / "flow.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    reader.end(program)
