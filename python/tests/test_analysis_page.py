"""Runs the blocks of docs/analysis.md in order, in one folder."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/analysis.md"


def test_every_block_runs(program, tmp_path):
    for name in ("pandas", "scipy", "matplotlib"):
        pytest.importorskip(name)
    home = {**os.environ, "PATH": os.pathsep.join([str(Path(program).parent), os.environ["PATH"]])}
    home.pop("SPECKLESCOPE_PROGRAM", None)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    for language, code in blocks:
        words = ["bash", "-e", "-c", code] if language == "sh" else [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(words, cwd=tmp_path, env=home, capture_output=True, text=True)
        assert done.returncode == 0, code + done.stderr
    assert len(blocks) == 7 and (tmp_path / "hand.pdf").stat().st_size > 1000 and "<text" in (tmp_path / "groups.svg").read_text()
