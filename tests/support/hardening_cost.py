#!/usr/bin/env python3
"""What hardening costs: hardening_cost.py PLAIN HARDENED [--turns N] [--note FILE]

Both programs do the same work in turns; compared is the least processor time of each, which other work on the machine
disturbs little. --note FILE is JSON for docs/reliability.md.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import reliability  # noqa: E402

SCENE = "synthetic?width=1392&height=1040&live=false"
WORK = {
    "start": ["--version"],
    "speckle, 1392×1040, 100 frames": ["run", SCENE, "--frames", "100", "--stage", "speckle", "--threads", "1"],
    "temporal and Gaussian, 100 frames": ["run", SCENE, "--frames", "100", "--stage", "temporal", "--stage",
                                          "gaussian:sigma=4", "--threads", "1"],
    "recorded as TIFF, 100 frames": ["run", SCENE, "--frames", "100", "--stage", "none", "--record-raw", "r.tiff"],
}


def seconds(program, words):
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, *words, *(["--quiet"] if words[0] == "run" else [])], cwd=folder, capture_output=True,
                       check=True, env={**os.environ, "XDG_CONFIG_HOME": folder})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


parser = argparse.ArgumentParser()
parser.add_argument("plain")
parser.add_argument("hardened")
parser.add_argument("--turns", type=int, default=7)
parser.add_argument("--note", type=pathlib.Path)
asked = parser.parse_args()
rows = []
for what, words in WORK.items():
    least = {}
    for _ in range(asked.turns):
        for name in ("plain", "hardened"):
            took = seconds(os.path.abspath(getattr(asked, name)), words)
            least[name] = min(took, least.get(name, took))
    cost = 100 * (least["hardened"] / least["plain"] - 1)
    print(f"hardening: {what}: {least['plain']:.3f} s, hardened {least['hardened']:.3f} s of processor time, {cost:+.1f} %")
    rows.append({"what": what, "plain, s": f"{least['plain']:.3f}", "hardened, s": f"{least['hardened']:.3f}",
                 "cost": f"{cost:+.1f} %"})
if asked.note:
    reliability.note(asked.note, "hardening", f"tests/support/hardening_cost.py {asked.plain} {asked.hardened} --turns {asked.turns}",
                     rows)
