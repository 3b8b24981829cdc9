"""Each command of README.md and docs/guide.md runs as it stands there, one after the other, in a folder of its own and with
the installed program: pages_test.py PREFIX SOURCES"""
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
WITHOUT_WINDOW = ("run", "bench", "list", "pulse", "trials", "help")
NOT_RUN = {"./dev": "builds", "aravis": "needs a camera"}


def commands(page):
    """(language, code) of each command of the page, and of each block that is more than its lines."""
    for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", (sources / page).read_text(encoding="utf-8"), re.S | re.M):
        if language == "python" or (language == "sh" and "<<" in code):
            yield language, code
        elif language == "sh":
            yield from ((language, line) for line in code.splitlines())


def show(command, folder, environment):
    """A command that opens the window: until that shows a frame, then it is asked to end."""
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


tried = 0
for page in ("README.md", "docs/guide.md"):
    with tempfile.TemporaryDirectory(prefix="specklescope-pages-") as name:
        folder, screen = Path(name), Screen(1280, 800)
        environment = clean_environment(str(folder / "home"), DISPLAY=screen.display)
        environment["PATH"] = f"{prefix}/bin:{environment['PATH']}"
        if page == "README.md":  # in a clone
            for part in ("docs", "tests"):
                (folder / part).symlink_to(sources / part)
        try:
            for language, command in commands(page):
                if any(word in command for word in NOT_RUN):
                    continue
                tried += 1
                words = shlex.split(command, comments=True) if language == "sh" and "<<" not in command else []
                if words[:1] == ["specklescope"] and words[1] not in WITHOUT_WINDOW and "--offscreen" not in words:
                    show(command, folder, environment)
                    continue
                begin = ["/usr/bin/python3", "-c"] if language == "python" else ["bash", "-euo", "pipefail", "-c"]
                done = subprocess.run([*begin, command], cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
                assert done.returncode == 0, f"{page}: {command}\n{done.stdout}{done.stderr}"
        finally:
            screen.close()
print(tried, "commands")
assert tried > 20
