#!/usr/bin/env python3
"""Writes speckle_reference.hpp: K² of a small image by scipy.ndimage.uniform_filter, a second opinion beside oracle.hpp.

uniform_filter runs on integer-valued doubles and its means are turned back into exact integer sums by rounding, so
that the values are exact up to the last division. Run: /usr/bin/python3 speckle_reference.py > speckle_reference.hpp
"""
import numpy as np
from scipy.ndimage import uniform_filter

WIDTH, HEIGHT = 17, 13
MODES = {"replicate": "nearest", "reflect": "reflect", "zero": "constant"}


def image():
    """The generator is spelled out, so that C++ makes the same pixels: a 32-bit linear congruence, upper 16 bits."""
    state, pixels = 12345, []
    for _ in range(WIDTH * HEIGHT):
        state = (1664525 * state + 1013904223) % 2**32
        pixels.append(state >> 16)
    return np.array(pixels, dtype=np.float64).reshape(HEIGHT, WIDTH)


def contrast2(pixels, radius, mode):
    side = 2 * radius + 1
    n = side * side
    total = np.rint(uniform_filter(pixels, side, mode=mode) * n)
    squares = np.rint(uniform_filter(pixels * pixels, side, mode=mode) * n)
    return n * (n * squares - total**2) / ((n - 1) * total**2)


print("// Written by speckle_reference.py; not for editing.\n#pragma once\n")
print("#include <array>\n#include <string_view>\n")
print("namespace specklescope::test {\n")
print(f"inline constexpr int kReferenceWidth = {WIDTH};\ninline constexpr int kReferenceHeight = {HEIGHT};\n")
print("struct SpeckleReference {\n    int radius;\n    std::string_view border;\n    int x, y;\n    double contrast2;\n};\n")
rows = []
pixels = image()
for radius in (1, 2, 3, 7, 12):
    for border, mode in MODES.items():
        k2 = contrast2(pixels, radius, mode)
        for x, y in ((0, 0), (16, 0), (1, 11), (8, 6), (16, 12)):
            rows.append(f'    {{{radius}, "{border}", {x}, {y}, {k2[y, x]:.17g}}},')
print(f"inline constexpr std::array<SpeckleReference, {len(rows)}> kSpeckleReference = {{{{")
print("\n".join(rows))
print("}};\n\n} // namespace specklescope::test")
