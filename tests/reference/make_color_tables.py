#!/usr/bin/python3
"""Writes pipeline/color_tables.inc: the 256 colours of each map as matplotlib shows them, 6 hex digits a colour.

Colour data: viridis, inferno, magma by Stéfan van der Walt and Nathaniel Smith (CC0); turbo by Anton Mikhailov,
Google (Apache-2.0); RdBu by Cynthia Brewer (Apache-2.0), reversed; jet is piecewise linear. Run by hand; the build reads only the file it wrote.
usage: make_color_tables.py > pipeline/color_tables.inc
"""
import matplotlib
import numpy as np

print("// Written by tests/reference/make_color_tables.py: 256 colours a map, low to high, RRGGBB each.")
print("// viridis, inferno, magma: S. van der Walt and N. Smith (CC0); turbo: A. Mikhailov (Apache-2.0);")
print("// jet: piecewise linear; RdBu: C. Brewer (Apache-2.0), from blue to red.")
for name in ("viridis", "inferno", "magma", "turbo", "jet", "RdBu_r"):
    rgb = matplotlib.colormaps[name](np.arange(256), bytes=True)[:, :3]
    digits = ["%02x%02x%02x" % tuple(color) for color in rgb]
    print(f"constexpr std::string_view k{name.capitalize().replace('_r', '')} =")
    for i in range(0, 256, 16):
        print('    "' + "".join(digits[i:i + 16]) + '"' + (";" if i == 240 else ""))
