"""What docs/doors.md shows of Python runs as it stands there."""
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[2] / "docs/doors.md"


def test_the_example_runs(capsys):
    example = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert example.count("\n") < 10
    names = {}
    exec(example, names)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [str(number) for number in range(20)]
    assert names["contrast"].dtype == np.float32
