#!/usr/bin/env python3
"""Checks the further images of a chain (also=) through the program: named_outputs.py PROGRAM

One run writes the result, the further images and a table of one of them. Pixels are compared with numpy in float64, and bit
for bit with runs that give each image alone; then files are read back, and the image chosen by --show is drawn. Then
an edit takes an image away and brings it back."""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import tifffile
import zmq

PROGRAM = Path(sys.argv[1]).resolve()
EXPOSURE_S = 0.005
SPECKLE = "speckle:output=contrast2"
FLOW = "flow:exposure=5,also=tau"
REGION = '{"regions":[{"name":"a","shape":"rectangle","points":[[10,8],[29,22]]}]}'
INSIDE = np.s_[:, 8:23, 10:30]


def run(*arguments, refused=False):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)
    assert (done.returncode != 0) == refused, f"{arguments}: {done.returncode}\n{done.stderr}"
    return done.stderr


def same_bits(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def said(path, key):
    """A fact of the recording, from the text in the file."""
    return re.search(rb'"%s":"([^"]*)"' % key.encode(), Path(path).read_bytes()).group(1).decode()


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def expected(raw):
    """⟨I⟩ and K² of 7×7 windows, of the repeated border, with the variance of a sample."""
    padded = np.pad(raw.astype(float), ((0, 0), (3, 3), (3, 3)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (7, 7), axis=(1, 2))
    mean = windows.mean((3, 4))
    return mean, windows.var((3, 4), ddof=1) / mean**2


def check_numbers(raw):
    run("run", "raw.tiff", "--stage", SPECKLE + ",also=contrast+mean", "--stage", FLOW, "--record", "flow.tiff",
        "--record", "contrast=k.tiff", "--record", "mean=mean.tiff", "--record", "tau=tau.tiff", "--traces", "contrast=k.csv",
        "--regions", "r.json")
    mean, contrast2 = expected(raw)
    tau = 2 * EXPOSURE_S * contrast2
    for name, truth in {"k": np.sqrt(contrast2), "mean": mean, "tau": tau, "flow": 1 / tau}.items():
        given = tifffile.imread(f"{name}.tiff")
        assert given.dtype == np.float32
        np.testing.assert_allclose(given, truth, rtol=2e-6, err_msg=name)


def check_alone():
    """Each image has the bits of a run that gives nothing else."""
    flow = ("--stage", SPECKLE, "--stage")
    for name, stages in {"k": ("--stage", "speckle:output=contrast"), "mean": ("--stage", "speckle:output=mean"),
                         "flow": (*flow, "flow:exposure=5"), "tau": (*flow, "flow:exposure=5,output=tau")}.items():
        run("run", "raw.tiff", *stages, "--record", f"alone-{name}.tiff", "--traces", f"alone-{name}.csv", "--regions", "r.json")
        assert same_bits(tifffile.imread(f"{name}.tiff"), tifffile.imread(f"alone-{name}.tiff")), name
        for fact in ("quantity", "symbol", "unit", "measure"):
            assert said(f"{name}.tiff", fact) == said(f"alone-{name}.tiff", fact), (name, fact)
    assert "flow" not in said("k.tiff", "parameters"), "a chain ends with the stage that gives the image"
    assert "flow" in said("tau.tiff", "parameters")


def check_traces():
    table, alone = rows("k.csv"), rows("alone-k.csv")
    contrast = tifffile.imread("k.tiff").astype(float)[INSIDE]
    assert len(table) == len(alone) == len(contrast)
    for row, other, pixels in zip(table, alone, contrast):
        assert {key: value for key, value in row.items() if key != "arrival_s"} == \
            {key: value for key, value in other.items() if key != "arrival_s"}
        np.testing.assert_allclose(float(row["mean_of_map"]), pixels.mean(), rtol=1e-6)
        np.testing.assert_allclose(float(row["max"]), pixels.max(), rtol=1e-6)


def check_replay():
    """A file of a further image opens as its own source."""
    run("run", "k.tiff", "--record", "again.tiff", "--traces", "again.csv", "--regions", "r.json")
    assert same_bits(tifffile.imread("k.tiff"), tifffile.imread("again.tiff"))
    assert said("again.tiff", "quantity") == said("k.tiff", "quantity")
    assert [row["mean"] for row in rows("again.csv")] == [row["mean"] for row in rows("k.csv")]


def check_shown():
    """The window draws the image that --show names, as if it were the result."""
    stages = ("--stage", SPECKLE + ",also=contrast", "--stage", FLOW)
    for name, arguments in {"shown": (*stages, "--show", "contrast"), "result": stages,
                            "single": ("--stage", "speckle:output=contrast")}.items():
        run("view", "raw.tiff", *arguments, "--offscreen", "--snapshot", f"{name}-shown.tiff")
    shown, result, single = (tifffile.imread(f"{name}-shown.tiff") for name in ("shown", "result", "single"))
    assert same_bits(shown, single)
    assert not same_bits(shown, result)


def ask(request, **values):
    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.setsockopt(zmq.RCVTIMEO, 60000)
    socket.setsockopt(zmq.LINGER, 0)
    with socket:
        socket.connect(f"ipc://{Path('door').resolve()}")
        socket.send_json({"request": request, **values})
        return json.loads(socket.recv_multipart()[0])


def edit_while_running():
    def quantity(version):
        return ask("frame", version=version)["quantity"]

    def set_also(value):
        return ask("set", stage="speckle", key="also", value=value)["version"]

    assert quantity(0) == "speckle contrast"
    assert "third" in ask("record", what="results", file="no.tiff", output="third")["error"]
    answer = ask("record", what="results", file="asked.tiff", output="mean")
    assert answer["ok"], answer
    ask("frame", version=set_also("mean"))
    assert "flow index" in quantity(set_also("")), "without its image the window shows the result"
    assert quantity(set_also("contrast+mean")) == "speckle contrast", "and the image again when it is back"
    assert ask("stop", what="results")["ok"]
    assert ask("quit")["ok"]


def check_edits(raw):
    """An edit takes an image away that is shown and recorded, and brings it back."""
    tifffile.imwrite("one.tiff", raw[0])
    with subprocess.Popen([PROGRAM, "run", "one.tiff?loop=true&rate=100", "--stage", SPECKLE + ",also=contrast+mean", "--stage",
                           FLOW, "--show", "contrast", "--control", "ipc://door", "--control-folder", "."],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        try:
            edit_while_running()
            told = child.communicate(timeout=60)[1]
        finally:
            child.kill()
    assert child.returncode == 0
    assert not Path("no.tiff").exists()
    alone = tifffile.imread("alone-mean.tiff")[0]
    pages = tifffile.imread("asked.tiff")
    assert len(pages) > 1 and all(same_bits(page, alone) for page in pages)
    assert len([line for line in told.splitlines() if "asked.tiff" in line and "'mean'" in line]) == 1, told


def check_refused():
    before = set(Path().iterdir())
    for option in (("--record", "tau=no.tiff"), ("--traces", "tau=no.csv", "--regions", "r.json")):
        assert "tau" in run("run", "raw.tiff", "--stage", SPECKLE, *option, refused=True)
    assert set(Path().iterdir()) == before, "a refused run writes nothing"


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        random = np.random.default_rng(3)
        raw = random.poisson(random.exponential(800, (12, 64, 96))).astype(np.uint16)
        tifffile.imwrite("raw.tiff", raw)
        Path("r.json").write_text(REGION)
        check_numbers(raw)
        check_alone()
        check_traces()
        check_replay()
        check_shown()
        check_refused()
        check_edits(raw)
        os.chdir("/")


if __name__ == "__main__":
    main()
