#!/usr/bin/env python3
"""Verifies `specklescope check` on simulated recordings: check.py PROGRAM [--clean N] [--faults N] [--seed N] [--only FAULT]

Clean scenes must have no finding; scenes with one fault of known size must have this finding. The simulation is
its own and shares nothing with the program's: the field of a round pupil evolves as an Ornstein-Uhlenbeck process,
twice as fine as the pixels, and is summed over pixels and exposure, with shot noise, read noise, offset and rounding.
Exit status 1 if fewer than 95 % of a fault's scenes are found or more than 2 % of the clean ones have a finding.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np
import scipy.fft

FINE = 2  # samples of the field per pixel


class Field:
    """Speckle field of a size (full width at half maximum of the intensity's autocovariance, px), evolving in Fourier
    space with unit mean intensity."""

    def __init__(self, rng, side, size):
        n = side * FINE
        f = np.fft.fftfreq(n).astype(np.float32)
        self.rng = rng
        self.pupil = np.hypot(f[:, None], f[None, :]) <= 1.029 / (size * FINE) / 2
        self.count = int(self.pupil.sum())
        self.scale = n * n / np.sqrt(self.count)
        self.n = n
        self.modes = self.noise()

    def noise(self):
        z = self.rng.standard_normal((2, self.count), dtype=np.float32)
        return ((z[0] + 1j * z[1]) / np.sqrt(2)).astype(np.complex64)

    def evolve(self, step_over_tau):
        kept = np.exp(-step_over_tau)
        self.modes = (kept * self.modes + np.sqrt(max(0, 1 - kept * kept)) * self.noise()).astype(np.complex64)

    def field(self):
        spectrum = np.zeros((self.n, self.n), np.complex64)
        spectrum[self.pupil] = self.modes
        return scipy.fft.ifft2(spectrum) * np.float32(self.scale)


def scene(rng, **given):
    """Frames before the camera (mean 1), and the scene's parameters."""
    p = dict(side=int(rng.choice([160, 192, 256])), size=float(rng.uniform(2.2, 4)), bursts=1, frames=24,
             tau=float(10 ** rng.uniform(-1.5, 1)), vessel_tau=None, static=float(rng.choice([0, 0.2, 0.5, 0.8])),
             vessels=int(rng.integers(0, 4)), pulse=float(rng.choice([0, 0.3])), uneven=float(rng.uniform(0, 0.5)),
             steps=3, shifts=None)
    p.update(given)
    side = p["side"]
    y, x = np.mgrid[0:side * FINE, 0:side * FINE].astype(np.float32) / (side * FINE)
    light = 1 - p["uneven"] * ((x - rng.uniform(0.3, 0.7)) ** 2 + (y - rng.uniform(0.3, 0.7)) ** 2) * 1.5
    vessel = np.zeros_like(x)
    for _ in range(p["vessels"]):
        angle, at, width = rng.uniform(0, np.pi), rng.uniform(0.2, 0.8), rng.uniform(0.02, 0.06)
        wave = at + 0.05 * np.sin(rng.uniform(2, 8) * (x * np.cos(angle) + y * np.sin(angle)))
        vessel = np.maximum(vessel, np.abs(x * np.sin(angle) + (1 - y) * np.cos(angle) - wave) < width / 2)
    light = light * (1 - 0.25 * vessel)
    tissue, fast, still = (Field(rng, side, p["size"]) for _ in range(3))
    static = np.sqrt(p["static"]) * still.field()
    frames = []
    for i in range(p["frames"]):
        per_burst = p["frames"] // p["bursts"]
        if i and i % per_burst == 0:  # the bursts are far apart
            tissue.evolve(50), fast.evolve(50)
        total = np.zeros((side, side), np.float32)
        beat = 1 + p["pulse"] * np.sin(2 * np.pi * i / 20)
        shift = (0, 0) if p["shifts"] is None else p["shifts"][i]
        for _ in range(p["steps"]):
            step = beat / p["tau"] / p["steps"]
            tissue.evolve(step)
            moving = tissue.field()
            if p["vessels"]:
                fast.evolve(5 * step)
                moving = np.where(vessel > 0, fast.field(), moving)
            fine = np.abs(static + np.sqrt(1 - p["static"]) * moving) ** 2 * light
            if shift != (0, 0):
                fine = np.roll(fine, (round(shift[1] * FINE), round(shift[0] * FINE)), (0, 1))
            total += fine.reshape(side, FINE, side, FINE).mean((1, 3))
        frames.append(total / p["steps"])
    return np.array(frames), p


def camera(rng, light, bits=None, level=None, electrons=None, black=None, gains=None):
    """Integers of a camera. `level`: mean over full scale; None: nothing saturates."""
    bits = int(rng.choice([8, 10, 12, 16])) if bits is None else bits
    electrons = float(10 ** rng.uniform(2.3, 4)) if electrons is None else electrons
    full = 2 ** bits - 1
    if level is None:
        level = 0.8 / light.max()
    black = rng.uniform(0, 0.1) * level if black is None else black * level
    gains = np.ones(len(light)) if gains is None else gains
    e = rng.poisson(np.maximum(light * electrons * gains[:, None, None], 0)) + rng.normal(0, 2, light.shape)
    dn = (black + (e / electrons) * level) * full
    return np.clip(np.rint(dn), 0, full).astype(np.uint8 if bits == 8 else np.uint16), full


class Recording:
    def __init__(self, pixels, full, p, rate=100.0):
        self.pixels, self.full, self.p = pixels, full, p
        self.times = np.arange(len(pixels)) / rate
        self.exposures = np.full(len(pixels), 5.0)

    def write(self, folder, name):
        """A raw file with its index; returns the SOURCE."""
        n, h, w = self.pixels.shape
        path = pathlib.Path(folder) / f"{name}.raw"
        self.pixels.tofile(path)
        kind = "gray8" if self.pixels.dtype == np.uint8 else "gray16le"
        first = dict(program="Specklescope", content="raw", format=kind, rate=100.0, finished=True, written=n,
                     width=w, height=h, channels=1, full_scale=float(self.full),
                     pixel_type="u8" if kind == "gray8" else "u16", quantity="intensity", measure="intensity")
        lines = [json.dumps(first)]
        for i in range(n):
            lines.append(json.dumps(dict(frame=i, sequence=i, capture_ns=int(round(self.times[i] * 1e9)),
                                         exposure_ms=float(self.exposures[i]))))
        pathlib.Path(str(path) + ".jsonl").write_text("\n".join(lines) + "\n")
        return f"raw:{path}?width={w}&height={h}&format={kind}"


def clean(rng, **given):
    size = float(rng.uniform(1.1, 4))
    light, p = scene(rng, **{"size": size, **given})
    bits = int(rng.choice([8, 10, 12, 16]))
    if rng.random() < 0.2:  # slow flow
        light, p = scene(rng, **{"size": size, "tau": 100.0, **given})
    return Recording(*camera(rng, light, bits), p)


def textured(rng, **given):  # something that a shift can be seen by
    return scene(rng, **{"static": float(rng.choice([0.3, 0.6])), **given})


def saturation(rng):
    light, p = scene(rng)
    return Recording(*camera(rng, light, level=1 / np.quantile(light, 1 - 10 ** rng.uniform(-2.5, -1))), p)


def pile_up(rng):
    light, p = scene(rng)
    pixels, _ = camera(rng, light, 12, level=1 / np.quantile(light, 0.99))
    return Recording(pixels.astype(np.uint16), 65535, p)


def alignment(rng):
    light, p = scene(rng)
    bits = int(rng.choice([10, 12]))
    pixels, _ = camera(rng, light, bits)
    return Recording((pixels.astype(np.uint16) << (16 - bits)), 65535, p)


def mosaic(rng):
    light, p = scene(rng)
    sites = np.array([[1, 0.4], [0.4, 0.15]]) if rng.random() < 0.5 else np.array([[0.7, 1], [1, 0.6]])
    return Recording(*camera(rng, light * np.tile(sites, (light.shape[1] // 2, light.shape[2] // 2))), p)


def black(rng):
    light, p = scene(rng, tau=float(10 ** rng.uniform(-1, 0.5)))
    share = rng.uniform(0.6, 0.8)  # of the mean
    offset = share / (1 - share)
    return Recording(*camera(rng, light, level=0.9 / (light.max() + offset), black=offset), p)


def speckle(rng):
    return clean(rng, size=float(rng.uniform(1, 1.6)))


def empty(rng):
    p = dict(side=192)
    light = np.full((24, 192, 192), 1e-3 if rng.random() < 0.5 else 1.0, np.float32)
    return Recording(*camera(rng, light, level=0.3), p)


def repeated(rng):
    r = clean(rng, size=float(rng.uniform(2.2, 4)))
    for i in rng.choice(np.arange(1, 24), int(rng.integers(1, 4)), replace=False):
        r.pixels[i] = r.pixels[i - 1]
    return r


def missing(rng):
    r = clean(rng, size=float(rng.uniform(2.2, 4)))
    r.times[int(rng.integers(1, 24)):] += rng.integers(1, 4) / 100
    return r


def clock(rng):
    r = clean(rng, size=float(rng.uniform(2.2, 4)))
    r.times = r.times + rng.normal(0, rng.uniform(0.08, 0.12), 24) / 100
    return r


def exposure_stated(rng):
    r = clean(rng, size=float(rng.uniform(2.2, 4)))
    r.exposures[int(rng.integers(1, 24)):] = 8
    return r


def exposure(rng):
    light, p = scene(rng)
    gains = np.ones(24)
    gains[int(rng.integers(4, 20)):] = rng.choice([0.7, 0.85, 1.2, 1.4])
    return Recording(*camera(rng, light, level=0.6 / light.max(), gains=gains), p)


def flicker(rng):
    light, p = scene(rng)
    gains = 1 + rng.uniform(0.03, 0.08) * np.sin(2 * np.pi * rng.uniform(0.1, 0.45) * np.arange(24) + rng.uniform(0, 6))
    return Recording(*camera(rng, light, level=0.7 / light.max(), gains=gains), p)


def drift(rng):
    angle, speed = rng.uniform(0, 2 * np.pi), rng.uniform(0.3, 1.5)
    shifts = [(i * speed * np.cos(angle), i * speed * np.sin(angle)) for i in range(24)]
    return Recording(*camera(rng, *textured(rng, shifts=shifts)[:1]), {})


def shake(rng):
    shifts = [tuple(v) for v in rng.normal(0, rng.uniform(0.8, 2), (24, 2))]
    return Recording(*camera(rng, *textured(rng, shifts=shifts)[:1]), {})


def change(rng):
    light, p = scene(rng)
    side = light.shape[1]
    y, x = np.mgrid[0:side, 0:side] / side
    spot = 0.5 * np.exp(-((x - rng.uniform(0.2, 0.8)) ** 2 + (y - rng.uniform(0.2, 0.8)) ** 2) / 0.03)
    light[12:] *= 1 + spot.astype(np.float32)
    return Recording(*camera(rng, light / 1.3), p)


def jpeg(rng):
    r = clean(rng, size=float(rng.uniform(2.2, 4)))
    eight = (r.pixels / r.full * 255).round().astype(np.uint8)
    quality = int(rng.integers(60, 96))
    r.pixels = np.array([cv2.imdecode(cv2.imencode(".jpg", f, [cv2.IMWRITE_JPEG_QUALITY, quality])[1],
                                      cv2.IMREAD_GRAYSCALE) for f in eight])
    r.full = 255
    return r


FAULTS = {  # simulation: finding
    saturation: "saturation", pile_up: "saturation", alignment: "alignment", mosaic: "mosaic", black: "black",
    speckle: "speckle", empty: "empty", repeated: "repeated", missing: "missing", clock: "clock",
    exposure_stated: "exposure", exposure: "exposure", flicker: "flicker", drift: "drift", shake: "shake",
    change: "scene", jpeg: "lossy"}


def findings(program, recording):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "check.json")
        done = subprocess.run([program, "check", recording.write(folder, "scene"), "--json", report, "--quiet"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"check.py: exit status {done.returncode}: {done.stderr}")
        return json.load(open(report))["findings"]


def expected(recording, found):
    """Speckle below 2 px is a true finding of a clean scene."""
    return {f["what"] for f in found} - ({"speckle"} if recording.p.get("size", 9) < 2.1 else set())


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("--clean", type=int, default=200)
    words.add_argument("--faults", type=int, default=40)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--only", default="")
    args = words.parse_args()
    failed = False
    if not args.only:
        false = []
        for i in range(args.clean):
            recording = clean(np.random.default_rng([args.seed, i]))
            wrong = expected(recording, findings(args.program, recording))
            if wrong:
                false.append((i, sorted(wrong)))
        print(f"clean: {len(false)} of {args.clean} with a finding {false}", flush=True)
        failed = len(false) > 0.02 * args.clean
    for number, (make, what) in enumerate(FAULTS.items()):
        if args.only not in ("", make.__name__):
            continue
        missed = [i for i in range(args.faults) if what not in
                  {f["what"] for f in findings(args.program, make(np.random.default_rng([args.seed, number + 1, i])))}]
        print(f"{make.__name__}: {args.faults - len(missed)} of {args.faults} found {missed}", flush=True)
        failed = failed or len(missed) > 0.05 * args.faults
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
