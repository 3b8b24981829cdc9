#!/usr/bin/env python3
"""Checks that the numbers of a fixed list of command lines stay the same, bit for bit.

golden.py PROGRAM                   compare with sums.json
golden.py PROGRAM --write           write sums.json, with each instruction set of this machine in turn
golden.py PROGRAM --against OTHER   compare two programs, for instance before and after a change
--library LIB                       also run the examples in C
--keep FOLDER                       keep all files
--only TEXT                         run the lines whose name contains TEXT, and those that write their inputs

Results may differ in the last bits between instruction sets, compilers and versions of libraries. sums.json holds sums for
each instruction set, of the compiler and the libraries named in it. Elsewhere an output is compared with its sum if the sum
is the same for all instruction sets and no library computes the output; otherwise two runs, with one and two threads, must
be equal. Sums cover pixels, table rows and counts: not times, versions, comments or the layout of files."""
import argparse
import csv
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

os.environ["OPENCV_IO_ENABLE_OPENEXR"] = "1"
import cv2
import tifffile
import zmq

from lines import LINES, inputs

HERE = Path(__file__).resolve().parent
SUMS = HERE / "sums.json"
TARGETS = {"AVX3": 1 << 8, "AVX2": 1 << 9, "SSE4": 1 << 11, "SCALAR": 1 << 62}  # Highway's bits
CLOCKS = {"arrival_s", "arrival_ns"}  # of this machine
COUNTS = ("sequence", "capture_ns", "position", "exposure_ms", "dropped_before", "raw_saturated", "undefined", "infinite",
          "saturated", "windows")
LIBRARIES = re.compile(r"\.mp4$|fft|convolve|glare|pulse: |H\.264|example")  # outputs that other libraries compute


def pixels(images):
    return "".join(f"{image.dtype}{image.shape}" for image in images).encode() + b"".join(i.tobytes() for i in images)


def numbers(value):
    """The numbers of a JSON value, in order."""
    if isinstance(value, (dict, list)):
        return [numbers(one) for one in (value.values() if isinstance(value, dict) else value)]
    return None if isinstance(value, str) else value


def content(path):
    """The numbers in a file, without times, versions and its layout; None: the file has none."""
    kind = path.suffix
    if path.name == "report.png":  # drawn with fonts, as the PDF
        return None
    if kind in (".tiff", ".tif"):
        with tifffile.TiffFile(path) as file:
            return pixels([page.asarray() for page in file.pages])
    if kind in (".png", ".hdr", ".exr"):
        return pixels([cv2.imread(str(path), cv2.IMREAD_UNCHANGED)])
    if kind in (".mkv", ".mp4"):
        return subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-"],
                              check=True, capture_output=True).stdout
    if kind == ".csv":
        rows = list(csv.reader(line for line in path.read_text().splitlines() if line and line[0] != "#"))
        keep = [i for i, name in enumerate(rows[0]) if name not in CLOCKS]
        return "\n".join(",".join(row[i] for i in keep) for row in rows).encode()
    if kind == ".jsonl":
        rows = [row for row in map(json.loads, path.read_text().splitlines()) if "sequence" in row]
        return json.dumps([[row.get(key) for key in COUNTS] for row in rows]).encode()
    if kind == ".json":
        stats = json.loads(path.read_text())
        if "frames" not in stats:
            return json.dumps(numbers(stats)).encode()
        frames = {key: stats["frames"][key] for key in ("acquired", "processed")}
        return json.dumps([frames, *(stats[key] for key in ("quantity", "pixels", "drops", "exposure_used_ms"))]).encode()
    return None if kind in (".pdf", ".toml") else path.read_bytes()


def ask(address, request, **values):
    """The parts of the answer to one request."""
    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.setsockopt(zmq.RCVTIMEO, 20000)
    socket.setsockopt(zmq.LINGER, 0)
    with socket:
        socket.connect(address)
        socket.send_json({"request": request, **values})
        parts = socket.recv_multipart()
    answer = json.loads(parts[0])
    assert answer["ok"], answer
    return answer, parts[1:]


