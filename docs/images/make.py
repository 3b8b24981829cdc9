#!/usr/bin/python3
"""Makes the images of the pages, each from its own run of the program, on a virtual screen.

Usage: docs/images/make.py PROGRAM [NAME…]   all of them, or those named
       docs/images/make.py --list            their names
Needs Xvfb, xdotool, ImageMagick, poppler-utils, and python3-numpy for the street at night.
"""
import csv
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent
DATA = FOLDER.parent.parent / "tests" / "data"
SIZE = (960, 600)
TALL = (1040, 740)  # with traces below the image
PATIENCE = 300  # s
MOST = 140 * 1024  # bytes of an image with noise, which gets as many colours as fit
COLOURS = (128, 96, 64, 48)
SCENE = "synthetic:vessels?width=640&height=480&rate=40"

RAW = "raw:camera.raw?width=480&height=360&format=gray16le&rate=40&full_scale=4095&speed=0"  # docs/tutorial.md has the same commands
TUTORIAL = "synthetic:vessels?width=480&height=360&rate=40&speed=0&live=false"
PLACES = {"regions": [
    {"name": "vessel", "shape": "rectangle", "points": [[200, 450], [360, 480]]},
    {"name": "tissue", "shape": "rectangle", "points": [[800, 850], [1000, 1000]]}]}
TAKES = {"regions": [
    {"name": "vessel", "shape": "polygon", "points": [[141, 196], [155, 196], [149, 330], [134, 330]]},
    {"name": "tissue", "shape": "ellipse", "points": [[22, 240], [98, 330]]}]}

REGIONS = {"regions": [
    {"name": "artery", "shape": "polygon", "points": [[188, 262], [206, 262], [198, 440], [178, 440]]},
    {"name": "tissue", "shape": "ellipse", "points": [[30, 320], [130, 440]]},
    {"name": "branches", "shape": "rectangle", "points": [[280, 80], [400, 190]]},
    {"name": "across", "shape": "line", "points": [[150, 430], [215, 430]]}]}


class Viewer:
    """The window on its own screen, and the values that it reports."""

    def __init__(self, work, words, size=SIZE):
        self.work = work
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size[0]}x{size[1]}x24", "-nolisten", "tcp",
             "-noreset"], pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.environment = dict(os.environ, DISPLAY=":" + number.readline().strip(), HOME=str(work),
                                    XDG_CONFIG_HOME=str(work), XDG_DATA_HOME=str(work))
        self.probe = work / "probe.json"
        self.probe.unlink(missing_ok=True)
        self.program = subprocess.Popen(
            [PROGRAM, *words, "--no-remember", "--view", f"width={size[0]}", "--view", f"height={size[1]}"],
            cwd=work, env=dict(self.environment, SPECKLESCOPE_UI_PROBE=str(self.probe)))

    def __enter__(self):
        self.wait(lambda: self.value("displayed", 0) > 0 and self.value("chain") is not None)
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.key("ctrl+q")
            self.program.wait(PATIENCE)
        else:
            self.program.kill()
        self.server.terminate()
        self.server.wait()

    def look(self):
        try:
            return json.loads(self.probe.read_text())
        except (OSError, ValueError):
            return {"values": {}, "widgets": {}}

    def value(self, name, otherwise=None):
        found = self.look()["values"].get(name)
        return otherwise if found is None else found

    def widget(self, name):
        self.wait(lambda: name in self.look()["widgets"], name)
        return self.look()["widgets"][name]

    def wait(self, so, what=""):
        end = time.monotonic() + PATIENCE
        while not so():
            if self.program.poll() is not None:
                raise SystemExit(f"The program ended with {self.program.returncode}.")
            if time.monotonic() > end:
                raise SystemExit(f"Nothing came of it: {what} {self.look()['values']}")
            time.sleep(0.1)

    def frames(self, more):
        """Waits until this many further images have been drawn."""
        begin = self.value("displayed", 0)
        self.wait(lambda: self.value("displayed", 0) >= begin + more, f"{more} frames")

    def quiet(self):
        """Waits until the messages on the image have disappeared."""
        time.sleep(9)

    def xdotool(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=self.environment, check=True)

    def key(self, *keys):
        for key in keys:
            self.xdotool("key", key)
            time.sleep(0.4)

    def click(self, x, y, button=1):
        self.xdotool("mousemove", int(x), int(y), "sleep", 0.4, "click", button)

    def press(self, name, button=1):
        x, y, width, height = self.widget(name)
        self.click(x + width / 2, y + height / 2, button)

    def at(self, x, y):
        """A pixel of the image on the screen."""
        scale = self.value("image.scale")
        return self.value("image.x") + (x + 0.5) * scale, self.value("image.y") + (y + 0.5) * scale

    def drag(self, *points):
        for index, point in enumerate(points):
            self.xdotool("mousemove", *map(int, self.at(*point)), "sleep", 0.3)
            if index == 0:
                self.xdotool("mousedown", 1)
        self.xdotool("mouseup", 1)

    def point(self, x=None, y=None):
        if x is None:
            canvas = self.widget("canvas")
            x, y = canvas[0] + 4, canvas[1] + canvas[3] - 16
        self.xdotool("mousemove", int(x), int(y))

    def go_to(self, frame):
        """Shows exactly this frame of a paused film, by its time line."""
        line, length = self.widget("film.line"), self.value("film.length")
        self.click(line[0] + frame / (length - 1) * line[2], line[1] + line[3] / 2)
        self.wait(lambda: abs(self.value("film.position", -9) - frame) < 9, f"frame {frame}")
        while (here := self.value("film.position")) != frame:
            self.key("comma" if here > frame else "period")
            self.wait(lambda: self.value("film.position") != here, "a step")

    def pause(self, on=True):
        self.key("space")
        self.wait(lambda: (self.value("film.state") == "paused") == on, "pause")

    def save(self, name, part=None, palettes=COLOURS):
        """Saves the screen, or the part (x, y, width, height)."""
        whole = self.work / "screen.png"
        subprocess.run(["import", "-window", "root", str(whole)], env=self.environment, check=True)
        crop = [] if part is None else ["-crop", "{2}x{3}+{0}+{1}".format(*(int(p) for p in part)), "+repage"]
        shrink(whole, name, crop, palettes)


