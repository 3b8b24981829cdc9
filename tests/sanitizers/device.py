#!/usr/bin/env python3
"""Device tests under compute-sanitizer: device.py PROGRAMS ROWS.json [TEXT]

PROGRAMS is a folder with the built specklescope, cuda_tests, stages_tests and analysis_tests. Writes a row for each tool
and program to ROWS.json, for tests/sanitizers/note.py; with TEXT only for those with TEXT in their name. Needs a GPU,
and compute-sanitizer in the PATH. Tests that compare large images with the host's are skipped, because they take minutes
under a tool; smaller tests run the same kernels. initcheck runs the program with each stage on an image without row
padding: kernels read whole vectors, including padding, and ignore its values.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

LONG = ["GaussianCuda.RecursiveAgreesOnLongLines", "GaussianCudaOf*AgreesAtEverySigma", "*LargePictures*", "*KernelsByFormula*",
        "*GaussianByTransforms*", "*AtEveryRadius*", "*LongStrips*"]
RUNS = {"analysis_tests": "*/cuda", "stages_tests": "*/cuda", "cuda_tests": "*-" + ":".join(LONG)}
ALONE = "*ThatOthersFill*"  # uses all memory of the GPU
TOOLS = {"memcheck": list(RUNS), "racecheck": list(RUNS)}
PICTURE = "synthetic:vessels?width=1024&height=512&live=false"
AT_ONCE = 16  # processes
PARTS = 48  # parts per program, so that quick tests do not wait for slow ones
LIMIT_S = 480  # per part; a part that did not end is reported
LISTED = re.findall(r"^GPU \d+: (.*) \(", subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout,
                    re.M)
GPUS = max(1, len(LISTED))
CARDS = ", ".join(f"{LISTED.count(name)} × {name}" for name in dict.fromkeys(LISTED))


def part(tool, program, pattern, index=0, parts=1):
    """Runs one part of the tests; returns its output, and whether it ended."""
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "2000", str(program), "--gtest_filter=" + pattern]
    environment = os.environ | {"GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(index)}
    if parts > 1:  # none of these tests needs several GPUs
        environment["CUDA_VISIBLE_DEVICES"] = str(index % GPUS)
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False,
                              env=environment)
        return done.stdout, True
    except subprocess.TimeoutExpired as stopped:
        return (stopped.stdout or b"").decode(errors="replace"), False


def run(tool, program, pattern):
    begin = time.monotonic()
    others = pattern + (":" if "-" in pattern else "-") + ALONE
    with ThreadPoolExecutor(AT_ONCE) as pool:
        parts = list(pool.map(lambda index: part(tool, program, others, index, PARTS), range(PARTS)))
    if "-" in pattern:  # all tests except the slow ones
        parts.append(part(tool, program, ALONE))
    text = "".join(text for text, _ in parts)
    # racecheck has its own summary
    found = sum(map(int, re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)))
    open_ones = set(re.findall(r"\[ RUN      \] (\S+)", text)) - set(re.findall(r"\[ +(?:OK|SKIPPED) \] (\S+)", text))
    if open_ones:
        print("did not end well:", ", ".join(sorted(open_ones)), flush=True)
    kernels = {}
    for name in re.findall(r"(?:Uninitialized|Invalid|hazard)[^\n]*\n=+\s+at (?:void )?(?:[\w:<>]+::)?(\w+)", text):
        kernels[name] = kernels.get(name, 0) + 1
    return {"what": f"{tool}, {program.name}", "tries": text.count("[       OK ]"),
            "failures": max(found, text.count("[  FAILED  ]")), "ended": "yes" if all(ended for _, ended in parts) else "no",
            "in kernels": ", ".join(f"{name} {count}" for name, count in sorted(kernels.items())),
            "s": round(time.monotonic() - begin)}


def initcheck(program):
    """A run of each stage of the registry."""
    begin = time.monotonic()
    listed = subprocess.run([str(program), "list", "stages"], capture_output=True, text=True, check=True).stdout
    stages = re.findall(r"^(\w+): ", listed, re.M)
    failures, kernels = 0, set()
    for stage in stages:
        for chain in ([stage], ["speckle:output=contrast", stage]):  # the second chain is for stages that accept only contrast
            words = [word for one in chain for word in ("--stage", one)]
            done = subprocess.run(["compute-sanitizer", "--tool", "initcheck", str(program), "run", PICTURE, "--frames", "6",
                                   "--backend", "cuda", "--quiet", *words], capture_output=True, text=True, errors="replace",
                                  check=False)
            if done.returncode == 0:
                break
        found = re.findall(r"ERROR SUMMARY: (\d+)", done.stdout)
        failures += int(found[0]) if found and done.returncode == 0 else 1
        kernels.update(re.findall(r"at (?:void )?(?:[\w:<>]+::)?(\w+_kernel)", done.stdout))
    return {"what": "initcheck, the program with each stage", "tries": len(stages), "failures": failures, "ended": "yes",
            "in kernels": ", ".join(sorted(kernels)), "s": round(time.monotonic() - begin)}


folder, out = map(pathlib.Path, sys.argv[1:3])
wanted = sys.argv[3] if len(sys.argv) > 3 else ""
rows = []


def add(row):
    rows.append(row)
    print(row, flush=True)
    out.write_text(json.dumps({"device": CARDS, "rows": rows}, indent=1) + "\n")


for tool, programs in TOOLS.items():
    for program in programs:
        if (folder / program).exists() and wanted in f"{tool}, {program}":
            add(run(tool, folder / program, RUNS[program]))
if wanted in "initcheck, the program with each stage":
    add(initcheck(folder / "specklescope"))
