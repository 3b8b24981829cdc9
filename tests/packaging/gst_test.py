"""GStreamer finds the installed element in the prefix, and the element uses the library there: gst_test.py PREFIX"""
import glob
import os
import sys

from support import expect, need, run, temporary_home

need("gst-launch-1.0")
plugin, = glob.glob(f"{sys.argv[1]}/lib*/**/gstreamer-1.0/libgstspecklescope.so", recursive=True)
with temporary_home() as home:
    places = {"GST_PLUGIN_PATH": os.path.dirname(plugin), "GST_REGISTRY": f"{home}/registry.bin"}
    told = run(["gst-inspect-1.0", "specklescope"], home, **places)
    expect(plugin in told and "speckle-radius" in told, told)
    run("gst-launch-1.0 -q videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=64,height=48 ! specklescope "
        "chain=speckle:radius=2 ! filesink location=flow.raw".split(), home, **places)
    expect(os.path.getsize(f"{home}/flow.raw") == 3 * 64 * 48 * 4, "three frames of float")
