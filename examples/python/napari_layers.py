"""Shows a recording, or any source that ends, as layers of napari: napari_layers.py [SOURCE]"""
import sys
from typing import Any

import numpy as np

import specklescope as ss


def layers(source: str, *stages: str, frames: int = 100) -> list[tuple[Any, dict[str, Any], str]]:
    """Arguments of napari.Viewer.add_layer, (data, settings, kind), for the raw frames and the results."""
    kept = list(ss.open(source, frames=frames).chain(*stages))
    first = kept[0]
    return [(np.stack([frame.raw for frame in kept]), {"name": "raw", "visible": False}, "image"),
            (np.stack([frame.data for frame in kept]),
             {"name": f"{first.quantity} ({first.unit})", "colormap": "turbo"}, "image")]


if __name__ == "__main__":
    import napari

    viewer = napari.Viewer()
    for data, settings, kind in layers(*sys.argv[1:] or ["synthetic:vessels?live=false"], "speckle:radius=2"):
        getattr(viewer, f"add_{kind}")(data, **settings)
    napari.run()
