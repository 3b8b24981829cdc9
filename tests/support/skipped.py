#!/usr/bin/env python3
"""Lists the skipped tests of a ctest run by reason, and the last lines of failed ones: skipped.py RESULTS.xml [--strict]

RESULTS.xml is written by `ctest --output-junit`. --strict: exit status 1 for any reason that does not begin with "no GPU" or,
except when SPECKLESCOPE_NIGHTLY is set, with "nightly".
"""
import collections
import os
import re
import sys
import xml.etree.ElementTree

LINES = 20  # lines shown of a failed test

strict = "--strict" in sys.argv[2:]
cases = xml.etree.ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
reasons = collections.defaultdict(list)
for case in cases:
    if case.get("status") == "run" or case.find("skipped") is None:
        continue
    text = case.findtext("system-out") or ""
    # GoogleTest prints the place, "Skipped", the reason, an empty line.
    found = re.search(r": Skipped\n(.+?)\n", text)
    reasons[found.group(1).strip() if found else "no reason was given"].append(case.get("name"))

skipped = sum(map(len, reasons.values()))
print(f"{len(cases)} tests, {skipped} skipped")
for reason, names in sorted(reasons.items()):
    shown = ", ".join(sorted(names)[:3]) + (", …" if len(names) > 3 else "")
    print(f"  {len(names):4} because: {reason} ({shown})")
for case in cases:  # last, so that they are visible
    if case.get("status") == "fail":
        said = (case.findtext("system-out") or "").rstrip().splitlines()
        print(f"failed: {case.get('name')}", *("  " + line for line in said[-LINES:]), sep="\n")
excused = ("no GPU",) if os.environ.get("SPECKLESCOPE_NIGHTLY") else ("no GPU", "nightly")
other = [reason for reason in reasons if not reason.startswith(excused)]
if strict and other:
    print("skipped: only a missing GPU excuses a test here. Install or permit what the other reasons name.", file=sys.stderr)
    sys.exit(1)
