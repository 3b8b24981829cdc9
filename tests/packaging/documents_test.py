"""Checks desktop entry, metainfo, man page, icons and udev rule with the usual tools: documents_test.py PREFIX WHAT
[FOLDER]"""
import glob
import os
import subprocess
import sys

from support import expect, need

prefix, what = sys.argv[1:3]


def quiet(words):
    """Fails on an error status, and on any output."""
    done = subprocess.run(words, capture_output=True, text=True)
    expect(done.returncode == 0 and not done.stderr.strip(), f"{words}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def desktop():
    need("desktop-file-validate")
    expect(quiet(["desktop-file-validate", f"{prefix}/share/applications/specklescope.desktop"]) == "", "no hints")


def metainfo():
    need("appstreamcli")
    quiet(["appstreamcli", "validate", "--no-net", *glob.glob(f"{prefix}/share/metainfo/*.xml")])


def man():
    need("man")
    page = f"{prefix}/share/man/man1/specklescope.1.gz"
    quiet(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page])
    done = subprocess.run(["man", "-l", page], env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"},
                          capture_output=True, text=True, check=True)
    for words in ["NAME", "specklescope - ", "--record-raw FILE", "speckle", "radius=3", "vessels|uniform|static",
                  "flow-slow", "EXIT STATUS", "specklescope synthetic:vessels"]:
        expect(words in done.stdout, words)


def icons():
    need("rsvg-convert")
    from PIL import Image
    import io
    import numpy
    folder = sys.argv[3]
    for size in (16, 32, 48, 64, 128, 256):
        drawn = subprocess.run(["rsvg-convert", "--width", str(size), "--height", str(size), f"{folder}/specklescope.svg"],
                               capture_output=True, check=True).stdout
        drawn = numpy.asarray(Image.open(io.BytesIO(drawn)).convert("RGBA"), dtype=float)
        kept = numpy.asarray(Image.open(f"{prefix}/share/icons/hicolor/{size}x{size}/apps/specklescope.png").convert("RGBA"),
                             dtype=float)
        expect(kept.shape == (size, size, 4), size)
        # Another version of the renderer may round edges differently.
        expect(abs(kept - drawn).mean() < 2, f"{size}: draw them anew with packaging/icons/draw")


def udev():
    import fnmatch
    import re
    path, = glob.glob(f"{prefix}/lib/udev/rules.d/*.rules")
    expect(os.path.basename(path) < "73-seat-late.rules", "tags after this file are not seen")
    rules = [line for line in open(path) if line.strip() and line[0] != "#"]
    expect(len(rules) == 1, rules)
    for part in rules[0].strip().split(", "):
        expect(re.fullmatch(r'[A-Z]+(\{\w+\})?(==|!=|=|\+=)"[^"]*"', part), part)
    pattern = re.search(r'ID_USB_INTERFACES\}=="([^"]*)"', rules[0])[1]
    for interfaces, camera in ((":ef0500:ef0501:ef0502:", True), (":0e0100:0e0200:", False), (":ff0500:", False)):
        expect(fnmatch.fnmatchcase(interfaces, pattern) == camera, interfaces)


{"udev": udev, "desktop": desktop, "metainfo": metainfo, "man": man, "icons": icons}[what]()
