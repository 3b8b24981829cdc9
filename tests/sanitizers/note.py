#!/usr/bin/env python3
"""Writes the results of tests under sanitizers as a note: note.py NOTE.json (WHAT RESULTS.xml[+AGAIN.xml])… [--device
ROWS.json]

`./dev test asan` and `./dev test tsan` write RESULTS.xml into their build folder, tests/sanitizers/device.py writes
ROWS.json. RESULTS.xml+AGAIN.xml: failed tests were run again by themselves; those that passed then are reported
separately. Rows of an earlier note that are not measured again are kept, with their commit.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from reliability import commit_tried, note  # noqa: E402


def cases_of(path):
    """Name and outcome of each test."""
    root = xml.etree.ElementTree.parse(path).getroot()
    return {case.get("name").split("  # ")[0]: case.get("status") for case in root.findall("testcase")}


def row_of(what, paths):
    first, *again = map(cases_of, paths.split("+"))
    failed = {name for name, status in first.items() if status == "fail"}
    passed = {name for name in failed for later in again if later.get(name) == "run"}
    ran = sum(status in ("run", "fail") for status in first.values())
    return {"what": what, "tries": ran, "failures": len(failed - passed), "passed when repeated": len(passed)}


arguments = sys.argv[1:]
place = pathlib.Path(arguments.pop(0))
device, card = [], ""
if "--device" in arguments:
    at = arguments.index("--device")
    measured = json.loads(pathlib.Path(arguments[at + 1]).read_text())
    device, card = measured["rows"], measured["device"]
    del arguments[at:at + 2]
rows = [row_of(*pair) for pair in zip(arguments[::2], arguments[1::2], strict=True)] + device
for row in rows:
    row["commit"] = commit_tried()
new = {row["what"] for row in rows}
before = json.loads(place.read_text()) if place.exists() else {"rows": []}
rows = [{"commit": before["commit"]} | row for row in before["rows"] if row["what"] not in new] + rows
columns = [key for key in dict.fromkeys(key for row in rows for key in row) if key != "commit"] + ["commit"]
card = card or before.get("machine", "").partition("; device tests on ")[2]
note(place, "sanitizers", "./dev test asan, ./dev test tsan; on a GPU tests/sanitizers/device.py",
     [{key: row.get(key, "") for key in columns} for row in rows], f"; device tests on {card}" if card else "")
