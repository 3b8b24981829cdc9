"""The element on the command line: launch.py PROGRAM PLUGIN

gst-launch writes the same bytes and colours as the program for the same scene; gst-inspect describes the element; a gst:
source of the program may contain it, but still no element that writes. PLUGIN is the built one.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

program, plugin = sys.argv[1:]
WIDTH, HEIGHT, FRAMES = 67, 45, 6  # video/x-raw would pad these rows to 4 bytes
CHAIN = ["background:black=64", "speckle:radius=2,output=contrast2", "average:frames=3", "flow"]


def run(words, status=0):
    done = subprocess.run(words, cwd=home, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


with tempfile.TemporaryDirectory() as home:
    environment = {**os.environ, "GST_PLUGIN_PATH": str(Path(plugin).parent), "HOME": home,
                   "GST_REGISTRY": f"{home}/registry.bin"}
    os.chdir(home)

    # One scene, through both.
    stages = [word for stage in CHAIN for word in ("--stage", stage)]
    run([program, "run", f"synthetic:vessels?width={WIDTH}&height={HEIGHT}&live=false", "--frames", str(FRAMES), "--stage",
         "none", "--backend", "cpu", "--record-raw", "scene.raw", "--quiet"])
    frame = WIDTH * HEIGHT * 2
    assert Path("scene.raw").stat().st_size == frame * FRAMES
    run([program, "run", f"raw:scene.raw?width={WIDTH}&height={HEIGHT}&format=gray16le", *stages, "--backend", "cpu",
         "--record", "program.raw", "--quiet"])
    with open("scene.raw.jsonl", encoding="utf-8") as lines:  # described in raw: files, but not in caps
        scene = json.loads(next(lines))
    facts = [f"full-scale={scene['full_scale']}", f"exposure={scene['exposure_ms']}"]
    source = ["gst-launch-1.0", "-q", "filesrc", "location=scene.raw", f"blocksize={frame}", "!", "rawvideoparse",
              f"width={WIDTH}", f"height={HEIGHT}", "format=gray16-le", "framerate=25/1", f"plane-strides=<{WIDTH * 2}>",
              f"frame-size={frame}", "!", "specklescope", "options=backend=cpu", *facts]
    run([*source, f"chain={' | '.join(CHAIN)}", "!", "filesink", "location=element.raw"])
    expected, made = Path("program.raw").read_bytes(), Path("element.raw").read_bytes()
    assert len(expected) == WIDTH * HEIGHT * 4 * FRAMES, len(expected)
    assert made == expected, "the element's bytes are not the program's"
    print(f"{len(made)} bytes of {FRAMES} frames are those of the program.")

    # Also its colours: the last frame.
    view = {"colormap": "inferno", "low": "20", "high": "600"}
    views = [word for pair in view.items() for word in ("--view", "=".join(pair))]
    run([program, "run", f"raw:scene.raw?width={WIDTH}&height={HEIGHT}&format=gray16le", "--stage", "speckle", "--backend",
         "cpu", *views, "--record", "program.png", "--quiet"])
    run([*source, "chain=speckle", *("=".join(pair) for pair in view.items()), "!", "video/x-raw,format=RGBA", "!",
         "filesink", "location=element.rgba"])
    expected = Image.open("program.png").convert("RGBA").tobytes()
    assert Path("element.rgba").read_bytes()[-len(expected):] == expected, "the element's colours are not the program's"

    # Errors are reported, also by the exit status.
    said = run([*source, "chain=speckle:radius=99", "!", "fakesink"], status=255)
    assert "radius = 99 is not possible" in said, said

    told = run(["gst-inspect-1.0", "specklescope"])
    for words in (r"Speckle contrast and flow", r"GRAY16_BE", r"application/x-specklescope", r"gray32f", r"GRAY16_LE",
                  r"(?i)speckle-radius +: window radius", r"allowed: a whole number, 1…15 px", r"Range: 1 - 15 Default: 3",
                  r"colormap +:", r"\(1\): inferno", r"chain +: stages joined", r"gamma-gamma .*\n.*controllable",
                  r"qos +:", r"Frames in CUDAMemory are (read|not taken)"):
        assert re.search(words, told), f"gst-inspect does not tell {words}:\n{told}"

    # In a source of the program.
    text = "gst:videotestsrc num-buffers=4 ! video/x-raw,format=GRAY8,width=64,height=48 ! specklescope chain=gamma "
    told = run([program, "run", text + "! video/x-raw,format=GRAY8", "--stage", "none", "--backend", "cpu"])
    assert "4 in, 4 processed, none dropped" in told, told
    told = run([program, "run", text + "! tee name=t ! filesink location=stolen t. ! video/x-raw,format=GRAY8", "--backend",
                "cpu"], status=2)
    assert "filesink" in told and "--trust" in told and not Path("stolen").exists(), told
