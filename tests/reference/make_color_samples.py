#!/usr/bin/python3
"""Prints every 15th colour of matplotlib's maps as C++ rows: the reference values in tests/pipeline/mapping_test.cpp."""
import matplotlib
import numpy as np

for name in ("viridis", "inferno", "magma", "turbo", "jet"):
    # the float colours, rounded here: the tables come from matplotlib's own bytes
    rgb = np.floor(matplotlib.colormaps[name](np.arange(0, 256, 15) / 255.0)[:, :3] * 255 + 0.5).astype(int)
    print("    {ColorMap::%s, {{" % name + ", ".join("{%d, %d, %d}" % tuple(c) for c in rgb) + "}}},")
