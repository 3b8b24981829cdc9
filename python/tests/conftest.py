import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX must leave GPU memory for the others


@pytest.fixture
def rng():
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}")
    return np.random.default_rng(seed)


@pytest.fixture(scope="session")
def program():
    """The program to compare with: $SPECKLESCOPE_PROGRAM, set by ./dev python."""
    path = os.environ.get("SPECKLESCOPE_PROGRAM") or shutil.which("specklescope")
    if not path:
        pytest.skip("the program is not there; set SPECKLESCOPE_PROGRAM")
    return path


@pytest.fixture(scope="session")
def prefix(program, tmp_path_factory):
    """Installation folder of program, library and element: an empty folder if the program belongs to a build."""
    build = Path(program).resolve().parent
    if not (build / "cmake_install.cmake").exists():
        return build.parent
    place = tmp_path_factory.mktemp("installed")
    subprocess.run(["cmake", "--install", build, "--prefix", place], check=True, stdout=subprocess.DEVNULL)
    return place


@pytest.fixture(scope="session")
def library_folder(prefix):
    """Library folder of the installation: lib, or lib/x86_64-linux-gnu."""
    header, = prefix.glob("lib*/**/pkgconfig/specklescope.pc")
    return header.parents[1]


@pytest.fixture(scope="session")
def at_home(prefix, library_folder, tmp_path_factory):
    """Environment of a user with that installation, this Python, and no other parts of Specklescope."""
    home = tmp_path_factory.mktemp("home")
    kept = {key: value for key, value in os.environ.items() if key in ("LANG", "LC_ALL", "LD_LIBRARY_PATH")}
    return {**kept, "PATH": os.pathsep.join([f"{prefix}/bin", f"{sys.prefix}/bin", os.environ["PATH"]]), "HOME": str(home),
            "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home), "GST_REGISTRY": f"{home}/registry.bin",
            "PKG_CONFIG_PATH": f"{library_folder}/pkgconfig", "GST_PLUGIN_PATH": f"{library_folder}/gstreamer-1.0",
            "PYTHONUNBUFFERED": "1"}
