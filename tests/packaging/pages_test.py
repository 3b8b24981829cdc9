"""Runs each command of the pages as it stands there, in the order of the page, in an empty folder, with the installed program:
pages_test.py PREFIX SOURCES

```sh commands must succeed. ```console lines that begin with "$ " must fail with status 1 or 2 and a message. A command
whose comment says "needs" (a camera, a GPU) is not run. Commands that open the window are ended after the first frame.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support import clean_environment, need

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from screen import Screen  # noqa: E402

need("Xvfb")
prefix, sources = map(Path, sys.argv[1:3])
PAGES = ("README.md", "docs/tutorial.md", "docs/guide.md", "docs/monitor.md", "docs/troubleshooting.md")
IN_A_CLONE = ("README.md", "docs/tutorial.md")
WITHOUT_WINDOW = ("run", "bench", "list", "pulse", "trials", "help", "--version", "--offscreen", "--save-config")
NOT_RUN = ("./dev", "aravis", "# needs")  # builds; a camera; marked
FAILED = (1, 2)  # an error, a wrong command line


def commands(page):
    """Yields (language, code) of each command of the page. A block whose lines belong together is one command."""
    for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", (sources / page).read_text(encoding="utf-8"), re.S | re.M):
        if language == "console":
            yield from ((language, line[2:]) for line in code.splitlines() if line.startswith("$ "))
        elif language == "python" or (language == "sh" and "<<" in code):
            yield language, code
        elif language == "sh":
            yield from ((language, line) for line in code.splitlines())


def show(command, folder, environment):
    """Runs a command that opens the window, until it shows a frame; then asks it to end with SIGTERM."""
    probe = folder / "probe.json"
    probe.unlink(missing_ok=True)
    with open(folder / "said", "w") as said:
        window = subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder, stdout=said, stderr=said,
                                  env={**environment, "SPECKLESCOPE_UI_PROBE": str(probe), "LIBGL_ALWAYS_SOFTWARE": "1"})
    try:
        end, shown = time.monotonic() + 120, False
        while not shown and time.monotonic() < end and window.poll() is None:
            try:
                shown = bool(json.loads(probe.read_text()))
            except (OSError, ValueError):
                time.sleep(0.05)
        assert shown, f"{command}\n{(folder / 'said').read_text()}"
        window.terminate()
        assert window.wait(60) == 0, f"{command}\n{(folder / 'said').read_text()}"
    finally:
        if window.poll() is None:
            window.kill()
            window.wait()


def opens_window(command):
    words = [] if "<<" in command else shlex.split(command, comments=True)
    return bool(words) and Path(words[0]).name == "specklescope" and not set(words) & set(WITHOUT_WINDOW)


def run(language, command, folder, environment):
    begin = ["/usr/bin/python3", "-c"] if language == "python" else ["bash", "-euo", "pipefail", "-c"]
    return subprocess.run([*begin, command], cwd=folder, env=environment, capture_output=True, text=True, timeout=240)


for page in PAGES:
    tried = 0
    with tempfile.TemporaryDirectory(prefix="specklescope-pages-") as name:
        folder, screen = Path(name), Screen(1280, 800)
        environment = clean_environment(str(folder / "home"), DISPLAY=screen.display)
        environment["PATH"] = f"{prefix}/bin:{environment['PATH']}"
        if page in IN_A_CLONE:
            for part in ("docs", "tests"):
                (folder / part).symlink_to(sources / part)
            (folder / "build" / "native").mkdir(parents=True)
            (folder / "build" / "native" / "specklescope").symlink_to(prefix / "bin" / "specklescope")
        try:
            for language, command in commands(page):
                if any(word in command for word in NOT_RUN):
                    continue
                tried += 1
                if language == "sh" and opens_window(command):
                    show(command, folder, environment)
                    continue
                changes_folder = language == "sh" and command.startswith("cd ")
                done = run(language, command + " && pwd" if changes_folder else command, folder, environment)
                told = f"{page}: {command}\n{done.stdout}{done.stderr}"
                if language == "console":
                    assert done.returncode in FAILED and done.stderr.strip(), told
                else:
                    assert done.returncode == 0, told
                if changes_folder:
                    folder = Path(done.stdout.strip())
        finally:
            screen.close()
    print(page, tried, "commands")
    assert tried > (0 if page == "docs/monitor.md" else 6), page
