#!/usr/bin/env python3
"""Which tests of the last ctest run were skipped, grouped by reason, and what the failed ones said: skipped.py RESULTS.xml
[AGAIN.xml] [--strict]

RESULTS.xml is what `ctest --output-junit` wrote, AGAIN.xml that of the failed ones, tried once more alone. --strict: exit
status 1 for any reason that does not begin with "no GPU" or, except when SPECKLESCOPE_NIGHTLY is set, with "nightly".
"""
import collections
import os
import re
import sys
import xml.etree.ElementTree

LINES = 20  # of what a failed test said, the last ones

strict = "--strict" in sys.argv[2:]
cases, *more = [xml.etree.ElementTree.parse(file).getroot().findall("testcase")
                for file in sys.argv[1:] if file != "--strict"]
steady = {case.get("name"): case.get("status") != "fail" for again in more for case in again}
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
for case in cases:  # at the end, where nothing stands below it
    if case.get("status") == "fail":
        said = (case.findtext("system-out") or "").rstrip().splitlines()
        failed = "unsteady, passed alone" if steady.get(case.get("name")) else "failed"
        print(f"{failed}: {case.get('name')}", *("  " + line for line in said[-LINES:]), sep="\n")
excused = ("no GPU",) if os.environ.get("SPECKLESCOPE_NIGHTLY") else ("no GPU", "nightly")
other = [reason for reason in reasons if not reason.startswith(excused)]
if strict and other:
    print("skipped: only a missing GPU excuses a test here. Install or permit what the other reasons name.", file=sys.stderr)
    sys.exit(1)
