#!/usr/bin/python3
"""Presses Ctrl-C during long preparations and measures the time until the program ends: interrupt.py PROGRAM [TRIES]

Each preparation first runs without Ctrl-C, to measure its duration. Then it is interrupted TRIES times (8), at moments
spread evenly over this duration. A frame in work is finished, since it may be recorded. A failure is an end later than
0.2 s plus the time of a frame in the first run, an exit status other than 0 or 1, or no message. Invalid input must be
refused within 2 s, whatever its size.

    --only WORD  preparations with WORD in their name
    --note F     writes a note for docs/reliability.md to F
"""
import argparse
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import cv2
import numpy
import tifffile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import reliability  # noqa: E402

ALLOWED = 0.2  # seconds
REFUSED = -1  # instead of seconds: the program ends by itself, with a message
AT_ONCE = 2.0  # seconds, including the start of the program
SMALL = "synthetic:uniform?width=640&height=480"
PLUGINS = {}


def make_inputs(folder):
    """Large images of noise, which every decoder needs long for."""
    noise = numpy.random.default_rng(1).integers(0, 65536, (7000, 7000), dtype=numpy.uint16)
    grey = (noise >> 8).astype(numpy.uint8)
    cv2.imwrite(str(folder / "big.png"), noise)
    cv2.imwrite(str(folder / "big.jpg"), cv2.merge([grey, grey, grey]))
    cv2.imwrite(str(folder / "kernel.png"), noise[:2001, :2001])
    values = cv2.merge([noise[:5000, :5000].astype(numpy.float32) / 65535 + 0.1] * 3)
    cv2.imwrite(str(folder / "big.hdr"), values)
    tifffile.imwrite(folder / "big.tif", noise, compression="zlib")
    tifffile.imwrite(folder / "strips.tif", noise, compression="zlib", rowsperstrip=16)
    tifffile.imwrite(folder / "dark.tif", numpy.zeros((400, 480, 640), numpy.uint16), photometric="minisblack")
    os.environ["OPENCV_IO_ENABLE_OPENEXR"] = "1"
    try:
        cv2.imwrite(str(folder / "big.exr"), values)
    except cv2.error:
        print("interrupt: this OpenCV writes no EXR; that preparation is left out")
    for name, kind, side in ("sparse", "<f4", 4096), ("large", "|u1", 14000), ("claims", "|u1", 30000):
        with open(folder / f"{name}.npy", "wb") as file:
            numpy.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": (side, side)})
            file.truncate(file.tell() + numpy.dtype(kind).itemsize * side**2)
    os.mkfifo(folder / "pipe.raw")


def make_open_film(folder):
    """A recording of a killed program, followed by empty elements."""
    film = bytearray((folder / "film.mkv").read_bytes())
    segment = film.index(b"\x18\x53\x80\x67") + 4
    film[segment:segment + 8] = b"\x01" + 7 * b"\xff"
    (folder / "open.mkv").write_bytes(film + 15_000_000 * b"\xec\x80")


def silent_server():
    """Accepts connections and sends nothing."""
    server = socket.create_server(("127.0.0.1", 0))
    kept = []

    def serve():
        while True:
            kept.append(server.accept())

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1]


def preparations(folder):
    """Name and command line. Preparations without an end have the seconds over which they are interrupted, others
    REFUSED."""
    place = str(folder) + "/"
    rows = [
        ("simulated vessels of 8192²", ["synthetic?width=8192&height=8192"], 0),
        ("simulated uniform speckle of 8192²", ["synthetic:uniform?width=8192&height=8192"], 0),
        ("PNG of 7000², u16", [place + "big.png"], 0),
        ("JPEG of 7000², RGB", [place + "big.jpg"], 0),
        ("TIFF of 7000², one deflated strip", [place + "big.tif"], 0),
        ("TIFF of 7000², deflated strips", [place + "strips.tif"], 0),
        ("Radiance of 5000², RGB", [place + "big.hdr"], 0),
        ("EXR of 5000², RGB", [place + "big.exr"], 0),
        ("dark frame of 400 pages", [SMALL, "--stage", f"background:dark=file,dark_file={place}dark.tif"], 0),
        ("dark frame of 4096² from NPY", ["synthetic:uniform?width=4096&height=4096", "--stage", f"background:dark=file,dark_file={place}sparse.npy"], 0),
        ("dark frame of 30000² from NPY, too large", [SMALL, "--stage", f"background:dark=file,dark_file={place}claims.npy"], REFUSED),
        ("baseline of 30000² from NPY, too large", [SMALL, "--baseline", place + "claims.npy"], REFUSED),
        ("kernel of 2001² from PNG", [SMALL, "--stage", f"convolve:kernel=file,file={place}kernel.png"], 0),
        ("kernel of 4096² from NPY", [SMALL, "--stage", f"convolve:kernel=file,normalize=false,file={place}sparse.npy"], 0),
        ("kernel of 14000² from NPY", [SMALL, "--stage", f"convolve:kernel=file,normalize=false,file={place}large.npy"], 3),
        ("film that nobody closed, and 30 MB of empty elements", [place + "open.mkv"], 0),
        ("glare of 4096²", ["synthetic:uniform?width=4096&height=4096", "--stage", "convolve:kernel=glare"], 0),
        ("plans of 3840×2160, measured", ["synthetic:uniform?width=3840&height=2160", "--plans", "measure", "--stage",
                                          "convolve:kernel=disk,radius=100"], 0),
        ("history of 200 frames of 2048²", ["synthetic:uniform?width=2048&height=2048", "--stage", "temporal:frames=200"], 0),
        ("a pipe without a writer", [f"raw:{place}pipe.raw?width=4&height=3"], 2),
        ("settings from a pipe without a writer", [SMALL, "--config", place + "pipe.raw"], 2),
        ("a network camera that never answers", [f"rtsp://127.0.0.1:{silent_server()}/live"], 3),
    ]
    return [row for row in rows if not row[1][0].startswith(place) or os.path.exists(row[1][0])]


