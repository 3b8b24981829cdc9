#!/usr/bin/env python3
"""Device tests under compute-sanitizer: device.py PROGRAMS ROWS.json

PROGRAMS is a folder with the built cuda_tests, stages_tests and analysis_tests. Writes a row for each tool and program, for
tests/sanitizers/note.py. Needs a GPU and compute-sanitizer on the PATH. The tests left out compare large pictures with the
host's and take minutes under a tool; smaller ones hold the same kernels.
"""
import json
import pathlib
import re
import subprocess
import sys
import time

LONG = ["GaussianCuda.RecursiveAgreesOnLongLines", "GaussianCudaOf*AgreesAtEverySigma", "*LargePictures*", "*KernelsByFormula*",
        "*GaussianByTransforms*", "*AtEveryRadius*", "*LongStrips*"]
RUNS = {"analysis_tests": "*/cuda", "stages_tests": "*/cuda", "cuda_tests": "*-" + ":".join(LONG)}
TOOLS = {"memcheck": list(RUNS), "racecheck": ["analysis_tests", "stages_tests"], "initcheck": ["analysis_tests", "stages_tests"]}
LIMIT_S = 150  # of one run; what did not end says so


def run(tool, program, pattern):
    begin = time.monotonic()
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "2000", str(program), "--gtest_filter=" + pattern]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False)
        text, ended = done.stdout, "yes"
    except subprocess.TimeoutExpired as stopped:
        text, ended = (stopped.stdout or b"").decode(errors="replace"), "no"
    # racecheck has its own summary
    found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)
    kernels = {}
    for name in re.findall(r"(?:Uninitialized|Invalid|hazard)[^\n]*\n=+\s+at (?:void )?(?:[\w:<>]+::)?(\w+)", text):
        kernels[name] = kernels.get(name, 0) + 1
    return {"what": f"{tool}, {program.name}", "tries": text.count("[       OK ]"),
            "failures": max([int(found[0]) if found else 0, text.count("[  FAILED  ]")]), "ended": ended,
            "in kernels": ", ".join(f"{name} {count}" for name, count in sorted(kernels.items())),
            "s": round(time.monotonic() - begin)}


folder, out = map(pathlib.Path, sys.argv[1:])
rows = []
for tool, programs in TOOLS.items():
    for program in filter(lambda name: (folder / name).exists(), programs):
        rows.append(run(tool, folder / program, RUNS[program]))
        print(rows[-1], flush=True)
        out.write_text(json.dumps(rows, indent=1) + "\n")
