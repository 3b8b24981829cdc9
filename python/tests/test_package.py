"""pip's packages of a clone: sources that are sufficient for a build, and a wheel that contains only the package."""
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

import specklescope as ss

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = r"(\.|dev$|CONTRIBUTING\.md$|docs/(?!science\.md$)|examples/|tests/|python/(tests/|bench\.py$))"


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Input of `pip wheel`: the unpacked source archive."""
    folder = tmp_path_factory.mktemp("sources")
    make = f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})"
    subprocess.run([sys.executable, "-c", make], cwd=ROOT, check=True, capture_output=True)
    archive, = folder.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", archive, "-C", folder], check=True)
    return folder / archive.name.removesuffix(".tar.gz")


def test_sources_are_those_of_the_clone_without_tests_and_pictures(sources):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("this is no clone, and nobody says which files are its own")
    wanted = {name for name in listed.stdout.splitlines() if not re.match(LEFT_OUT, name) and (ROOT / name).exists()}
    assert {str(path.relative_to(sources)) for path in sources.rglob("*") if path.is_file()} == wanted | {"PKG-INFO"}


def test_sources_have_all_that_the_library_is_built_from(sources, tmp_path):
    """Configures with CMake, which checks that every file of every target exists."""
    done = subprocess.run(["cmake", "-S", sources / "python", "-B", tmp_path, f"-DPython_EXECUTABLE={sys.executable}", "-G", "Ninja",
                           "-DCMAKE_DISABLE_FIND_PACKAGE_specklescope=ON", "-DSPECKLESCOPE_CUDA=IF_FOUND"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "libspecklescope: built with the package" in done.stdout


def test_a_wheel_holds_the_package_alone():
    folder, installed = ROOT / "python/src/specklescope", set()
    for file in importlib.metadata.files("specklescope"):
        first, *rest = file.parts
        assert first == "specklescope" or re.fullmatch(r"specklescope-[\d.]+\.dist-info", first), file
        if first == "specklescope" and "__pycache__" not in rest:
            installed.add(re.sub(r"^_core\..*so$", "_core.so", re.sub(r"\.so\.[\d.]+$", ".so", "/".join(rest))))
    own = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert installed == own | {"_core.so", "_core.pyi", "stages.py", "libspecklescope.so"}
    about = importlib.metadata.metadata("specklescope")
    assert about["License-File"] == "LICENSE" and about["License-Expression"] == "Apache-2.0"
    project = re.search(r"project\(specklescope VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert about["Version"] == project[1] == ss.__version__