class Runner:
    """Runs the list with one program in one folder."""

    def __init__(self, program, folder, options, threads=2, target=None):
        self.program, self.folder, self.options, self.threads = str(Path(program).resolve()), folder, options, threads
        self.sums = {}
        folder.mkdir(parents=True, exist_ok=True)
        home = folder / "home"
        home.mkdir()
        self.environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home),
                            "CUDA_VISIBLE_DEVICES": "", "LC_ALL": "C.UTF-8"}
        if target:
            self.environment["LD_PRELOAD"] = str(limit_target(folder, TARGETS[target]))
        inputs(folder / "in")

    def run(self):
        jobs = {name: words for name, words in LINES.items()
                if not self.options.only or self.options.only in name or name.startswith("make")}
        for first in (True, False):  # the other lines read what these write
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(self.line, *zip(*((n, w) for n, w in jobs.items() if n.startswith("make") == first))))
        if self.options.only:
            return self
        self.requests()
        if self.options.library:
            self.c_examples()
        return self

    def call(self, words, where):
        done = subprocess.run([str(word) for word in words], cwd=where, env=self.environment, capture_output=True, timeout=120)
        if done.returncode:
            sys.exit(f"golden: exit status {done.returncode} of {' '.join(map(str, words))}\n{done.stderr.decode()}")
        return done.stdout

    def add(self, name, data):
        self.sums[name] = hashlib.sha256(data).hexdigest()[:16]

    def line(self, name, text):
        where = self.folder / name.replace(" ", "_")
        where.mkdir()
        words = text.replace("DATA", str(HERE.parent / "data")).split()
        if words[0] == "run":
            words += ["--backend", "cpu", "--threads", self.threads, "--log", "quiet"]
        said = self.call([self.program, *words], where)
        if said and words[0] == "run":
            self.add(f"{name}: output", said)
        for path in sorted(where.iterdir()):
            data = content(path)
            if data is not None:
                self.add(f"{name}: {path.name}", data)

    def requests(self):
        """Edits, a recording and pixels through --control, of a single image that repeats."""
        where = self.folder / "requests"
        where.mkdir()
        address = f"ipc://{where}/door"
        with subprocess.Popen([self.program, "run", "../in/one.tiff?loop=true&rate=100", "--stage", "speckle:output=contrast",
                               "--backend", "cpu", "--threads", str(self.threads), "--log", "quiet", "--control", address,
                               "--control-folder", "."], cwd=where, env=self.environment) as child:
            try:
                edits = [("set", {"stage": "speckle", "key": "radius", "value": 5}),
                         ("set_values", {"stage": "speckle", "values": {"radius": 2, "output": "contrast2"}}),
                         ("set_chain", {"chain": "gaussian:sigma=1.5 | gamma:gamma=0.7 | flip"})]
                for request, values in edits:
                    version = ask(address, request, **values)[0]["version"]
                    self.add(f"requests: {request}", b"".join(ask(address, "frame", version=version, raw=True)[1]))
                ask(address, "snapshot", file="snap.tiff")
                self.add("requests: snapshot", content(where / "snap.tiff"))
                ask(address, "quit")
                assert child.wait(30) == 0
            finally:
                child.kill()

    def c_examples(self):
        library, root = Path(self.options.library).resolve(), HERE.parents[1]
        for name, words in {"contrast": [], "stream": ["../make_vessels/raw.tiff", "speckle:radius=2"]}.items():
            binary = self.folder / name
            self.call(["cc", f"-I{root}/include", root / f"examples/c/{name}.c", "-o", binary, library,
                       f"-Wl,-rpath,{library.parent}"], self.folder)
            self.add(f"C example: {name}", self.call([binary, *words], self.folder / "in"))


