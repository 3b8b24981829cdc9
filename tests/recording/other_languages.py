#!/usr/bin/env python3
"""Runs the examples for MATLAB (in GNU Octave) and R on a recording: other_languages.py PROGRAM octave|r

The printed numbers are compared with those of numpy. MATLAB shares its syntax with Octave here, except for h5read."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

PROGRAM, LANGUAGE = Path(sys.argv[1]).resolve(), sys.argv[2]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMMANDS = {"octave": ["octave-cli", "--norc", "--eval",
                       f"addpath('{EXAMPLES / 'matlab'}'); [t, m] = mean_flow('flow.h5'); assert(rows(m) == 9)"],
            "r": ["Rscript", "--vanilla", EXAMPLES / "r/mean_flow.R", "flow.h5"]}

command = COMMANDS[LANGUAGE]
missing = None if shutil.which(command[0]) else command[0]
if not missing and LANGUAGE == "r" and subprocess.run(["Rscript", "-e", "library(hdf5r)"], capture_output=True).returncode:
    missing = "hdf5r of R"
if missing:
    print(f"other_languages: Skipped\nnightly: {missing} is not installed\n")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([PROGRAM, "run", "synthetic:vessels?width=64&height=48&rate=40&speed=0&live=false", "--frames", "9",
                    "--preset", "flow", "--record", "flow.h5", "--quiet"], check=True, timeout=120)
    with h5py.File("flow.h5") as h5:
        flow, seconds = h5["maps/speckle_flow_index"][:].astype(float), h5["maps/timestamps"][:]
    expected = np.column_stack([seconds, [frame[np.isfinite(frame)].mean() for frame in flow]])
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert len(done.stdout.splitlines()) == 9, done.stdout + done.stderr
    printed = np.array([line.split() for line in done.stdout.splitlines()], float)
    assert np.allclose(printed, expected, rtol=1e-9, atol=1e-6), (printed, expected)
    assert np.allclose(expected[:, 0], np.arange(9) / 40), expected
    os.chdir("/")
