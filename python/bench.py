"""What Python adds to a call, and what it asks for a frame: build/venv/bin/python python/bench.py [ROUNDS]

The same chain is called from C++ in a loop and from Python, in turn; medians of the rounds. Where pylsci is installed
(in a venv of its own: it asks for NumPy 1.23), its spatial contrast of the same frame is timed in the same run."""
import statistics
import sys
import time

import numpy as np

import specklescope as ss

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 50


def per_call(call, times):
    begin = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begin) / times


def row(name, chain, frame, times):
    out = chain(frame)
    cases = {"C++": lambda: chain._chain.seconds_of(frame, out, times), "out=": lambda: per_call(lambda: chain(frame, out), times),
             "new array": lambda: per_call(lambda: chain(frame), times)}
    taken = {key: [] for key in cases}
    for _ in range(ROUNDS):
        for key, case in cases.items():
            taken[key].append(case() * 1e6)
    median = {key: statistics.median(values) for key, values in taken.items()}
    print(f"| {name} | {median['C++']:.1f} | {median['out='] - median['C++']:.1f} | {median['new array'] - median['C++']:.1f} |")


print("| frame and chain | a call in C++, µs | Python adds, out= given, µs | with a new array, µs |\n|---|---|---|---|")
rng = np.random.default_rng(1)
row("1×1 u16, none", ss.Chain(backend="cpu"), rng.integers(0, 4096, (1, 1), np.uint16), 5000)
frame = rng.integers(0, 4096, (1024, 1280), np.uint16)
row("1280×1024 u16, speckle", ss.Chain("speckle:output=contrast", backend="cpu"), frame, 5)
row("1280×1024 u16, none", ss.Chain(backend="cpu"), frame, 20)

try:
    import pylsci
except ImportError:
    sys.exit()
theirs = pylsci.Lsci(nbh_s=5)
chain, small = ss.Chain("speckle:output=contrast,radius=2", backend="cpu"), frame[:256, :320].copy()
seconds = per_call(lambda: theirs.spatial_contrast(small), 1)
ours = statistics.median(per_call(lambda: chain(small), 20) for _ in range(ROUNDS))
print(f"\n320×256, contrast over 5×5: pylsci {seconds * 1e3:.0f} ms, here {ours * 1e6:.0f} µs: {seconds / ours:.0f} times as fast.")
seconds = per_call(lambda: theirs.spatial_contrast(frame), 1)
ours = statistics.median(per_call(lambda: chain(frame), 5) for _ in range(ROUNDS))
print(f"1280×1024: pylsci {seconds * 1e3:.0f} ms, here {ours * 1e6:.0f} µs: {seconds / ours:.0f} times as fast.")
