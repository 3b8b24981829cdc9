"""Python ends while a daemon thread is in the library: the process ends normally."""
import subprocess
import sys
import textwrap

import pytest

# Python clears its modules after all other threads that return to it have ended. The program waits until the
# thread has returned: until then the kernel counts its context switches, every 0.05 s in next().
PROGRAM = textwrap.dedent("""
    import os, sys, threading, time
    import numpy as np
    import specklescope as ss

    there = threading.Event()
    chain = ss.Chain("speckle:radius=3", backend="cpu", threads=1)
    frame = np.zeros((200, 200), np.uint8)
    stream = ss.open("synthetic:uniform?width=64&height=48&rate=0.1&live=true", backend="cpu")
    recorder = ss.Recorder(sys.argv[2])

    def of_stream():
        for _ in stream:
            pass

    def of_chain():
        while True:
            chain(frame)

    def of_recorder():
        while True:
            recorder.push(frame)

    def of_progress():
        def progress(what, part):
            there.set()
            while True:
                time.sleep(0.01)
        ss.open("synthetic:vessels?width=700&height=500&live=false", progress=progress)

    def run():
        if sys.argv[1] != "of_progress":
            there.set()
        globals()[sys.argv[1]]()

    class AtTheEnd:
        def __init__(self, status):
            self.status = status

        def __del__(self, read=lambda path, open=open: open(path).read(), sleep=time.sleep, write=os.write):
            same, before = 0, None
            while same < 20:
                sleep(0.02)
                try:
                    now = [line for line in read(self.status).splitlines() if "ctxt" in line]
                except OSError: # the thread is gone
                    break
                same, before = (same + 1 if now == before else 0), now
            write(1, b"waited")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    there.wait()
    sys.modules["at the end"] = AtTheEnd(f"/proc/self/task/{thread.native_id}/status")
""")


@pytest.mark.parametrize("what", ["of_stream", "of_chain", "of_recorder", "of_progress"])
def test_a_daemon_thread_in_the_library_lets_python_end(what, tmp_path):
    ended = subprocess.run([sys.executable, "-c", PROGRAM, what, tmp_path / "x.tiff"], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "waited"), ended.stderr  # if nanobind reports the thread's objects
