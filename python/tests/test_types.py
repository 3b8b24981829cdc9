"""The examples of the pages pass mypy --strict, with types other than Any."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/guide.md", "docs/doors.md", "docs/analysis.md")
TOLD = """
import specklescope as ss
frame = next(ss.open("synthetic:vessels"))
chain = ss.Chain("speckle")
reveal_type((frame, frame.data, frame.time, frame.counts.saturated, chain, chain(frame.raw), chain.result, ss.speckle(frame.raw)))
reveal_type((ss.Recorder("a.tiff"), ss.Control().stats(), ss.open().source, ss.sources()))
"""


def check(*files):
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", *map(str, files)], capture_output=True,
                          text=True)


@pytest.fixture(autouse=True)
def mypy():
    pytest.importorskip("mypy")


def test_examples_pass(tmp_path):
    files = sorted((ROOT / "examples/python").glob("*.py"))
    for page in PAGES:
        for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.S | re.M)):
            files.append(tmp_path / f"{Path(page).stem}_{number}.py")
            files[-1].write_text(code)
    (tmp_path / "mypy.ini").write_text("[mypy]\n" + "".join(f"[mypy-{name}.*]\nignore_missing_imports = True\n"
                                                            for name in ("napari", "pandas", "torch")))
    made = check("--config-file", tmp_path / "mypy.ini", *files)
    assert made.returncode == 0 and len(files) > 8, made.stdout


def test_what_is_given_is_no_any(tmp_path):
    (tmp_path / "told.py").write_text(TOLD)
    made = check(tmp_path / "told.py")
    told = re.findall(r'Revealed type is "(.*)"', made.stdout)
    assert made.returncode == 0 and len(told) == 2, made.stdout
    for name in ("Frame", "ndarray", "float", "int", "Chain", "Result"):
        assert name in told[0], told
    for name in ("Recorder", "dict[str, Any]", "list[dict"):
        assert name in re.sub(r"builtins\.|typing\.", "", told[1]), told
    assert not re.search(r"(?<!\[)\bAny\b(?![\],])", told[0].replace("dtype[Any]", "").replace("typing.", "")), told
