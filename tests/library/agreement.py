"""Every stage gives the same bytes through the library and through the program: agreement.py PROGRAM LIBRARY HEADER

Tests each stage in the library's registry at its defaults, and with each parameter at another value, for grey and colour
frames. A chain that one of them refuses is refused by the other with the same message.
"""
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import tifffile

from client import Library

BOOLEAN, INTEGER, REAL, CHOICE = range(4)
WITH = {"flow": "speckle:output=contrast2 | flow"}  # stages that require a contrast


def other_value(stage, parameter, rng):
    """A value within the range, different from the default, and suitable for a small image."""
    name, kind, default, choices, low, high = parameter
    if kind == BOOLEAN:
        return "false" if default == "true" else "true"
    if kind == CHOICE:
        rest = [one for one in choices if one not in (default, "file", "capture", "custom")]
        return rng.choice(rest) if rest else default
    if kind == INTEGER:
        value = min(int(default) + rng.randint(1, 3), int(min(high, 2**31)))
        return str(max(value, int(low)))
    if kind == REAL:
        return repr(round(min(max(float(default) * rng.uniform(0.6, 0.95) + 0.01, low), high), 3))
    return None  # file names, actions


def chains(library, rng):
    for name, parameters in library.stages():
        yield WITH.get(name, name)
        given = [(p[0], other_value(name, p, rng)) for p in parameters]
        text = ",".join(f"{key}={value}" for key, value in given if value is not None)
        yield WITH.get(name, name) + (":" + text if text else "")
    yield "gamma | flow"  # refused: the input is not a contrast
    yield "background:black=64 | speckle:radius=2,output=contrast2 | average:frames=3 | flow | gaussian:sigma=1"


def by_program(program, folder, source, chain):
    words = [program, "run", source, "--backend", "cpu", "--log", "quiet", "--record", str(folder / "made.tiff")]
    for stage in chain.split(" | "):
        words += ["--stage", stage]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder)
    if done.returncode == 2:
        return done.stderr.strip().removeprefix("specklescope: ")
    assert done.returncode == 0, f"{words}: {done.stderr}"
    with tifffile.TiffFile(folder / "made.tiff") as file:
        return [page.asarray() for page in file.pages]


def by_library(library, frames, chain):
    try:
        return library.process(chain, frames)
    except RuntimeError as error:
        return str(error)


def same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return len(one) == len(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(one, other))


def main():
    program, path, header = sys.argv[1:]
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    noise = np.random.default_rng(seed)
    library = Library(path, header)
    scenes = {"gray16le": noise.integers(0, 65536, (4, 45, 67), np.uint16),
              "gray8": noise.integers(0, 256, (4, 45, 67), np.uint8),
              "rgb8": noise.integers(0, 256, (4, 45, 67, 3), np.uint8)}
    wrong, refused = [], 0
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
        jobs = []
        for kind, frames in scenes.items():
            (Path(place) / f"{kind}.bin").write_bytes(frames.tobytes())
            source = f"raw:{place}/{kind}.bin?width=67&height=45&format={kind}"
            for chain in chains(library, rng):
                folder = Path(place) / str(len(jobs))
                folder.mkdir()
                jobs.append((kind, chain, frames, pool.submit(by_program, program, folder, source, chain)))
        for kind, chain, frames, job in jobs:
            expected, made = job.result(), by_library(library, frames, chain)
            refused += isinstance(expected, str)
            if not same(expected, made):
                wrong.append(f"{kind} through {chain}: {expected if isinstance(expected, str) else 'bytes'} by the "
                             f"program, {made if isinstance(made, str) else 'others'} by the library")
    print("\n".join(wrong) or f"{len(jobs)} chains agree, {refused} of them refused with the same sentence.")
    assert 0 < refused < len(jobs) / 4, "one chain is refused, and many would be little to compare"
    return 1 if wrong else 0


sys.exit(main())