def limit_target(folder, bit):
    """A library to preload: makes Highway find this instruction set only."""
    source, shim = folder / "target.c", folder.resolve() / "target.so"
    source.write_text("void _ZN3hwy26SetSupportedTargetsForTestEl(long);\n__attribute__((constructor)) static void limit(void) "
                      f"{{ _ZN3hwy26SetSupportedTargetsForTestEl({bit}L); }}\n")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-lhwy", "-o", shim], check=True)
    return shim


def target_of(runner):
    return re.search(r"cpu\s+(\w+)", runner.call([runner.program, "list", "devices"], runner.folder).decode())[1]


def made_with(runner):
    """Build, compiler and libraries, on which sums depend besides the instruction set."""
    text = runner.call([runner.program, "--version"], runner.folder).decode()
    parts = [re.search(rf"  {key} +((?:.+|\n {{10,}})+)", text)[1] for key in ("build", "compiler", "libraries")]
    return f"{platform.machine()}, " + ", ".join(" ".join(part.split()) for part in parts)


def expected(stored, runner):
    """The stored sums that hold for this program on this machine, by name."""
    target, same = target_of(runner), stored["made_with"] == made_with(runner)
    found = {}
    for name, sums in stored["sums"].items():
        if same and target in stored["targets"]:
            found[name] = sums if isinstance(sums, str) else sums[target]
        elif isinstance(sums, str) and not LIBRARIES.search(name) and platform.machine() == "x86_64":
            found[name] = sums
    return found


def write(options, place):
    """Writes one sum for an output that is the same with every instruction set, otherwise a sum for each."""
    native = Runner(options.program, place / "native", options).run()
    best = target_of(native)
    targets = list(TARGETS)[list(TARGETS).index(best) + 1:] if best in TARGETS else []
    runs = {best: native.sums, **{t: Runner(options.program, place / t, options, target=t).run().sums for t in targets}}
    sums = {}
    for name in sorted(native.sums):
        each = {target: of[name] for target, of in runs.items()}
        sums[name] = native.sums[name] if len(set(each.values())) == 1 else each
    SUMS.write_text(json.dumps({"made_with": made_with(native), "targets": list(runs), "sums": sums}, indent=1) + "\n")
    print(f"golden: wrote {len(sums)} sums for {', '.join(runs)}")


def differences(sums, others, of):
    """Prints the outputs whose sums differ; outputs that only one side has count too. Returns their number."""
    wrong = [name for name in sorted({*sums, *others}) if sums.get(name) != others.get(name)]
    for name in wrong:
        print(f"golden: {name}: {sums.get(name, 'missing')}, {others.get(name, 'missing')} {of}")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true")
    for option in ("--against", "--library", "--keep", "--only"):
        parser.add_argument(option)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        place = Path(options.keep or place).resolve()
        if options.write:
            return write(options, place)
        first = Runner(options.program, place / "first", options).run()
        if options.against:
            wrong = differences(first.sums, Runner(options.against, place / "second", options).run().sums, "against")
            compared = f"{len(first.sums)} with the other program"
        else:
            stored = json.loads(SUMS.read_text())
            known = expected(stored, first)
            known = {name: sum_ for name, sum_ in known.items() if "example" not in name or name in first.sums}
            if options.only:
                known = {name: sum_ for name, sum_ in known.items() if name in first.sums}
            unknown = {name for name in first.sums if name not in known}
            wrong = differences({name: first.sums.get(name) for name in known}, known, "in sums.json")
            if unknown - set(stored["sums"]):
                print("golden: not in sums.json, use --write:", *sorted(unknown - set(stored["sums"])), sep="\n  ")
                wrong += 1
            if unknown:
                second = Runner(options.program, place / "second", options, threads=1).run().sums
                wrong += differences({name: first.sums[name] for name in unknown},
                                     {name: second.get(name) for name in unknown}, "with one thread")
            compared = f"{len(known)} with sums.json, {len(unknown)} of two runs ({target_of(first)})"
        print(f"golden: {wrong} of {len(first.sums)} outputs differ; compared {compared}")
    return bool(wrong)


sys.exit(main())
