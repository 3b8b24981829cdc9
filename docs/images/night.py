#!/usr/bin/env python3
"""Renders a street at night as a Radiance image: light of 0.01 on the houses, 1200 in the headlights.

Run: /usr/bin/python3 docs/images/night.py night.hdr
"""
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("night.py needs NumPy. Install python3-numpy.")

WIDTH, HEIGHT, FINE = 640, 400, 3 # rendered FINE times as large in each direction, then averaged
HORIZON, VANISH = 190, 330
rng = np.random.default_rng(146)

rows, columns = np.mgrid[0 : HEIGHT * FINE, 0 : WIDTH * FINE].astype(np.float64) / FINE
light = np.zeros((HEIGHT * FINE, WIDTH * FINE, 3))


def paint(mask, color, strength=1.0):
    light[mask] = np.asarray(color) * (strength[mask][:, None] if isinstance(strength, np.ndarray) else strength)


def add(color, strength):
    light[...] += np.asarray(color) * strength[..., None]


# Sky, and a road that runs to the vanishing point.
paint(rows < HORIZON, (0.25, 0.35, 0.8), 0.004 + 0.012 * (rows / HORIZON) ** 3)
near = np.clip((rows - HORIZON) / (HEIGHT - HORIZON), 1e-3, 1)
paint(rows >= HORIZON, (1.0, 0.9, 0.75), 0.01 + 0.05 * near)
across = (columns - VANISH) / near
line = (rows >= HORIZON) & (np.abs(across) < 9) & (np.mod(3.2 / near, 2) < 1)
paint(line, (1, 1, 0.9), 0.35)
for side in (-1, 1):
    curb = (rows >= HORIZON) & (np.abs(across - side * 420) < 14)
    paint(curb, (0.9, 0.9, 1), 0.12)

# Houses on both sides, shrinking towards the vanishing point, some windows lit.
for side in (-1, 1):
    depth = 1.0
    for house in range(6):
        nearer, depth = depth, depth * 0.68
        left, right = sorted((VANISH + side * 470 * depth, VANISH + side * 470 * nearer))
        top, foot = HORIZON - 250 * depth, HORIZON + 60 * depth
        wall = (columns >= left) & (columns < right) & (rows >= top) & (rows < foot)
        paint(wall, (0.7, 0.6, 0.5), 0.012 + 0.02 * rng.random())
        for floor in range(5):
            for window in range(3):
                wide = (right - left) / 3
                high = (foot - top) / 5
                x, y = left + (window + 0.25) * wide, top + (floor + 0.2) * high
                pane = (columns >= x) & (columns < x + wide / 2) & (rows >= y) & (rows < y + high / 2)
                lit = rng.random() < 0.35
                paint(pane, (1, 0.72, 0.35) if lit else (0.3, 0.4, 0.6), rng.uniform(0.6, 2.5) if lit else 0.006)


def disk(x, y, radius):
    return np.hypot(columns - x, rows - y) < radius


def pool(x, y, wide, high):
    """Light on the road below a lamp."""
    return np.where(rows >= HORIZON, np.exp(-(((columns - x) / wide) ** 2) - ((rows - y) / high) ** 2), 0)


for side in (-1, 1): # street lamps
    for depth in (0.78, 0.46, 0.27, 0.16, 0.1):
        x, y = VANISH + side * 330 * depth, HORIZON - 190 * depth
        post = (np.abs(columns - x) < max(0.5, 3 * depth)) & (rows > y) & (rows < HORIZON + 150 * depth)
        paint(post, (0.5, 0.5, 0.5), 0.02)
        add((1, 0.8, 0.5), 0.25 * pool(x - side * 60 * depth, HORIZON + 150 * depth, 120 * depth, 40 * depth))
        paint(disk(x, y, max(0.8, 6.5 * depth)), (1, 0.78, 0.45), 120.0)

for x, y, size in ((392, 262, 1.0), (300, 214, 0.32)):  # cars towards the viewer
    paint((np.abs(columns - x) < 46 * size) & (rows > y - 42 * size) & (rows < y + 24 * size), (0.5, 0.55, 0.7), 0.02)
    paint((np.abs(columns - x) < 36 * size) & (rows > y - 38 * size) & (rows < y - 16 * size), (0.3, 0.4, 0.6), 0.05)
    for side in (-1, 1):
        add((1, 0.97, 0.9), 0.5 * pool(x + side * 34 * size, y + 70 * size, 60 * size, 50 * size))
        paint(disk(x + side * 33 * size, y, 5.5 * size), (1, 0.97, 0.9), 1200.0)
for x, y, size in ((212, 300, 1.0),):  # a car that drives away
    paint((np.abs(columns - x) < 62 * size) & (rows > y - 56 * size) & (rows < y + 34 * size), (0.6, 0.2, 0.2), 0.03)
    paint((np.abs(columns - x) < 48 * size) & (rows > y - 50 * size) & (rows < y - 20 * size), (0.3, 0.4, 0.6), 0.015)
    for side in (-1, 1):
        paint(disk(x + side * 50 * size, y, 7 * size), (1, 0.06, 0.03), 12.0)
# A person at the kerb, hidden by the glare of the headlights.
body = (np.abs(columns - 446) < 7) & (rows > 236) & (rows < 300) | disk(446, 230, 7)
paint(body, (0.9, 0.7, 0.6), 0.09)

scene = light.reshape(HEIGHT, FINE, WIDTH, FINE, 3).mean((1, 3))
most = np.maximum(scene.max(-1), 1e-9)
exponent = np.frexp(most)[1]
mantissas = np.floor(np.ldexp(scene, (8 - exponent)[..., None]))
pixels = np.dstack([mantissas, exponent + 128]).astype(np.uint8)
with open(sys.argv[1], "wb") as file: # plain RGBE: no row begins as a coded one would
    assert not ((pixels[:, 0, 0] == 2) & (pixels[:, 0, 1] == 2)).any()
    file.write(f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {HEIGHT} +X {WIDTH}\n".encode() + pixels.tobytes())
