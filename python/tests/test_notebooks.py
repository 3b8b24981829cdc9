"""The notebooks in examples/notebooks run to their end, in an empty folder, and are stored without outputs. Their last cells
compare the results with the simulated truth."""
import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(autouse=True)
def tools():
    for name in ("nbclient", "ipykernel", "pandas", "scipy", "matplotlib"):
        pytest.importorskip(name)


def test_there_is_one_for_each_subject():
    assert {path.stem for path in NOTEBOOKS} == {"multi_exposure", "pulse", "study"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_is_stored_without_outputs(path, program, tmp_path, monkeypatch):
    import nbclient
    import nbformat

    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(program).parent), os.environ["PATH"]]))
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any("image/png" in output.get("data", {}) for cell in code for output in cell.outputs)