def shrink(source, name, words=(), palettes=COLOURS, dither="None"):
    for colours in palettes:
        subprocess.run(["convert", str(source), *words, "-strip", "-dither", dither, "-colors", str(colours),
                        "-define", "png:compression-level=9", "png8:" + str(FOLDER / name)], check=True)
        if (FOLDER / name).stat().st_size <= MOST:
            return


def run(work, *words):
    subprocess.run([PROGRAM, "run", *map(str, words), "--quiet"], cwd=work, check=True)


def film(work, frames=240):
    """A recording of the simulated vessels, made once."""
    path = work / "session.tiff"
    if not path.exists():
        run(work, SCENE + "&live=false", "--frames", frames, "--record-raw", path, "--um-per-px", 5)
    (work / "regions.json").write_text(json.dumps(REGIONS))
    return path


def of_film(work, *words, size=SIZE):
    return Viewer(work, [str(film(work)), "--loop", "--preset", "flow", *words], size)


def viewer(work):
    with Viewer(work, [str(DATA / "rat_cortex_1280x1024_mono8.tif"), "--preset", "flow"]) as window:
        window.quiet()
        window.point(500, 430)
        window.frames(2)
        window.save("viewer.png")


def viewer_gpu(work):
    with Viewer(work, [SCENE, "--preset", "flow", "--backend", "cuda", "--view", "overlay=true"]) as window:
        window.quiet()
        window.save("viewer-gpu.png")


def flow(work):
    with of_film(work) as window:
        window.quiet()
        window.save("flow.png")


