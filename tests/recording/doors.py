"""The examples of docs/doors.md for pipes and RTSP do what they say: doors.py PROGRAM PAGE"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

program, page = sys.argv[1:]


def examples(section):
    text = open(page).read().split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"```(\w+)\n(.*?)```", text, re.S)
    assert all(code.count("\n") < 10 for _, code in blocks), "an example is longer than ten lines"
    return blocks


def run(language, code, folder):
    words = ["/usr/bin/python3", "-c", code] if language == "python" else ["bash", "-ec", code]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    return done.stdout


with tempfile.TemporaryDirectory(prefix="specklescope-doors-") as folder:
    environment = {**os.environ, "PATH": os.path.dirname(program) + ":" + os.environ["PATH"],
                   "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder}
    environment.pop("DISPLAY", None)

    python, fifo = examples("Pipes")
    means = run(*python, folder).split()
    assert len(means) == 20 and all(float(mean) > 0 for mean in means), means
    run(*fifo, folder)
    played = subprocess.run(["gst-launch-1.0", "-q", "filesrc", "location=flow.mkv", "!", "decodebin", "!", "videoconvert",
                             "!", "video/x-raw,format=RGB", "!", "filesink", "location=played"], cwd=folder, timeout=120)
    assert played.returncode == 0
    assert os.path.getsize(f"{folder}/played") == 50 * 320 * 240 * 3

    serve, watch = (code for _, code in examples("RTSP"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    server = subprocess.Popen(["bash", "-c", "exec " + serve.replace("8554", port)], cwd=folder, env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        while " served at " not in (line := server.stderr.readline()):
            assert line, "the server ended"
        run("sh", watch.replace("8554", port), folder)
        with open(f"{folder}/flow.png", "rb") as picture:
            assert picture.read(8) == b"\x89PNG\r\n\x1a\n"
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=120)[1]
        assert server.returncode == 0, said
    finally:
        server.kill()
