"""The window of the installed program carries its icon: icon_test.py PREFIX"""
import json
import os
import subprocess
import sys
import time

from support import clean_environment, need, temporary_home

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from screen import Screen  # noqa: E402

need("Xvfb")
prefix = sys.argv[1]
with temporary_home() as home:
    screen = Screen(800, 600)
    viewer = None
    try:
        probe = os.path.join(home, "probe.json")
        viewer = subprocess.Popen(
            [os.path.join(prefix, "bin", "specklescope"), "synthetic:uniform?width=64&height=48", "--backend", "cpu"],
            cwd=home, env=clean_environment(home, DISPLAY=screen.display,
                                            SPECKLESCOPE_UI_PROBE=probe, LIBGL_ALWAYS_SOFTWARE="1"))
        end = time.monotonic() + 120
        icons = None
        while icons is None and time.monotonic() < end and viewer.poll() is None:
            try:
                with open(probe) as file:
                    icons = json.load(file)["values"]["icons"]
            except (OSError, ValueError, KeyError):
                time.sleep(0.05)
        assert icons == 4, f"{icons} sizes of the icon were found; the program says {viewer.poll()}"
        viewer.terminate()
        assert viewer.wait(60) == 0
    finally:
        if viewer and viewer.poll() is None:
            viewer.kill()
            viewer.wait()
        screen.close()
