"""python/bench.py runs and gives its figures; what they are is for whoever runs it on a quiet machine."""
import re
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1] / "bench.py"
ADDED = r"(-?[0-9.]+) \((-?[0-9.]+) to (-?[0-9.]+)\)"


def test_it_tells_what_python_adds_and_how_sure_that_is():
    made = subprocess.run([sys.executable, BENCH, "30"], capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr
    rows = re.findall(rf"^\| (.+) \| ([0-9.]+) \| {ADDED} \| {ADDED} \|$", made.stdout, re.M)
    assert [row[0] for row in rows] == ["1×1 u16, none", "1280×1024 u16, speckle on one thread", "1280×1024 u16, none"]
    for row in rows:
        call, _, least, most, _, least_new, most_new = map(float, row[1:])
        assert call > 0 and least <= most and least_new <= most_new
