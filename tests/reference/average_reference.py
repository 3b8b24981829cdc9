#!/usr/bin/env python3
"""Writes average_reference.hpp: means over frames that hold undefined and infinite samples, by numpy.

window    np.nanmean of the last 5 samples: NaN is left out, an infinity makes the mean infinite, both of them NaN.
fading    the mean of all samples with weights (3/4)^age, NaN left out (np.average over the others); an infinity makes it
          infinite while it is one of the last 4 samples, +inf and -inf together NaN, and is left out after that.

Run: /usr/bin/python3 average_reference.py > average_reference.hpp
"""
import warnings

import numpy as np

WINDOW, FADING, FRAMES = 5, 4, 24
NAN, INF = np.nan, np.inf
PLACES = [
    {},
    {0: NAN, 1: NAN},
    {t: NAN for t in range(FRAMES)},
    {3: INF, 9: -INF, 10: INF, 20: NAN},
    {t: NAN for t in range(4, 13)},
    {0: -INF, 6: NAN, 7: INF, 8: NAN, 9: NAN, 10: NAN, 11: NAN, 12: NAN, 13: NAN},
    {t: NAN for t in range(0, FRAMES, 2)},
    {23: INF},
    {t: INF for t in range(2, 7)},
]


def samples():
    random = np.random.default_rng(12)
    table = random.uniform(-3, 3, (len(PLACES), FRAMES)).astype(np.float32).astype(float)
    table[7] = (1e30 * table[7]).astype(np.float32)
    for row, places in zip(table, PLACES):
        for t, value in places.items():
            row[t] = value
    return table


def window(row, t):
    return np.nanmean(row[max(0, t + 1 - WINDOW):t + 1])


def fading(row, t):
    recent = row[max(0, t + 1 - FADING):t + 1]
    infinite = recent[np.isinf(recent)]
    if infinite.size:
        return infinite.sum()
    seen = row[:t + 1]
    weights = (1 - 1 / FADING) ** np.arange(t, -1, -1)
    finite = np.isfinite(seen)
    return np.average(seen[finite], weights=weights[finite]) if finite.any() else NAN


def text(value):
    return "kNan" if np.isnan(value) else "kInf" if value == INF else "-kInf" if value == -INF else f"{value:.17g}"


def write(name, table):
    rows = ["{" + ", ".join(text(v) for v in row) + "}" for row in table]
    print(f"inline constexpr double {name}[{len(table)}][{FRAMES}] = {{\n    " + ",\n    ".join(rows) + "};\n")


warnings.simplefilter("ignore")  # of means over nothing, and of infinities that meet
with np.errstate(all="ignore"):
    table = samples()
    print("// Written by average_reference.py; not for editing.\n#pragma once\n\n#include <limits>\n")
    print("namespace specklescope::test {\n\n// clang-format off")
    print(f"inline constexpr int kAverageWindowFrames = {WINDOW}, kAverageFadingFrames = {FADING};")
    print("inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();")
    print("inline constexpr double kInf = std::numeric_limits<double>::infinity();\n")
    write("kAverageSamples", table)
    write("kAverageWindow", [[window(row, t) for t in range(FRAMES)] for row in table])
    write("kAverageFading", [[fading(row, t) for t in range(FRAMES)] for row in table])
    print("// clang-format on\n} // namespace specklescope::test")
