#!/usr/bin/python3
"""Writes tests/reference/color_reference.hpp: all colours of matplotlib's maps, from its table of real numbers.

pipeline/color_tables.inc holds matplotlib's own bytes (make_color_tables.py); here the real numbers are taken and cut
to bytes independently of it. usage: make_color_samples.py > tests/reference/color_reference.hpp
"""
import matplotlib
import numpy as np

print(f"// Written by tests/reference/make_color_samples.py with matplotlib {matplotlib.__version__}: RRGGBB, low to high.")
print("#pragma once\n\n#include <string_view>\n\nnamespace specklescope {\n")
for name in ("viridis", "inferno", "magma", "turbo", "jet", "RdBu_r"):
    rgb = np.floor(matplotlib.colormaps[name](np.arange(256) / 255.0)[:, :3] * 255).astype(int)
    digits = ["%02x%02x%02x" % tuple(color) for color in rgb]
    print(f"inline constexpr std::string_view k{name.capitalize().replace('_r', '')}Reference =")
    for i in range(0, 256, 16):
        print('    "' + "".join(digits[i:i + 16]) + '"' + (";" if i == 240 else ""))
print("\n} // namespace specklescope")
