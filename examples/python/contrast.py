"""Speckle contrast and flow index of one image: contrast.py [IMAGE.npy]"""
import sys

import numpy as np

import specklescope as ss

image = np.load(sys.argv[1]) if len(sys.argv) > 1 else np.random.default_rng(1).integers(1000, 1200, (240, 320), np.uint16)
contrast = ss.speckle(image, radius=3, output="contrast")
flow = ss.speckle(image, radius=3, output="sfi", exposure=5)
print(f"K = {np.nanmean(contrast):.4f}, 1/(2TK²) = {np.nanmedian(flow):.0f} 1/s")
