#!/usr/bin/env python3
"""Writes clahe_reference.hpp: small u8 images equalised by OpenCV's createCLAHE, byte for byte.

Run: /usr/bin/python3 clahe_reference.py > clahe_reference.hpp
"""
import cv2
import numpy as np

# width, height, tiles, clip: divided into equal tiles, not divided, divided along one axis only, more tiles than pixels
CASES = [(24, 16, 4, 2.0), (24, 16, 4, 0.0), (29, 23, 4, 3.0), (31, 17, 8, 40.0), (24, 17, 4, 1.0), (5, 3, 8, 2.0),
         (33, 21, 1, 2.5), (1, 9, 2, 2.0)]


def image(width, height):
    """The generator is spelled out, so that C++ makes the same pixels: a slope and 6 bits of a linear congruence."""
    state, pixels = 12345, []
    for y in range(height):
        for x in range(width):
            state = (1664525 * state + 1013904223) % 2**32
            pixels.append(min(255, 4 * x + 3 * y + (state >> 26)))
    return np.array(pixels, dtype=np.uint8).reshape(height, width)


print("// Written by clahe_reference.py; not for editing.\n#pragma once\n")
print("#include <array>\n#include <string_view>\n")
print("namespace specklescope::test {\n")
print("struct ClaheReference {\n    int width, height, tiles;\n    double clip;")
print("    std::string_view pixels; ///< two hexadecimal digits each\n};\n")
print(f"inline constexpr std::array<ClaheReference, {len(CASES)}> kClaheReference = {{{{")
for width, height, tiles, clip in CASES:
    cv2.setNumThreads(1)
    result = cv2.createCLAHE(clip, (tiles, tiles)).apply(image(width, height))
    digits = result.tobytes().hex()
    print(f"    {{{width}, {height}, {tiles}, {clip},")
    lines = [digits[i:i + 96] for i in range(0, len(digits), 96)]
    print("\n".join(f'     "{line}"' for line in lines) + "},")
print("}};\n\n} // namespace specklescope::test")
