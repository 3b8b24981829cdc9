"""What Python adds to a call, and what it asks for a frame: build/venv/bin/python python/bench.py [CALLS]

The same chain is called from C++, from Python with out= and from Python without, one call after the other, CALLS times, in ten
parts. What is told is the difference of the shortest calls of each, which the load of the machine can only lengthen; behind it
the least and the most of that difference in one part alone. Where pylsci is installed (in a venv of its own: it asks for NumPy
1.23), its spatial contrast of the same frame is timed in the same run."""
import statistics
import sys
import time

import numpy as np

import specklescope as ss

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
PARTS = 10


def per_call(call, times=1):
    begin = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begin) / times


def row(name, chain, frame):
    out = chain(frame)
    cases = {"C++": lambda: chain._chain.seconds_of(frame, out, 1), "out=": lambda: per_call(lambda: chain(frame, out)),
             "new array": lambda: per_call(lambda: chain(frame))}
    nothing = min(per_call(lambda: None) for _ in range(1000))  # of the clock itself, and a call of nothing
    shortest = {key: [] for key in cases}  # in each part
    for _ in range(PARTS):
        taken = {key: [] for key in cases}
        for _ in range(max(CALLS // PARTS, 1)):
            for key, case in cases.items():
                taken[key].append((case() - (0 if key == "C++" else nothing)) * 1e6)
        for key, values in taken.items():
            shortest[key].append(min(values))

    def added(key):
        parts = [mine - theirs for mine, theirs in zip(shortest[key], shortest["C++"])]
        return f"{min(shortest[key]) - min(shortest['C++']):.1f} ({min(parts):.1f} to {max(parts):.1f})"

    print(f"| {name} | {min(shortest['C++']):.1f} | {added('out=')} | {added('new array')} |")


print("| frame and chain | a call in C++, µs | Python adds, out= given, µs | with a new array, µs |\n|---|---|---|---|")
rng = np.random.default_rng(1)
row("1×1 u16, none", ss.Chain(backend="cpu"), rng.integers(0, 4096, (1, 1), np.uint16))
frame = rng.integers(0, 4096, (1024, 1280), np.uint16)
row("1280×1024 u16, speckle on one thread", ss.Chain("speckle:output=contrast", backend="cpu", threads=1), frame)
row("1280×1024 u16, none", ss.Chain(backend="cpu"), frame)

try:
    import pylsci
except ImportError:
    sys.exit()
theirs = pylsci.Lsci(nbh_s=5)
chain, small = ss.Chain("speckle:output=contrast,radius=2", backend="cpu"), frame[:256, :320].copy()
seconds = per_call(lambda: theirs.spatial_contrast(small), 1)
ours = statistics.median(per_call(lambda: chain(small), 20) for _ in range(PARTS))
print(f"\n320×256, contrast over 5×5: pylsci {seconds * 1e3:.0f} ms, here {ours * 1e6:.0f} µs: {seconds / ours:.0f} times as fast.")
seconds = per_call(lambda: theirs.spatial_contrast(frame), 1)
ours = statistics.median(per_call(lambda: chain(frame), 5) for _ in range(PARTS))
print(f"1280×1024: pylsci {seconds * 1e3:.0f} ms, here {ours * 1e6:.0f} µs: {seconds / ours:.0f} times as fast.")
