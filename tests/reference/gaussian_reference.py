#!/usr/bin/env python3
"""Writes gaussian_reference.hpp: a small image blurred by scipy.ndimage.gaussian_filter in float64.

Run: /usr/bin/python3 gaussian_reference.py > gaussian_reference.hpp
"""
import numpy as np
from scipy.ndimage import gaussian_filter

WIDTH, HEIGHT = 17, 13
MODES = {"replicate": "nearest", "reflect": "reflect", "wrap": "wrap", "zero": "constant"}
POINTS = ((0, 0), (16, 0), (1, 11), (8, 6), (16, 12))


def image():
    """The generator is spelled out, so that C++ makes the same pixels: a 32-bit linear congruence, upper 16 bits."""
    state, pixels = 12345, []
    for _ in range(WIDTH * HEIGHT):
        state = (1664525 * state + 1013904223) % 2**32
        pixels.append(state >> 16)
    return np.array(pixels, dtype=np.float64).reshape(HEIGHT, WIDTH)


print("// Written by gaussian_reference.py; not for editing.\n#pragma once\n")
print("#include <array>\n#include <string_view>\n")
print("namespace specklescope::test {\n")
print("/// radius 0: scipy's own, truncate = 4.")
print("struct GaussianReference {\n    double sigma;\n    int radius;\n    std::string_view border;\n    int x, y;\n    double value;\n};\n")
rows = []
pixels = image()
for sigma, radius in ((0.3, 0), (0.7, 0), (1, 0), (2, 3), (3.3, 0), (10, 0), (8, 40)):
    for border, mode in MODES.items():
        truncate = 4.0 if radius == 0 else radius / sigma
        blurred = gaussian_filter(pixels, sigma, mode=mode, truncate=truncate)
        for x, y in POINTS:
            rows.append(f'    {{{sigma}, {radius}, "{border}", {x}, {y}, {blurred[y, x]:.17g}}},')
print(f"inline constexpr std::array<GaussianReference, {len(rows)}> kGaussianReference = {{{{")
print("\n".join(rows))
print("}};\n\n} // namespace specklescope::test")
