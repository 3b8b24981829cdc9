#!/usr/bin/python3
"""Reads files of a killed process with programs that share no code with the recorders, and prints as JSON the numbers in
the frames: 16 blocks of 16 pixels in the upper left, bright or dark, lowest bit first.

usage: read_killed.py WIDTH HEIGHT FILE…    (.tiff: tifffile, .raw: numpy, .h5: h5py, .mkv: OpenCV)
"""
import json
import os
import sys

import cv2
import h5py
import numpy
import tifffile

width, height = int(sys.argv[1]), int(sys.argv[2])


def number(picture, full):
    blocks = picture[8, 8 : 8 + 16 * 16 : 16].astype(float)
    if blocks.ndim == 2:
        blocks = blocks.mean(axis=1)
    return int(sum(1 << bit for bit in range(16) if blocks[bit] > full / 2))


def pictures(path):
    if path.endswith(".tiff"):
        with tifffile.TiffFile(path) as tiff:
            for page in tiff.pages:
                yield page.asarray(), 65535
            # The OME-XML counts the frames about once a second.
            assert tiff.is_ome and tiff.series[0].asarray().shape[-2:] == (height, width), "no OME-TIFF"
    elif path.endswith(".raw"):
        whole = os.path.getsize(path) // (2 * width * height)
        yield from ((p, 65535) for p in numpy.fromfile(path, "<u2", whole * width * height).reshape(-1, height, width))
    elif path.endswith(".h5"):
        with h5py.File(path, "r") as file:
            times = file["raw/timestamps"]
            yield from ((p, 65535) for p in file["raw/frames"][: len(times)])
    else:
        video = cv2.VideoCapture(path)
        if not video.isOpened():
            raise ValueError("not a video")
        while True:
            good, picture = video.read()
            if not good:
                return
            yield picture, 255


found = {}
for path in sys.argv[3:]:
    try:
        found[os.path.basename(path)] = [number(p, full) for p, full in pictures(path)]
    except Exception as error:  # any error of a reader for an invalid file
        found[os.path.basename(path)] = str(error)
print(json.dumps(found))