def start(program, words, cache, *more):
    return subprocess.Popen([program, "run", *words, "--frames", "1", *more], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, **PLUGINS, "XDG_CACHE_HOME": cache})


def know_plugins(program, folder):
    """GStreamer scans all its plugins in a separate program at its first start. This is not measured."""
    PLUGINS["GST_REGISTRY"] = str(folder / "plugins")
    subprocess.run([program, "run", SMALL, "--frames", "1", "--record-raw", str(folder / "film.mkv"), "--quiet"], check=True,
                   env={**os.environ, **PLUGINS})
    PLUGINS["GST_REGISTRY_UPDATE"] = "no"


def seconds_of_a_frame(stats):
    """Time in the stages and in the executor around them, as measured by the program."""
    return sum(step["mean"] for step in json.loads(stats.read_text())["stages_ms"]) / 1000


def refused_at_once(program, words, place):
    """Returns seconds and the problem."""
    begin = time.monotonic()
    with start(program, words, place) as process:
        said = process.communicate(timeout=300)[1].rstrip()
    taken = time.monotonic() - begin
    if process.returncode not in (1, 2) or not said.endswith("."):
        return taken, f"exit status {process.returncode}: {said.splitlines()[-1:]}"
    return taken, "" if taken <= AT_ONCE else f"refused after {taken:.2f} s"


def one(program, words, moment, frame):
    """Returns seconds from Ctrl-C to the end, and the problem; None: the program had already ended."""
    with tempfile.TemporaryDirectory() as cache, start(program, words, cache) as process:
        try:
            process.wait(moment)
            process.stderr.read()
            return None
        except subprocess.TimeoutExpired:
            pass
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            said = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            return 60, "it does not end"
        taken = time.monotonic() - begin
        lines = [line for line in said.splitlines() if line.strip()]
        if process.returncode not in (0, 1) and process.returncode != -signal.SIGINT:
            return taken, f"exit status {process.returncode}"
        if process.returncode == 1 and not (lines and lines[-1].rstrip().endswith(".")):
            return taken, f"it says: {lines[-1:]}"
        return taken, "" if taken <= ALLOWED + frame else f"{taken:.2f} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("tries", type=int, nargs="?", default=8)
    parser.add_argument("--only", default="")
    parser.add_argument("--note", type=pathlib.Path)
    asked = parser.parse_args()
    rows, bad = [], 0
    with tempfile.TemporaryDirectory(prefix="specklescope-interrupt-") as place:
        folder = pathlib.Path(place)
        make_inputs(folder)
        know_plugins(asked.program, folder)
        make_open_film(folder)
        for name, words, endless in preparations(folder):
            if asked.only not in name:
                continue
            begin, frame = time.monotonic(), 0
            stats = folder / "stats.json"
            if endless == REFUSED:
                taken, wrong = refused_at_once(asked.program, words, place)
                bad += bool(wrong)
                rows.append({"what": name, "tries": 1, "failures": int(bool(wrong)), "lasts, s": f"{taken:.2f}, refused",
                             "of it a frame, ms": "", "longest to the end, ms": "", "usual, ms": ""})
                print(f"interrupt: {name}: refused after {taken:.2f} s" + (f"; {wrong}" if wrong else ""), flush=True)
                continue
            if not endless:
                with start(asked.program, words, place, "--stats", str(stats)) as process:
                    said = process.communicate(timeout=300)[1]
                if process.returncode != 0:
                    print(f"interrupt: {name} cannot be tried: exit status {process.returncode}: {said.splitlines()[-1:]}")
                    bad += 1
                    continue
                frame = seconds_of_a_frame(stats)
            whole = endless or time.monotonic() - begin
            results = [one(asked.program, words, whole * (i + 0.5) / asked.tries, frame) for i in range(asked.tries)]
            taken = [result[0] for result in results if result]
            wrong = [result[1] for result in results if result and result[1]]
            bad += len(wrong)
            rows.append({"what": name, "tries": len(taken), "failures": len(wrong),
                         "lasts, s": "for ever" if endless else f"{whole:.2f}",
                         "of it a frame, ms": "" if endless else round(1000 * frame),
                         "longest to the end, ms": round(1000 * max(taken, default=0)),
                         "usual, ms": round(1000 * sorted(taken)[len(taken) // 2]) if taken else ""})
            print(f"interrupt: {name}: {rows[-1]['lasts, s']} s, ends after at most {rows[-1]['longest to the end, ms']} ms"
                  + (f"; {', '.join(wrong)}" if wrong else ""), flush=True)
    reliability.note(asked.note, "interrupt", " ".join(["./dev nightly interrupt", *[str(asked.tries)] * (asked.tries != 8)]), rows)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
