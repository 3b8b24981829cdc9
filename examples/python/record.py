"""Records your own results into a file that the program plays: record.py FILE.tiff"""
import sys

import numpy as np

import specklescope as ss

chain = ss.Chain("speckle:radius=3")
rng = np.random.default_rng(1)
recorder: ss.Recorder | None = None
for number in range(30):
    flow = chain(rng.integers(1000, 1200, (120, 160), np.uint16), exposure_ms=5)
    recorder = recorder or ss.Recorder(sys.argv[1], quantity=chain.result, source="record.py", rate=20)
    if number == 10:
        recorder.mark("stimulus")
    recorder.push(flow, time=number / 20, exposure_ms=5)
if recorder:
    recorder.close()
    print(recorder.path, recorder.counts["written"], "frames")
