#!/usr/bin/env python3
"""Random input to the window: monkey.py PROGRAM EVENTS [--seed S] [--note FILE]

Keys, clicks, drags, wheel, typed words and window sizes, on a virtual screen. The events follow from their number and
the seed, so a run can be repeated. Checks: the program does not crash, prints only its own messages, and ends with
status 0; its frame counts add up; its recordings can be read; descriptors and memory do not grow.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import reliability  # noqa: E402
import screen  # noqa: E402

WIDTH, HEIGHT = 1280, 800
KEYS = ["Tab", "Escape", "Return", "space", "Right", "F1", "F11", "question", "bracketleft", "bracketright", "plus", "minus",
        "0", "1", "2", "a", "c", "f", "m", "p", "s", "x", "Left", "Up", "Down", "Page_Down", "Home", "Delete", "BackSpace",
        "ctrl+a", "ctrl+c", "ctrl+z", "shift+Tab", "shift+Right", "r", "o", "t", "z", "e", "percent", "End", "ctrl+1"]
WORDS = ["synthetic:uniform", "synthetic:static", "nowhere.tif", "film.tiff", "speckle:radius=99", "12.5", "-1", "nan", "1e9",
         "../..", "%s%n", "raw:film.tiff?width=3"]
BATCH = 20           # events in one xdotool
START = 180  # seconds until the first image
END = 60             # for the end
MOST_MIB = 400  # growth after the first tenth: a full screen and a film in memory
MOST_DESCRIPTORS = 24  # files being recorded, a source being opened


def event(seed, number):
    """Words for xdotool."""
    r = random.Random(f"{seed}/{number}")
    place = [str(r.randrange(WIDTH)), str(r.randrange(HEIGHT))]
    side = [str(r.randrange(WIDTH - 340, WIDTH)), str(r.randrange(HEIGHT))]  # where the controls are
    kind = r.random()
    if kind < 0.30:
        return ["key", r.choice(KEYS)]
    if kind < 0.55:
        return ["mousemove", *(side if r.random() < 0.7 else place), "click", str(r.choice([1, 1, 1, 1, 3, 2]))]
    if kind < 0.75:
        return ["mousemove", *(side if r.random() < 0.7 else place), "mousedown", "1", "sleep", "0.02", "mousemove",
                *place, "sleep", "0.02", "mouseup", "1"]
    if kind < 0.87:
        return ["mousemove", *place, "click", "--repeat", str(r.randrange(1, 5)), str(r.choice([4, 5]))]
    if kind < 0.95:
        return ["type", "--delay", "5", r.choice(WORDS)]
    if kind < 0.97:
        return ["mousemove", *place, "click", "--repeat", "2", "1"]
    return ["SIZE", str(r.randrange(320, WIDTH)), str(r.randrange(240, HEIGHT))]


class Window:
    def __init__(self, program, folder):
        self.folder = folder
        self.screen_log = open(folder / "screen.log", "w+", encoding="utf-8", errors="replace")
        self.screen = screen.Screen(WIDTH, HEIGHT, self.screen_log)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"),
                            "DISPLAY": self.screen.display, "LIBGL_ALWAYS_SOFTWARE": "1",
                            "SPECKLESCOPE_UI_PROBE": str(folder / "probe.json")}
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.log = open(folder / "log", "w+", encoding="utf-8", errors="replace")
        self.program = subprocess.Popen([program, "view", "synthetic?width=320&height=240", "--stats", "s.json", "--view",
                                         f"width={WIDTH}", "--view", f"height={HEIGHT}"], cwd=folder, env=self.environment,
                                        stdout=self.log, stderr=self.log)

    def xdotool(self, *words):
        subprocess.run(["xdotool", *words], env=self.environment, capture_output=True, timeout=120, check=False)

    def displayed(self):
        try:
            return json.loads((self.folder / "probe.json").read_text())["values"].get("displayed", 0)
        except (OSError, ValueError, KeyError):
            return 0

    def alive(self):
        return self.program.poll() is None

    def held(self):
        """Descriptors, threads, MiB of its own."""
        process = pathlib.Path(f"/proc/{self.program.pid}")
        rows = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
        return len(list((process / "fd").iterdir())), int(rows["Threads"]), int(rows["RssAnon"].split()[0]) // 1024

    def close(self):
        if self.alive():
            self.program.kill()
        self.program.wait()
        self.screen.close()


def run(program, events, seed, folder):
    """Returns the problems, and the resources at the beginning and the end."""
    window = Window(program, folder)
    try:
        end = time.monotonic() + START
        while window.displayed() < 3:
            if not window.alive() or time.monotonic() > end:
                return ["no picture within a minute: " + (folder / "log").read_text()[-500:]], None, None
            time.sleep(0.1)
        first = last = window.held()
        for begin in range(0, events, BATCH):
            words = []
            for number in range(begin, min(begin + BATCH, events)):
                one = event(seed, number)
                words += ["search", "--class", "specklescope", "windowsize", *one[1:]] if one[0] == "SIZE" else one
            window.xdotool(*words)
            if not window.alive():
                return [f"it ended with status {window.program.returncode} in events {begin}…{begin + BATCH}: "
                        + (folder / "log").read_text()[-800:]], first, last
            last = window.held()
            if begin <= events // 10:
                first = tuple(max(a, b) for a, b in zip(first, last))
        wrong = []
        if last[0] > first[0] + MOST_DESCRIPTORS:
            wrong.append(f"{last[0]} descriptors, {first[0]} in the beginning")
        if last[2] > first[2] + MOST_MIB:
            wrong.append(f"{last[2]} MiB, {first[2]} in the beginning")
        window.xdotool("mouseup", "1", "key", "Escape", "key", "Escape", "key", "ctrl+q", "sleep", "1", "key", "Return")
        try:
            status = window.program.wait(END)
        except subprocess.TimeoutExpired:
            return wrong + ["it does not end when it is told to"], first, last
        if status != 0:
            wrong.append(f"it ends with status {status}: " + (folder / "log").read_text()[-500:])
        return wrong + look_at(folder), first, last
    finally:
        window.close()


def look_at(folder):
    """Problems in the files and the log of the run."""
    wrong = [f"somebody else speaks: {line}" for line in (folder / "log").read_text().splitlines()
             if line.strip() and not line.startswith(("specklescope: ", "  "))][:3]
    statistics = folder / "s.json"
    if not statistics.exists():
        return wrong + ["it left no statistics"]
    stats = json.loads(statistics.read_text())
    frames, drops = stats["frames"], stats["drops"]
    if frames["acquired"] < frames["processed"] + drops["ring"] + drops["failed"]:
        wrong.append(f"more frames came out than in: {frames}, {drops}")
    import tifffile
    for path in folder.rglob("*.tiff"):
        try:
            with tifffile.TiffFile(path) as tiff:
                for page in tiff.pages:
                    page.aspage().asarray()
        except Exception as error:  # any exception of the reader
            wrong.append(f"{path.name} cannot be read: {error}")
    wrong += [f"{path.name} is left half-written" for path in folder.rglob("*.part*")]
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("events", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--note", type=pathlib.Path)
    asked = parser.parse_args()
    for tool in ("Xvfb", "xdotool"):
        if not any(os.access(os.path.join(folder, tool), os.X_OK) for folder in os.environ["PATH"].split(":")):
            print(f"monkey: Skipped\n{tool} is not installed; the window cannot be driven.\n")
            sys.exit(77)
    print(f"monkey: {asked.events} events from seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="specklescope-monkey-") as folder:
        wrong, first, last = run(os.path.abspath(asked.program), asked.events, asked.seed, pathlib.Path(folder))
    for what in wrong:
        print(f"monkey: {what}")
    if first:
        print("monkey: descriptors, threads, MiB: " + ", ".join(f"{a} to {b}" for a, b in zip(first, last)))
    if asked.note:
        held = dict(zip(["descriptors", "threads", "MiB"], [f"{a} to {b}" for a, b in zip(first, last)])) if first else {}
        reliability.note(asked.note, "monkey", f"./dev nightly monkey {asked.events}",
                         [{"what": f"window, seed {asked.seed}", "tries": asked.events, "failures": len(wrong), **held}])
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
