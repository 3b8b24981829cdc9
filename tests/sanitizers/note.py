#!/usr/bin/env python3
"""Notes what tests said under sanitizers: note.py NOTE.json (WHAT RESULTS.xml[+AGAIN.xml])… [--device ROWS.json]

RESULTS.xml is what `./dev test asan` or `./dev test tsan` left in its build folder; ROWS.json what tests/sanitizers/device.py wrote.
RESULTS.xml+AGAIN.xml: what failed was tried once more, alone; what passed then is told beside what did not.
Rows of an earlier note that are not measured again stay, with their commit.
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
