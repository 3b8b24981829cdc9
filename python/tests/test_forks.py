"""Processes that are forked or spawned while the library is in use."""
import functools
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import specklescope as ss

LIVE = "synthetic:uniform?width=64&height=48&rate=200&live=true"
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")


def in_child(body):
    """Its return value, or the message of its exception."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(body())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writes, said.encode())
        os._exit(0)
    os.close(writes)
    for _ in range(6000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reads)
        return "it hung"
    with os.fdopen(reads, "rb") as file:
        return file.read().decode() if status == 0 else f"status {status}"


def test_a_forked_child_gets_an_error(tmp_path):
    images = np.random.default_rng(3).integers(0, 4096, (60, 80), np.uint16)
    with ss.open(LIVE, backend="cpu").chain("speckle") as stream, ss.Chain("speckle", backend="cpu") as chain:
        stream.record(tmp_path / "flow.tiff")
        frame = next(stream)
        expected, data = chain(images), frame.data
        for call in (lambda: next(stream), lambda: stream.source, lambda: frame.raw, lambda: chain(images),
                     lambda: ss.Chain("speckle", backend="cpu")):
            said = in_child(call)
            assert said.startswith("UsageError: ") and "spawn" in said
        assert in_child(lambda: data.sum()) == str(data.sum())
        assert np.array_equal(chain(images), expected)
        next(stream)
    with ss.open(tmp_path / "flow.tiff") as recorded:
        assert len(list(recorded)) > 0


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_pools_of_processes_compute_the_same(method):
    images = np.random.default_rng(4).integers(0, 4096, (6, 40, 50), np.uint16)
    expected = ss.speckle(images, backend="cpu")
    with ss.open(LIVE, backend="cpu") as stream:
        next(stream)
        with multiprocessing.get_context(method).Pool(2) as pool:
            made = pool.map(functools.partial(ss.speckle, backend="cpu"), images)
        next(stream)
    np.testing.assert_array_equal(made, expected)


def test_a_stream_cannot_be_sent_to_another_process():
    with ss.open(LIVE, backend="cpu") as stream:
        with pytest.raises(TypeError, match="cannot pickle '.*' object"):
            pickle.dumps(stream)


def test_a_child_that_ends_as_python_does_leaves_files_alone(tmp_path):
    program = textwrap.dedent(f"""
        import os, sys
        import specklescope as ss
        stream = ss.open({LIVE!r}, backend='cpu').record('raw.tiff', 'frames')
        frames = [next(stream) for _ in range(3)]
        child = os.fork()
        if child == 0:
            sys.exit(0)  # Python takes down what there is
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        next(stream)
        stream.close()
        """)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr
    with ss.open(tmp_path / "raw.tiff") as recorded:
        assert len(list(recorded)) > 0
