#!/usr/bin/env python3
"""Checks OME-TIFF recordings with other programs: ome_stack.py PROGRAM [READERS]

A film with uneven times and exposures in turn, written by tifffile, is recorded raw and as results of three stages. tifffile,
and the program without its own description, read the pixels, times and exposures again. READERS is a folder made by
`./dev nightly test`: its packages validate the XML with the schema, and read the files with Bio-Formats.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import tifffile

PROGRAM = Path(sys.argv[1]).resolve()
READERS = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
NS = {"o": "http://www.openmicroscopy.org/Schemas/OME/2016-06"}
FRAMES = 25
CHAIN = ["--stage", "downsample:factor=2", "--stage", "speckle:output=contrast2", "--stage", "flow"]


def run(*arguments):
    done = subprocess.run([PROGRAM, "run", *arguments, "--backend", "cpu"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{arguments}: {done.stderr}"


def read_again(name):
    """Seconds and exposures of the frames, as the program reads them."""
    run(name, "--stage", "none", "--record-raw", name + ".raw")
    with open(name + ".raw.jsonl") as file:
        rows = [json.loads(line) for line in file][1:]
    return [1e-9 * row["capture_ns"] for row in rows], [row["exposure_ms"] for row in rows]


def near(found, expected, most):
    return len(found) == len(expected) and np.abs(np.subtract(found, expected)).max() <= most


def parts(xml):
    image = ElementTree.fromstring(xml).find("o:Image", NS)
    pixels = image.find("o:Pixels", NS)
    return image, pixels, pixels.findall("o:Plane", NS)


def check_planes(name, seconds, exposures_ms):
    with tifffile.TiffFile(name) as tiff:
        assert tiff.is_ome and len(tiff.series) == 1 and tiff.series[0].axes == "TYX", (name, tiff.series)
        assert len(tiff.pages) == len(seconds) == tiff.series[0].shape[0]
        _, pixels, planes = parts(tiff.ome_metadata)
        pictures = tiff.asarray()
    assert [int(p.get("TheT")) for p in planes] == list(range(len(seconds)))
    assert near([float(p.get("DeltaT")) for p in planes], np.subtract(seconds, seconds[0]), 1e-9), name
    assert near([1e3 * float(p.get("ExposureTime")) for p in planes], exposures_ms, 1e-6), name
    return pixels, pictures


def check_uneven(seed):
    random = np.random.default_rng(seed)
    film = random.integers(0, 4096, (FRAMES, 60, 80), np.uint16)
    film[:, 0, 0] = 4095
    seconds = np.cumsum(random.uniform(0.005, 0.04, FRAMES)).round(6)
    exposures = np.resize([0.5, 2, 8], FRAMES)
    planes = {"DeltaT": seconds.tolist(), "ExposureTime": (exposures / 1e3).tolist()}
    tifffile.imwrite("film.ome.tif", film, ome=True, photometric="minisblack",
                     metadata={"axes": "TYX", "Plane": planes, "SignificantBits": 12})
    run("film.ome.tif", *CHAIN, "--um-per-px", "5", "--record-raw", "raw.ome.tiff", "--record", "flow.ome.tiff",
        "--record", "flow.tiff")
    pixels, pictures = check_planes("raw.ome.tiff", seconds, exposures)
    assert (pictures == film).all() and pixels.get("SignificantBits") == "12" and pixels.get("Type") == "uint16"
    assert pixels.get("TimeIncrement") is None, "the frames are uneven"
    pixels, pictures = check_planes("flow.ome.tiff", seconds, exposures)
    assert np.array_equal(pictures, tifffile.imread("flow.tiff"), equal_nan=True) and pixels.get("Type") == "float"
    assert float(pixels.get("PhysicalSizeX")) == float(pixels.get("PhysicalSizeY")) == 5
    assert pixels.find("o:Channel", NS).get("Name").startswith("speckle flow index"), "the quantity"

    replayed, exposed = read_again("film.ome.tif")
    assert near(np.subtract(replayed, replayed[0]), seconds - seconds[0], 1e-6) and near(exposed, exposures, 1e-6)
    assert read_again("raw.ome.tiff") == (replayed, exposed), "by our description"
    xml = tifffile.TiffFile("raw.ome.tiff").ome_metadata
    xml = re.sub("<StructuredAnnotations>.*</StructuredAnnotations>", "", xml)
    tifffile.imwrite("others.ome.tif", film, photometric="minisblack", description=xml.encode(), metadata=None)
    times_again, exposed_again = read_again("others.ome.tif")
    assert near(np.subtract(times_again, times_again[0]), np.subtract(replayed, replayed[0]), 1e-6), "by OME-XML"
    assert near(exposed_again, exposed, 1e-6), "by OME-XML"


def check_even():
    """A live source: its name and date, and one interval."""
    run("synthetic:uniform?width=80&height=60&rate=50&speed=0&exposure=3", "--frames", "12", "--stage", "none", "--record-raw",
        "live.ome.tiff")
    pixels, _ = check_planes("live.ome.tiff", np.arange(12) / 50, [3] * 12)
    assert abs(float(pixels.get("TimeIncrement")) - 0.02) < 1e-9
    xml = tifffile.TiffFile("live.ome.tiff").ome_metadata
    said = json.loads(xml[xml.index("CDATA[") + 6 : xml.index("]]>")])
    image, _, _ = parts(xml)
    # The text begins at the first frame, and so does the recording: a second may pass between them.
    date, started = (np.datetime64(text.rstrip("Z")) for text in (image.findtext("o:AcquisitionDate", namespaces=NS),
                                                                 said["started"]))
    assert np.timedelta64(0, "s") <= started - date <= np.timedelta64(60, "s"), (date, started)
    detector = ElementTree.fromstring(xml).find("o:Instrument/o:Detector", NS)
    assert detector.get("Model") == said["source_name"] and said["written"] == 12 and said["finished"]


def check_others(jar):
    validate = "import sys, ome_types; ome_types.validate_xml(sys.stdin.read())"
    for name in "raw.ome.tiff", "flow.ome.tiff", "live.ome.tiff":
        with tifffile.TiffFile(name) as tiff:
            xml = tiff.ome_metadata
            film = tiff.asarray()
        subprocess.run([READERS / "bin/python", "-c", validate], input=xml, text=True, check=True, timeout=120)
        java = ["java", "-cp", jar]
        seen = subprocess.run([*java, "loci.formats.tools.ImageInfo", "-nopix", "-no-upgrade", "-omexml-only", name],
                              capture_output=True, text=True, timeout=300, check=True).stdout
        image, pixels, planes = parts(seen[seen.index("<OME"):])
        ours_image, ours, our_planes = parts(xml)
        for key in "SizeX", "SizeY", "SizeT", "Type", "PhysicalSizeX", "TimeIncrement":
            mine, theirs = ours.get(key), pixels.get(key)
            assert mine == theirs or float(mine) == float(theirs), (name, key, mine, theirs)
        date = "o:AcquisitionDate"
        assert (image.findtext(date, namespaces=NS) or "")[:19] == (ours_image.findtext(date, namespaces=NS) or "")[:19]
        for key in "DeltaT", "ExposureTime":
            assert [float(p.get(key)) for p in planes] == [float(p.get(key)) for p in our_planes], (name, key)
        subprocess.run([*java, "loci.formats.tools.ImageConverter", "-no-upgrade", name, name + ".copy.tif"],
                       capture_output=True, timeout=300, check=True)
        copy = tifffile.imread(name + ".copy.tif").reshape(film.shape)
        assert np.array_equal(copy, film, equal_nan=film.dtype == np.float32), name


jars = list(READERS.rglob("bioformats_package.jar")) if READERS else []
if READERS and not (jars and shutil.which("java")):
    print("ome_stack: Skipped\nnightly: Bio-Formats or java is not installed\n")
    sys.exit(77)
seed = int.from_bytes(os.urandom(4), "little")
print("seed", seed)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_uneven(seed)
    check_even()
    if READERS:
        check_others(jars[0])
    os.chdir("/")
