#!/usr/bin/env python3
"""Writes equalize_reference.hpp: a small picture equalised by OpenCV and scikit-image.

grey, minmax  cv2.equalizeHist: the same definition with 256 bins, (r - r_min)/(r_max - r_min)·255, but in float32.
grey, maxabs  skimage.exposure.equalize_hist: r/r_max as float64; times 255 and rounded here. It interpolates between the
              centres of the bins, which are the levels themselves for u8; for f32 it moves a value by up to a bin's count.
colour        V of skimage.color.rgb2hsv equalised as grey is, then hsv2rgb: float64, rounded here.

Run: /usr/bin/python3 equalize_reference.py > equalize_reference.hpp
"""
import cv2
import numpy as np
from skimage.color import hsv2rgb, rgb2hsv
from skimage.exposure import equalize_hist

WIDTH, HEIGHT = 17, 13


def image():
    """The generator is spelled out, so that C++ makes the same pixels: a 32-bit linear congruence, upper 8 bits squared."""
    state, pixels = 12345, []
    for _ in range(WIDTH * HEIGHT * 3):
        state = (1664525 * state + 1013904223) % 2**32
        pixels.append((state >> 24) * (state >> 24) // 256)
    return np.array(pixels, dtype=np.uint8).reshape(HEIGHT, WIDTH, 3)


def colour(rgb, levels):
    hsv = rgb2hsv(rgb)
    hsv[..., 2] = levels / 255
    return np.rint(np.round(hsv2rgb(hsv) * 255, 6)).astype(int)  # ties are ties again, to even


def write(name, type_name, values):
    rows = [", ".join(f"{v}" for v in row) for row in np.asarray(values).reshape(HEIGHT, -1)]
    size = np.asarray(values).size
    print(f"inline constexpr std::array<{type_name}, {size}> {name} = {{\n    " + ",\n    ".join(rows) + "};\n")


rgb = image()
grey = rgb[..., 0].copy()
v = rgb.max(axis=2)
maxabs = lambda levels: np.rint(equalize_hist(levels, nbins=256) * 255).astype(int)

print("// Written by equalize_reference.py; not for editing.\n#pragma once\n\n#include <array>\n#include <cstdint>\n")
print("namespace specklescope::test {\n\n// clang-format off")
print(f"inline constexpr int kEqualizeWidth = {WIDTH};\ninline constexpr int kEqualizeHeight = {HEIGHT};\n")
write("kGreyMinmax", "std::uint8_t", cv2.equalizeHist(grey))
write("kGreyMaxabs", "std::uint8_t", maxabs(grey))
write("kColourMinmax", "std::uint8_t", colour(rgb, cv2.equalizeHist(v)))
write("kColourMaxabs", "std::uint8_t", colour(rgb, maxabs(v)))
real = (grey.astype(np.float32) / np.float32(256)) ** 2
write("kRealMaxabs64", "double", [f"{x:.17g}" for x in equalize_hist(real, nbins=64).ravel()])
print("// clang-format on\n} // namespace specklescope::test")
