#!/usr/bin/env python3
"""Runs the soak and notes it: soak.py PROGRAM MINUTES [--seed S] [--note FILE]

The program does the work and judges it; docs/reliability.md is made from FILE by ./dev reliability.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import reliability  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("minutes", type=float)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--note", type=pathlib.Path)
asked = parser.parse_args()
done = subprocess.run([asked.program, f"minutes={asked.minutes}", f"seed={asked.seed}"], capture_output=True, text=True,
                      check=False)
sys.stdout.write(done.stdout)
sys.stderr.write(done.stderr)
counted = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
if asked.note and counted.startswith("{"):
    row = json.loads(counted)
    failures = row.pop("failures")
    reliability.note(asked.note, "soak", f"./dev soak {asked.minutes:g}",
                     [{"what": f"seed {asked.seed}, {asked.minutes:g} minutes", "tries": row.pop("rounds"),
                       "failures": failures, **row}])
sys.exit(1 if done.returncode else 0)
