#!/usr/bin/env python3
"""Kills four recorders at once at random moments and reads what they left: kill_campaign.py RECORDING_TESTS [MOMENTS] [--note FILE]

The test is Killed.FourRecordersLoseAtMostTheLastSecond; this counts what it said of each file.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import reliability  # noqa: E402

SAID = re.compile(r"^(\S+): (\d+) frames, newest (-?[\d.]+) s before the last word; (\d+) of (\d+) dropped$", re.M)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("moments", nargs="?", type=int, default=50)
    parser.add_argument("--note", type=pathlib.Path)
    asked = parser.parse_args()
    done = subprocess.run([asked.program.resolve(), "--gtest_filter=Killed.FourRecorders*"], text=True, errors="replace",
                          env=os.environ | {"SPECKLESCOPE_KILLS": str(asked.moments)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    print(done.stdout)
    said = SAID.findall(done.stdout)
    # Each failure names its file; what ended the test names none and is of all.
    broken = re.findall(r"^(\S+)(?:: of \d+ frames| does not open|: not in order)", done.stdout, re.M)
    if done.returncode and not broken:
        sys.exit(done.returncode)
    rows = []
    for name in dict.fromkeys(row[0] for row in said):
        mine = [row for row in said if row[0] == name]
        rows.append({"what": name, "tries": asked.moments, "failures": broken.count(name),
                     "frames kept": sum(int(row[1]) for row in mine),
                     "oldest of the newest kept, s before the end": f"{max(float(row[2]) for row in mine):.2f}",
                     "dropped, counted": sum(int(row[3]) for row in mine)})
    if asked.note:
        reliability.note(asked.note, "kill", f"./dev kill {asked.moments}", rows)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
