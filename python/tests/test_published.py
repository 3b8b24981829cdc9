"""Published messages arrive as dicts, and missing messages are counted."""
import itertools
import json
import signal
import subprocess
import sys
import time

import pytest
import specklescope as ss
import zmq


class Publisher:
    """A publisher controlled by the test, instead of the program."""

    def __init__(self, prepare=lambda socket: None):
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.XPUB)
        self.socket.linger, self.socket.rcvtimeo = 0, 30_000
        prepare(self.socket)
        self.address = f"zmq://127.0.0.1:{self.socket.bind_to_random_port('tcp://127.0.0.1')}"

    def say(self, content, n, **more):
        self.socket.send_string(json.dumps({"content": content, "n": n, **more}, separators=(",", ":")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.context.term()


def test_gaps_are_counted_for_each_kind():
    with Publisher() as program, ss.Published(program.address, kinds=("frame", "event")) as published:
        assert {program.socket.recv(), program.socket.recv()} == {b'\x01{"content":"frame"', b'\x01{"content":"event"'}
        for content, n in (("frame", 7), ("event", 0), ("frame", 8), ("frame", 12), ("settings", 3), ("event", 2), ("frame", 13)):
            program.say(content, n, mean=None)
        came = [next(published) for _ in range(6)]
        assert [(message["content"], message["n"]) for message in came] == [
            ("frame", 7), ("event", 0), ("frame", 8), ("frame", 12), ("event", 2), ("frame", 13)]
        assert came[0]["mean"] is None
        assert (published.received, published.dropped) == (6, 4), "what was before the first is nobody's loss"


def test_what_is_told_again_comes_once_and_a_program_that_begins_anew_loses_nothing():
    with Publisher() as program, ss.Published(program.address, kinds=("settings", "frame")) as published:
        for _ in range(2):
            program.socket.recv()
        for content, n in (("settings", 5), ("settings", 5), ("frame", 90), ("settings", 6), ("frame", 3), ("frame", 4)):
            program.say(content, n)
        assert [next(published)["n"] for _ in range(5)] == [5, 90, 6, 3, 4]
        assert (published.received, published.dropped) == (5, 0)


def test_silence_and_ctrl_c_end_a_wait_and_not_the_loop():
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with Publisher() as program, ss.Published(program.address, timeout=0.2) as published:
            program.socket.recv()
            with pytest.raises(TimeoutError, match=f"Nothing came from {program.address} within 0.2 s"):
                next(published)
            program.say("frame", 1)
            assert next(published)["n"] == 1
        with Publisher() as program, ss.Published(program.address, timeout=None) as published:
            program.socket.recv()
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                next(published)
            program.say("frame", 2)
            assert next(published)["n"] == 2
    finally:
        signal.signal(signal.SIGALRM, before)


def test_one_that_was_closed_or_is_wrong_is_refused():
    with ss.Published("zmq://127.0.0.1:9") as published:
        pass
    with pytest.raises(ss.UsageError, match="closed"):
        next(published)
    with pytest.raises(ss.UsageError, match="'frames' is not possible; allowed: frame, event, settings, stream"):
        ss.Published(kinds=("frames",))
    with pytest.raises(ss.UsageError, match="is not possible"):
        ss.Published(kinds=())
    with pytest.raises(ss.UsageError, match="is no address; allowed: zmq://HOST:PORT"):
        ss.Published("ipc://flow")
    with pytest.raises(ss.UsageError, match="key and server"):
        ss.Published(key="me.key_secret")


def test_keys_let_it_in(tmp_path):
    import zmq.auth

    server, secret = zmq.auth.create_certificates(tmp_path, "server")
    mine, mine_secret = zmq.auth.create_certificates(tmp_path, "me")

    def guarded(socket):
        socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(secret)
        socket.curve_server = True

    with Publisher(guarded) as program, ss.Published(program.address, key=mine_secret, server=server) as published:
        program.socket.recv()
        program.say("frame", 4)
        assert next(published)["n"] == 4
        with ss.Published(program.address, timeout=0.3) as stranger, pytest.raises(TimeoutError):
            next(stranger)
    with pytest.raises(ss.UsageError, match="holds no secret key"):
        ss.Published(key=mine, server=server)


def test_without_pyzmq_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "zmq", None)
    with pytest.raises(ImportError, match="pip install pyzmq"):
        ss.Published()


@pytest.fixture
def publishing(program, tmp_path):
    """Address of a program that publishes 1000 frames a second, with so many regions that a socket holds only a few."""
    regions = [{"name": f"box {i}", "shape": "rectangle", "points": [[1, 1], [20, 15]]} for i in range(60)]
    (tmp_path / "r.json").write_text(json.dumps({"regions": regions}))
    child = subprocess.Popen([program, "run", "synthetic:uniform?width=32&height=24&rate=1000", "--stage", "flip", "--regions",
                              "r.json", "--publish", "zmq://127.0.0.1:0"],
                             cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in child.stderr:
        if "published at " in line:
            yield line.split("published at ")[1].strip().rstrip(".")
            break
    child.send_signal(signal.SIGINT)
    child.stderr.read()
    assert child.wait(60) == 0


def test_who_reads_too_slowly_knows_what_it_lacks(publishing):
    with ss.Published(publishing, timeout=60) as frames:
        first = last = next(frames)
        for seconds in (3, 6, 12, 24):  # until more has arrived than fits
            time.sleep(seconds)
            for last in itertools.islice(frames, 5000):
                if frames.dropped:
                    break
            if frames.dropped:
                break
        assert frames.dropped
        assert frames.received + frames.dropped == last["n"] - first["n"] + 1
        assert last["regions"]["box 59"]["pixels"] == 300
        assert set(last) >= {"sequence", "timestamp", "capture_ns", "exposure_ms"}