class Camera:
    """A live source that can be stopped: grey frames of the simulated vessels as datagrams."""
    WIDTH, HEIGHT, RATE = 200, 150, 20

    def __init__(self, work):
        import numpy
        run(work, f"synthetic:vessels?width={self.WIDTH}&height={self.HEIGHT}&rate={self.RATE}&bits=8&live=false", "--frames",
            80, "--record-raw", work / "camera8.raw")
        self.frames = numpy.fromfile(work / "camera8.raw", numpy.uint8).reshape(-1, self.HEIGHT * self.WIDTH)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            self.address = free.getsockname()
        self.silent, self.over, self.saturated = False, False, 0
        self.thread = threading.Thread(target=self.send)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()

    def send(self):
        count = 0
        while not self.over:
            frame = self.frames[count % len(self.frames)].copy()
            frame[:len(frame) * self.saturated // 100] = 255
            if not self.silent:
                self.socket.sendto(frame.tobytes(), self.address)
            count += 1
            time.sleep(1 / self.RATE)

    def words(self, work):
        (work / "bedside.json").write_text(json.dumps({"regions": [
            {"name": "artery", "shape": "rectangle", "points": [[57, 85], [64, 135]]},
            {"name": "tissue", "shape": "ellipse", "points": [[10, 95], [40, 135]]},
            {"name": "branches", "shape": "rectangle", "points": [[88, 26], [125, 60]]},
            {"name": "edge", "shape": "rectangle", "points": [[150, 100], [190, 140]]}]}))
        return [f"gst:udpsrc address=127.0.0.1 port={self.address[1]} ! rawvideoparse width={self.WIDTH} "
                f"height={self.HEIGHT} format=gray8 framerate={self.RATE}/1", "--trust", "--stage",
                "speckle:radius=2,output=contrast2", "--stage", "average:frames=20", "--stage", "flow:exposure=5",
                "--regions", "bedside.json"]


def stale(work):
    """The camera sends nothing for 3 s, and the window shows that."""
    with Camera(work) as camera, Viewer(work, camera.words(work)) as window:
        window.frames(100)
        window.quiet()
        camera.silent = True
        window.wait(lambda: (window.value("stale") or 0) > 3, "silence")
        window.save("stale.png")


def alarms(work):
    with Camera(work) as camera, Viewer(work, camera.words(work)) as window:
        window.frames(30)
        camera.saturated = 6
        window.wait(lambda: "saturated" in window.value("alarms", ""), "the alarm")
        window.quiet()
        window.save("alarms.png")
        window.key("F7")
        window.widget("message")
        time.sleep(1)
        window.save("messages.png")
        window.key("Escape")


def monitors(work):
    """Landscape and portrait."""
    for name, size in ("monitor.png", (1280, 800)), ("monitor-portrait.png", (800, 1280)):
        with Camera(work) as camera, Viewer(work, [*camera.words(work), "--monitor"], size) as window:
            window.frames(60)
            window.xdotool("mousemove", *(int(p + 20) for p in window.widget("monitor.lock")[:2]), "mousedown", 1, "sleep", 2,
                           "mouseup", 1)
            window.key("z")
            window.press("monitor.lock")
            window.frames(500)
            window.quiet()
            window.point()
            window.save(name)
            shrink(FOLDER / name, name, palettes=[80])  # two large ones


def chain(work):
    words = ["--stage", "background", "--stage", "temporal:frames=25,output=contrast2", "--stage", "average:frames=20",
             "--stage", "flow"]
    with Viewer(work, [str(film(work)), "--loop", *words]) as window:
        window.quiet()
        window.frames(30)
        window.save("chain.png")


def films(work):
    """A selected line and two loop marks; also the bar and the profile by themselves."""
    with of_film(work, "--regions", "regions.json", size=TALL) as window:
        window.frames(30)
        window.pause()
        for frame, mark in (60, "i"), (200, "u"):
            window.go_to(frame)
            window.key(mark)
            window.wait(lambda: window.value("film.in" if mark == "i" else "film.out", -1) == frame, mark)
        window.go_to(100)
        window.pause(False)
        window.click(*window.at(183, 430))
        window.wait(lambda: window.value("regions.selected", 0) > 0 or window.value("line.name"), "the line")
        window.point()
        window.quiet()
        window.frames(20)
        window.save("film.png")
        bar = window.widget("film.line")
        window.save("transport.png", (bar[0] - 12, bar[1] - 4, bar[2] + 24, 66))
        profile = window.widget("region.profile")
        window.save("width.png", (profile[0] - 8, profile[1] - 44, profile[2] + 16, profile[3] + 84))


def regions(work):
    with of_film(work, size=TALL) as window:
        window.frames(10)
        steps = [("b", [(280, 45), (320, 75), (350, 95)]), ("c", [(430, 210), (480, 260), (520, 280)]),
                 ("d", [(240, 350), (250, 330), (280, 320), (320, 325), (340, 345), (330, 370), (300, 382), (265, 380)]),
                 ("l", [(165, 430), (200, 425), (235, 420)])]
        for count, (tool, points) in enumerate(steps, 1):
            window.key(tool)
            window.drag(*points)
            window.wait(lambda: window.value("regions.count") == count, tool)
        window.key("g")
        for corner in (95, 165), (160, 150), (190, 210), (150, 260), (100, 235):
            window.click(*window.at(*corner))
            time.sleep(0.4)
        window.key("Return")
        window.wait(lambda: window.value("regions.count") == 5, "polygon")
        window.key("Escape")
        window.click(*window.at(475, 245))
        window.quiet()
        window.save("regions.png")


def traces(work):
    with of_film(work, "--regions", "regions.json", "--view", "baseline_s=2", size=TALL) as window:
        window.frames(80)
        window.key("z")
        window.frames(40)
        window.key("e")
        window.frames(60)
        window.key("percent")
        window.key("Home")  # the whole run
        window.quiet()
        plot = window.widget("traces.plot")
        window.point(plot[0] + plot[2] * 0.6, plot[1] + plot[3] / 2)
        window.frames(5)
        window.save("traces.png")


def pulse(work):
    """Pulse of the simulated vessels, 1.2 beats per second."""
    box = {"regions": [{"name": "artery", "shape": "rectangle", "points": [[91, 140], [103, 220]]}]}
    (work / "artery.json").write_text(json.dumps(box))
    with Viewer(work, ["synthetic:vessels?width=320&height=240&rate=30", "--stage", "speckle:radius=2,output=sfi",
                       "--regions", "artery.json"]) as window:
        window.frames(300)
        window.press("traces.pulse")
        window.wait(lambda: window.value("traces.pulse.hz") is not None, "the pulse")
        window.point()
        window.frames(20)
        strip = window.widget("traces.edge")
        window.save("pulse.png", (0, strip[1], strip[2], SIZE[1] - strip[1] - 30))


def baseline(work):
    """In the second half of a film, more light is averaged around a place, which has the effect of faster flow: K² falls
    to 0.72."""
    import numpy
    frames, height, width, part = 240, 480, 640, 0.2
    run(work, SCENE + "&live=false", "--frames", frames, "--record-raw", work / "change.raw")
    film = numpy.memmap(work / "change.raw", numpy.uint16, "r+", shape=(frames, height, width))
    y, x = numpy.mgrid[:height, :width]
    more = part * numpy.exp(-((x - 170) ** 2 + (y - 260) ** 2) / 2 / 75**2)
    now = film[:].astype(numpy.float32)
    for frame in range(frames // 2, frames):
        film[frame] = ((now[frame] + more * now[(frame + 97) % frames]) / (1 + more)).round()
    film.flush()
    with Viewer(work, ["change.raw", "--loop", "--stage", "speckle:radius=4,output=contrast2", "--stage",
                       "average:frames=24", "--stage", "flow", "--view", "baseline_s=1.5"]) as window:
        window.pause()
        window.go_to(30)
        window.key("y")
        window.pause(False)
        window.wait(lambda: window.value("change.shown") == 1, "the change")
        window.key("4")
        window.point()
        window.quiet()
        window.wait(lambda: 170 < window.value("film.position", 0) < 220, "the second half")
        window.save("baseline.png")


def blend(work):
    with of_film(work, "--view", "layout=blended", "--view", "blend_threshold=0.3") as window:
        window.quiet()
        window.save("blend.png")


def histogram(work):
    with of_film(work) as window:
        window.key("h")
        window.wait(lambda: window.value("histogram.open") == 1, "the histogram")
        window.frames(30)
        window.quiet()
        plot = window.widget("histogram.plot")
        window.save("histogram.png", (plot[0] - 44, plot[1] - 66, plot[2] + 60, plot[3] + 190))


def compare(work):
    with of_film(work, "--view", "panel=false", size=(640, 380)) as window:
        window.frames(10)
        window.pause()
        window.key("ctrl+shift+b")
        window.widget("second.close")
        window.key("greater", "greater", "greater", "space")
        window.quiet()
        window.point(*window.at(150, 160))
        window.wait(lambda: window.value("second.value") is not None, "the value in both films")
        x, y, width, height = window.widget("canvas")
        window.save("compare.png", (x, y, 640 - x, height), (24,))


def palette(work):
    with of_film(work) as window:
        window.frames(10)
        window.point()
        window.key("ctrl+p")
        window.widget("palette.text")
        window.xdotool("type", "--delay", "200", "base")
        window.wait(lambda: (window.value("palette.found") or 0) > 0, "what was found")
        window.quiet()
        text = window.widget("palette.text")
        window.save("palette.png", (text[0] - 14, text[1] - 14, text[2] + 28, 290))


def record(work):
    tall = (1700, 1600)  # the whole panel, next to the picture
    with Viewer(work, [str(film(work)), "--loop", "--stage", "speckle", "--subject", "mouse 7", "--note",
                       "left hemisphere", "--view", "panel_sections=Record,Stages"], tall) as window:
        window.frames(10)
        window.press("record.limits")
        window.wait(lambda: "record.limits" in window.look()["widgets"], "the form")
        window.point()
        window.frames(10)
        form = window.widget("record.limits")
        window.save("record.png", (form[0] - 14, form[1] - 190, 336, 560))


def movie(work):
    film(work)
    run(work, "session.tiff", "--preset", "flow", "--regions", "regions.json", "--frames", 60, "--record-screen",
        "movie.png", "--burn-bar", "--burn-time", "--burn-scale", "--burn-regions")
    shrink(work / "movie.png", "movie.png")


def kymograph(work):
    film(work)
    run(work, "session.tiff", "--preset", "flow", "--regions", "regions.json", "--band", 9, "--kymograph",
        "kymograph.tiff")
    run(work, "kymograph-across.tiff", "--stage", "none", "--snapshot", "kymograph.png")
    shrink(work / "kymograph.png", "kymograph.png", ["-filter", "point", "-resize", "660x360!"])


def report(work):
    film(work)
    run(work, "session.tiff", "--preset", "flow", "--regions", "regions.json", "--subject", "mouse 7",
        "--report", "page.pdf", "--baseline-seconds", 1)
    subprocess.run(["pdftoppm", "-r", "72", "-f", "1", "-l", "1", "-png", "-singlefile", "page.pdf", "page"], cwd=work,
                   check=True)
    shrink(work / "page.png", "report.png")


def night(work):
    subprocess.run(["/usr/bin/python3", str(FOLDER / "night.py"), str(work / "night.hdr")], check=True)
    view = ["--view", "low=0", "--view", "high=1", "--view", "curve=filmic"]
    for name, words in ("night.png", ["--preset", "glare"]), ("night-plain.png", ["--stage", "none"]):
        run(work, "night.hdr", *words, *view, "--snapshot", name)
        shrink(work / name, name, palettes=[256], dither="FloydSteinberg")


def tutorial_star(work):
    with Viewer(work, [str(DATA / "rat_cortex_1280x1024_mono8.tif"), "--preset", "flow"], (1440, 900)) as window:
        window.quiet()
        x, y, width, height = window.widget("color_bar.assumed")
        window.point(x + width / 2, y + height / 2)
        time.sleep(2)
        window.save("tutorial-star.png", (x - 30, 48, 440, 92))


def tutorial_dark(work):
    (work / "places.json").write_text(json.dumps(PLACES))
    with Viewer(work, [str(DATA / "rat_cortex_1280x1024_mono8.tif"), "--stage", "background:black=82", "--stage",
                       "speckle:exposure=5", "--um-per-px", "5", "--regions", "places.json", "--view", "traces=hidden"]) as window:
        window.quiet()
        window.point(500, 430)
        window.frames(2)
        window.save("tutorial-dark.png")


def takes(work):
    """The recording of the tutorial: in its second half the flow is 1.3 times as fast."""
    if not (work / "takes.tiff").exists():
        run(work, TUTORIAL, "--frames", 200, "--record-raw", work / "camera.raw")
        run(work, TUTORIAL + "&exposure=6.5", "--frames", 200, "--record-raw", work / "active.raw")
        (work / "camera.raw.jsonl").unlink()
        with open(work / "camera.raw", "ab") as both:
            both.write((work / "active.raw").read_bytes())
        run(work, RAW, "--um-per-px", 5, "--record-raw", work / "takes.tiff")
    (work / "takes.json").write_text(json.dumps(TAKES))
    return ["takes.tiff", "--stage", "speckle:radius=3,output=contrast2", "--stage", "average:frames=20", "--stage",
            "flow:exposure=5", "--regions", "takes.json", "--baseline-seconds", "4"]


def tutorial_change(work):
    with Viewer(work, [*takes(work), "--view", "layout=split"]) as window:
        window.key("Home", "percent")  # the whole run, in percent
        window.point()
        window.wait(lambda: window.value("film.position", 0) > 350, "the second half")
        window.save("tutorial-change.png")


def tutorial_window(work):
    """The steps of a user from a film to the result."""
    words = takes(work)[:-2]  # without the baseline: the interval is one
    with Viewer(work, [*words, "--view", "panel=false", "--subject", "mouse 7"], (1280, 800)) as window:
        window.wait(lambda: window.value("film.position", 0) > 20, "the first frames")
        window.pause()
        window.quiet()
        window.key("K")
        window.wait(lambda: "traces.whole_film" in window.look()["widgets"], "the button")
        window.save("tutorial-whole.png")
        window.wait(lambda: (window.value("traces.frames") or 0) >= 400, "the whole film")
        window.key("Home")
        plot = window.widget("traces.plot")
        for begin, end in (0.05, 0.35), (0.55, 0.95):
            window.press("traces.interval")
            y = plot[1] + plot[3] * 0.4
            for index, part in enumerate((begin, (begin + end) / 2, end)):
                window.xdotool("mousemove", int(plot[0] + part * plot[2]), int(y), "sleep", 0.4)
                if index == 0:
                    window.xdotool("mousedown", 1, "sleep", 0.4)
            window.xdotool("mouseup", 1, "sleep", 0.4)
        window.press("traces.response")
        window.wait(lambda: "stimulus" in (window.value("response.text") or ""), "the response")
        window.point()
        window.quiet()
        window.save("tutorial-intervals.png")
        window.key("F10")
        time.sleep(1)
        window.save("tutorial-menu.png", (0, 0, 420, 420))
        window.key("Escape", "m", "5", "1", "ctrl+h")
        text = window.widget("palette.text")
        time.sleep(1)
        window.save("tutorial-history.png", (text[0] - 10, text[1] - 10, text[2] + 20, 216))
        window.key("Escape", "ctrl+r")
        form = window.widget("report.write")
        time.sleep(1)
        window.save("tutorial-form.png", (form[0] - 14, form[1] - 203, 520, 238))
        window.key("Escape")


def tutorial_report(work):
    run(work, *takes(work), "--subject", "mouse 7", "--report", "tutorial.pdf")
    subprocess.run(["pdftoppm", "-r", "72", "-f", "1", "-l", "1", "-png", "-singlefile", "tutorial.pdf", "page"], cwd=work,
                   check=True)
    shrink(work / "page.png", "tutorial-report.png", ["-crop", "842x450+0+20", "+repage"])


# Images by the function that makes them.
PICTURES = {
    viewer: ["viewer.png"],
    flow: ["flow.png"],
    chain: ["chain.png"],
    films: ["film.png", "transport.png", "width.png"],
    regions: ["regions.png"],
    traces: ["traces.png"],
    pulse: ["pulse.png"],
    baseline: ["baseline.png"],
    blend: ["blend.png"],
    histogram: ["histogram.png"],
    compare: ["compare.png"],
    palette: ["palette.png"],
    stale: ["stale.png"],
    alarms: ["alarms.png", "messages.png"],
    monitors: ["monitor.png", "monitor-portrait.png"],
    record: ["record.png"],
    movie: ["movie.png"],
    kymograph: ["kymograph.png"],
    report: ["report.png"],
    tutorial_star: ["tutorial-star.png"],
    tutorial_dark: ["tutorial-dark.png"],
    tutorial_change: ["tutorial-change.png"],
    tutorial_window: ["tutorial-whole.png", "tutorial-intervals.png", "tutorial-menu.png", "tutorial-history.png",
                      "tutorial-form.png"],
    tutorial_report: ["tutorial-report.png"],
    night: ["night.png", "night-plain.png"],
    viewer_gpu: ["viewer-gpu.png"],  # only if named: it needs a GPU
}

if __name__ == "__main__":
    names = [name for made in PICTURES.values() for name in made]
    if sys.argv[1:] == ["--list"]:
        print("\n".join(names))
        sys.exit()
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(names):
        sys.exit(__doc__)
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = sys.argv[2:] or [name for name in names if name != "viewer-gpu.png"]
    with tempfile.TemporaryDirectory() as folder:
        for make, made in PICTURES.items():
            if set(made) & set(wanted):
                make(pathlib.Path(folder))
                for name in made:
                    print(f"{name}: {(FOLDER / name).stat().st_size // 1024} KiB", flush=True)
