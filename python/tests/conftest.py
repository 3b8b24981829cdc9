import os
import shutil
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rng():
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}")
    return np.random.default_rng(seed)


@pytest.fixture(scope="session")
def program():
    """The program to compare with: $SPECKLESCOPE_PROGRAM, as ./dev python sets it."""
    path = os.environ.get("SPECKLESCOPE_PROGRAM") or shutil.which("specklescope")
    if not path:
        pytest.skip("the program is not there; set SPECKLESCOPE_PROGRAM")
    return path
