"""Functions shared by the packaging tests."""
import os
import shutil
import subprocess
import sys
import tempfile


def need(tool):
    """Skips the test if a tool is not installed; only ./dev nightly installs zsh and fish."""
    if shutil.which(tool) is None:
        print(f"packaging: Skipped\n{'nightly: ' * (tool in ('zsh', 'fish'))}{tool} is not installed\n")
        sys.exit(77)


def clean_environment(home, **more):
    """An environment without a display and without settings of the user."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "ASAN_OPTIONS", "LSAN_OPTIONS",
                                                         "UBSAN_OPTIONS", "TSAN_OPTIONS")}
    return {**keep, "HOME": home, "XDG_CONFIG_HOME": os.path.join(home, ".config"), **more}


def run(words, home, status=0, **more):
    """Runs to the end and returns the output. A status other than the expected one is an error."""
    done = subprocess.run(words, env=clean_environment(home, **more), cwd=home, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def temporary_home():
    return tempfile.TemporaryDirectory(prefix="specklescope-packaging-")


def expect(truth, what):
    assert truth, what
