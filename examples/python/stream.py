"""Results of any SOURCE, with one parameter changed while it runs: stream.py [SOURCE]"""
import sys

import specklescope as ss

source = sys.argv[1] if len(sys.argv) > 1 else "synthetic:vessels?width=160&height=120&live=false"
with ss.open(source, frames=20).chain("background:black=64", "speckle:radius=2") as stream:
    for frame in stream:
        if frame.sequence == 9:
            stream.set("speckle", radius=4)
        print(f"{frame.time:8.3f} s  {frame.symbol} {frame.data.mean():8.1f} {frame.unit}  radius of version {frame.version}")
