"""What docs/doors.md shows of Python runs as it stands there."""
from pathlib import Path

import numpy as np

import specklescope as ss

PAGE = Path(__file__).resolve().parents[2] / "docs/doors.md"


def example(which):
    """The nth block of Python on the page, in under ten lines."""
    text = PAGE.read_text(encoding="utf-8").split("```python\n")[1 + which].split("```")[0]
    assert text.count("\n") < 10
    return text


def test_the_example_runs(capsys):
    names = {}
    exec(example(0), names)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [str(number) for number in range(20)]
    assert names["contrast"].dtype == np.float32


def test_the_example_of_a_recorder_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"ss": ss, "images": [np.full((24, 32), 100 + number, np.uint16) for number in range(5)]}
    exec(example(1), names)
    assert names["recorder"].counts["written"] == 5 and (tmp_path / "flow.tiff").exists()


def test_the_example_of_napari_runs_without_napari():
    added = []

    class Viewer:
        def add_image(self, data, **settings):
            added.append((data.shape, settings))

    code = example(2)
    assert "import napari" in code
    names = {"ss": ss, "viewer": Viewer(), "source": "synthetic:vessels?width=64&height=48&live=false"}
    exec("\n".join(line for line in code.splitlines() if "napari" not in line), names)
    assert [shape for shape, _ in added] == [(20, 48, 64)] * 2
    assert added[1][1]["name"] == "speckle flow index 1/(2TK²) (1/s)"

