#!/usr/bin/env python3
"""Writes convolve_reference.hpp: convolutions of a small image by scipy.ndimage.convolve, and the glare of CIE 146:2002.

Every convolution is also made from numpy.pad and scipy.signal.convolve, and the two must agree. Light in a pixel is
integrated by scipy.integrate. Run: /usr/bin/python3 convolve_reference.py > convolve_reference.hpp
"""
import numpy as np
from scipy import integrate, ndimage, signal

WIDTH, HEIGHT = 17, 13
MODES = {"replicate": ("nearest", "edge"), "reflect": ("reflect", "symmetric"), "wrap": ("wrap", "wrap"),
         "zero": ("constant", "constant")}
KERNELS = ((3, 3), (4, 6), (5, 2), (1, 8), (40, 31))


def numbers(count, state):
    """The generator is spelled out, so that C++ makes the same numbers: a 32-bit linear congruence, upper 16 bits."""
    values = []
    for _ in range(count):
        state = (1664525 * state + 1013904223) % 2**32
        values.append(state >> 16)
    return np.array(values, dtype=np.float64)


def convolve(image, kernel, border):
    scipy_mode, pad_mode = MODES[border]
    first = ndimage.convolve(image, kernel, mode=scipy_mode)
    after = [side // 2 for side in kernel.shape]
    margins = [(side - 1 - a, a) for side, a in zip(kernel.shape, after)]
    second = signal.convolve(np.pad(image, margins, mode=pad_mode), kernel, mode="valid", method="direct")
    assert np.allclose(first, second, rtol=1e-12), (kernel.shape, border)
    return first


def veil(theta, age, pigment):
    """1/sr; CIE 146:2002, general disability-glare equation, held below 0.1 degrees."""
    theta = max(theta, 0.1)
    return 10 / theta**3 + (5 / theta**2 + 0.1 * pigment / theta) * (1 + (age / 62.5) ** 4) + 0.0025 * pigment


def light(x, y, degrees, age, pigment):
    """Fraction of a source's light within the pixel (x, y) pixels away, in an image of equal angles per pixel."""

    def density(v, u):
        radius = np.hypot(u, v) * np.radians(degrees)
        return veil(np.degrees(radius), age, pigment) * np.sin(radius) / radius * np.radians(degrees) ** 2

    return integrate.dblquad(density, x - 0.5, x + 0.5, y - 0.5, y + 0.5, epsabs=1e-12, epsrel=1e-8)[0]


def covered(x, y, radius):
    """Area of the pixel (x, y) within a disk around the origin."""

    def height(u):
        half = np.sqrt(max(0.0, radius * radius - u * u))
        return max(0.0, min(half, y + 0.5) - max(-half, y - 0.5))

    u = np.linspace(x - 0.5, x + 0.5, 200001)
    return float(np.mean([height(v) for v in (u[1:] + u[:-1]) / 2]))


print("// Written by convolve_reference.py; not for editing.\n#pragma once\n")
print("#include <array>\n#include <string_view>\n")
print("namespace specklescope::test {\n")
print(f"inline constexpr int kReferenceWidth = {WIDTH};\ninline constexpr int kReferenceHeight = {HEIGHT};\n")

image = numbers(WIDTH * HEIGHT, 12345).reshape(HEIGHT, WIDTH)
rows = []
for width, height in KERNELS:
    kernel = numbers(width * height, 777).reshape(height, width)
    kernel /= kernel.sum()
    for border in MODES:
        result = convolve(image, kernel, border)
        for x, y in ((0, 0), (16, 0), (1, 11), (8, 6), (16, 12)):
            rows.append(f'    {{{width}, {height}, "{border}", {x}, {y}, {result[y, x]:.17g}}},')
print("struct ConvolveReference {\n    int width, height;\n    std::string_view border;\n    int x, y;\n    double value;\n};\n")
print(f"inline constexpr std::array<ConvolveReference, {len(rows)}> kConvolveReference = {{{{")
print("\n".join(rows))
print("}};\n")

rows = []
for age, pigment in ((20, 0.5), (70, 0.0), (90, 1.2)):
    for theta in (0.1, 0.5, 1, 5, 30, 99):
        rows.append(f"    {{{age}, {pigment}, {theta}, {veil(theta, age, pigment):.17g}}},")
print("struct VeilReference {\n    double age, pigment, theta, value;\n};\n")
print(f"inline constexpr std::array<VeilReference, {len(rows)}> kVeilReference = {{{{")
print("\n".join(rows))
print("}};\n")

rows = []
for age, pigment, degrees in ((35, 0.5, 0.02), (70, 1.0, 0.3), (60, 0.0, 1.5)):
    for x, y in ((1, 0), (1, 1), (0, 2), (5, 3), (12, 0), (0, 20), (33, 33)):
        rows.append(f"    {{{age}, {pigment}, {degrees}, {x}, {y}, {light(x, y, degrees, age, pigment):.10g}}},")
print("struct GlareReference {\n    double age, pigment, degrees;\n    int x, y;\n    double value;\n};\n")
print(f"inline constexpr std::array<GlareReference, {len(rows)}> kGlareReference = {{{{")
print("\n".join(rows))
print("}};\n")

rows = []
for radius in (0.7, 2.3, 10):
    for x, y in ((0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (7, 7), (10, 0)):
        rows.append(f"    {{{radius}, {x}, {y}, {covered(x, y, radius):.8g}}},")
print("struct DiskReference {\n    double radius;\n    int x, y;\n    double value;\n};\n")
print(f"inline constexpr std::array<DiskReference, {len(rows)}> kDiskReference = {{{{")
print("\n".join(rows))
print("}};\n\n} // namespace specklescope::test")
