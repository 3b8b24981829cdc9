#!/usr/bin/python3
"""Opens a recorded stack with tifffile and prints its contents as JSON: the independent reader of the recorder's tests.

usage: check_recording.py FILE.tiff EXPECTED.bin    (all pixels of all pages in sequence)
"""
import json
import sys

import numpy
import tifffile

path, expected = sys.argv[1:]


def described(page):
    """JSON of a page; in the first page it follows the axes for ImageJ."""
    return json.loads(page.description[page.description.index("{") :])


with tifffile.TiffFile(path) as tiff:
    series = tiff.series[0]
    stack = series.asarray()
    report = {
        "series": len(tiff.series),
        "big": tiff.is_bigtiff,
        # ImageJ assumes pixels without directories between them if its version is stated and images are
        # counted.
        "imagej_skips_directories": tiff.pages[0].description.startswith("ImageJ=")
        and tiff.pages[0].description[7] != "\n",
        "contiguous_pages": all(page.is_contiguous for page in tiff.pages),
        "shape": list(stack.shape),
        "dtype": str(stack.dtype),
        "equal": stack.tobytes() == open(expected, "rb").read(),
        "axes": series.axes,
        "imagej": {key: value for key, value in (tiff.imagej_metadata or {}).items() if not key.startswith("{")},
        "first": described(tiff.pages[0]),
        "sequences": [described(tiff.pages[0])["frame"]["sequence"]]
        + [described(page.aspage())["sequence"] for page in tiff.pages[1:]],
    }
print(json.dumps(report))
