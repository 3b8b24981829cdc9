"""The fixed list of command lines of golden.py, and the files that they read.

Each line runs in a folder of its own, named as the line; DATA is tests/data. Lines whose name begins with "make" run first."""
import json
import struct

import numpy as np
import tifffile
from PIL import Image

WIDTH, HEIGHT, FRAMES = 66, 50, 8
SIZE = f"width={WIDTH}&height={HEIGHT}"
G16 = f"../in/grey16.bin?{SIZE}&format=gray16le&rate=50&speed=0&full_scale=4095"
G8 = f"../in/grey8.bin?{SIZE}&format=gray8&rate=50&speed=0"
RGB = f"../in/rgb8.bin?{SIZE}&format=rgb8&rate=50&speed=0"
F32 = f"../in/float.bin?{SIZE}&format=gray32f&rate=50&speed=0"
SCENE = f"{SIZE}&rate=200&speed=0&live=false&seed=3"
REGIONS = "--regions ../in/regions.json"
FLOW = ("--stage background:black=64 --stage speckle:radius=2,output=contrast2 --stage average:frames=3 "
        "--stage flow:output=tau --stage gaussian:sigma=0.8")

LINES = {
    # Sources: the simulated scene, packed and coloured pixels, series, films, real images.
    "make vessels": f"run synthetic:vessels?{SCENE} --frames 8 --stage speckle:radius=2 --record-raw raw.tiff "
                    "--record-mask mask.tiff --record flow.tiff --record flow.raw",
    "make film": f"run raw:{G16} --stage none --record-raw raw.mkv --record-raw raw.raw --record-raw raw.tiff",
    "make colour": f"run raw:{RGB} --stage none --record-raw colour.mkv --record-raw colour.tiff --record-raw colour.raw",
    "make light": f"run raw:{F32} --stage none --record light.exr --record light.hdr --record-raw float.tiff",
    "scene uniform": f"run synthetic:uniform?{SCENE}&bits=8&tau=0.5 --frames 4 --record flow.tiff --record-raw raw.tiff",
    "scene static": f"run synthetic:static?{SCENE}&speckle=3&noise=2 --frames 4 --record flow.tiff --record-raw raw.tiff",
    "packed": f"run raw:../in/packed.bin?{SIZE}&format=mono12p --stage none --record-raw raw.tiff",
    "mosaic": f"run raw:{G16}&bayer=rggb --stage none --record-raw raw.tiff --record mean.tiff --channel mean",
    "big endian": f"run raw:../in/grey16.bin?{SIZE}&format=gray16be --stage none --record-raw raw.tiff",
    "series": "run ../in/series_%04d.png --stage downsample:factor=2 --record small.tiff --record-raw raw.tiff",
    "y4m": "run ../in/film.y4m --stage none --record-raw raw.tiff --record out.tiff",
    "finger": "run DATA/finger_64x64x1000_mono8.png?frame_height=64&rate=100&speed=0 --frames 60 --from 10 "
              "--stage pulsatility:frames=8,beats=2 --record pulse.tiff",
    "cortex": "run DATA/rat_cortex_1280x1024_mono8.tif --stage speckle:output=contrast --stage crop:x=600,y=500,width=256,height=200 "
              "--record part.tiff --snapshot part.png",
    # Stages, each over 8 or 16 bits, float or colour.
    "speckle reflect": f"run raw:{G16} --stage speckle:radius=3,output=contrast,border=reflect --record k.tiff",
    "speckle omit": f"run raw:{G8} --stage speckle:radius=2,output=tau,border=omit --record tau.tiff",
    "speckle crop": f"run raw:{F32} --stage speckle:radius=4,output=bfi,border=crop --record bfi.tiff",
    "temporal": f"run raw:{G16} --stage temporal:frames=5 --record flow.tiff",
    "spatiotemporal": f"run raw:{G8} --stage spatiotemporal:radius=1,frames=4,output=contrast2 --record k2.tiff",
    "background capture": f"run raw:{G16} --stage background:dark=capture,frames=3 --record light.tiff",
    "background files": f"run raw:{G16} --stage background:dark=file,dark_file=../in/dark.tiff,flat=file,flat_file=../in/flat.tiff "
                        "--record light.tiff",
    "average window": f"run raw:{F32} --stage average:frames=3 --record mean.tiff",
    "average exponential": f"run raw:{G8} --stage average:frames=4,kind=exponential --record mean.tiff",
    "gaussian direct": f"run raw:{G8} --stage gaussian:sigma=1.7,method=direct,border=omit --record blur.tiff",
    "gaussian recursive": f"run raw:{F32} --stage gaussian:sigma=6,method=recursive --record blur.tiff",
    "gaussian recursive colour": f"run raw:{RGB} --stage gaussian:sigma=6,method=recursive --record blur.tiff",
    "gaussian fft": f"run raw:{F32} --stage gaussian:sigma=5,method=fft,border=wrap --record blur.tiff",
    "gaussian binomial": f"run raw:{G16} --stage gaussian:method=binomial3 --stage gaussian:method=binomial5 --record blur.tiff",
    "convolve disk": f"run raw:{RGB} --stage convolve:kernel=disk,radius=3.5 --record blur.tiff",
    "convolve file": f"run raw:{F32} --stage convolve:kernel=file,file=../in/kernel.npy,border=reflect --record blur.tiff",
    "equalize": f"run raw:{RGB} --stage equalize:bins=256,scaling=minmax,strength=0.7 --record equal.tiff",
    "clahe": f"run raw:{G16} --stage clahe:tiles=4,clip=3,bins=128 --record clahe.tiff",
    "gamma": f"run raw:{RGB} --stage gamma:gamma=0.45 --record gamma.tiff",
    "geometry": f"run raw:{RGB} --stage crop:x=3,y=5,width=41,height=33 --stage flip:direction=both --stage rotate90:turns=1 "
                "--record turned.tiff",
    "nearest": f"run raw:{G8} --stage downsample:factor=3,method=nearest --record small.tiff",
    # Chains and presets.
    "chain of three": f"run raw:{G16} --stage temporal:frames=4,output=contrast2 --stage gaussian:sigma=1.2 --stage flow --record flow.tiff",
    "chain of five": f"run raw:{G16} {FLOW} --record tau.tiff --stats stats.json",
    "preset flow": f"run raw:{G16} --preset flow --record flow.tiff",
    "preset flow-slow": f"run raw:{G16} --preset flow-slow --record flow.tiff",
    "preset glare": "run ../make_light/light.exr --preset glare --record glare.tiff",
    # Recordings.
    "formats": f"run raw:{G16} --record r.tiff --record r.raw --record r.png --record r.exr --record r.hdr --record-every 2 "
               "--view colormap=viridis",
    "films H.264": f"run raw:{G16} --record r.mkv --record r.mp4 --view low=10 --view high=90",
    "screen": f"run raw:{G16} --record-screen s.png --record-screen s.tiff --screen-zoom 2 --view layout=side_by_side "
              "--view low_percentile=5",
    "pipe y4m": f"run raw:{G16} --record y4m:- --view colormap=inferno",
    "pipe raw": f"run raw:{G16} {FLOW} --record raw:-",
    "split": f"run raw:{G16} --record part.tiff --split-s 0.06 --record-frames 6",
    # Regions, traces, baseline.
    "regions": f"run raw:{G16} {REGIONS} --medians --traces traces.csv --kymograph k.tiff --widths widths.csv --band 3 "
               "--stats stats.json --um-per-px 2.5 --report report.pdf --snapshot map.png",
    "regions of ImageJ": "run DATA/rat_cortex_1280x1024_mono8.tif --regions ../in/box.roi --traces traces.csv",
    "traces of a finger": "run DATA/finger_64x64x1000_mono8.png?frame_height=64&rate=100&speed=0 "
                          "--stage speckle:radius=2,output=contrast --regions ../in/whole.json --traces traces.csv",
    "widths": "run ../in/vessel.tiff --stage none --regions ../in/across.json --widths widths.csv --kymograph k.tiff --band 5",
    "change": f"run raw:{G16} --baseline-seconds 0.06 --change --record change.tiff {REGIONS} --traces traces.csv",
    "pulse": "pulse ../in/events.csv --json pulse.json",
    "trials": "trials ../in/events.csv --around flash --before 0.2 --after 0.5 --csv mean.csv",
    # Recordings that are played again.
    "replay flow": "run ../make_vessels/flow.tiff --stage average:frames=2 --record mean.tiff",
    "replay raw": "run ../make_vessels/raw.tiff --from-s 0.01 --frames 3 --stage speckle:radius=2 --record flow.tiff",
    "replay settings": "run ../make_vessels/flow.raw --config from:../make_vessels/flow.raw --stage gaussian --record blur.tiff",
    "replay film": "run ../make_film/raw.mkv --stage speckle --record flow.tiff --record-raw raw.tiff",
    "replay colour": "run ../make_colour/colour.mkv --channel red --stage speckle --record flow.tiff",
    "replay light": "run ../make_light/light.hdr --stage gamma --record gamma.tiff",
}


def inputs(folder):
    """Writes the input files; integers of a generator whose numbers are the same in every NumPy."""
    folder.mkdir()
    random = np.random.RandomState(7)
    grain = random.randint(0, 2000, (FRAMES, HEIGHT, WIDTH)) + random.randint(100, 1500, (HEIGHT, WIDTH))
    grain[:, 20:24] = grain[:, 20:24] // 3 + 900  # a vessel
    grain[3, 7:9, 11:14] = 4095
    grain = grain.astype("<u2")
    colour = random.randint(0, 256, (FRAMES, HEIGHT, WIDTH, 3)).astype("u1")
    grain.tofile(folder / "grey16.bin")
    (grain >> 4).astype("u1").tofile(folder / "grey8.bin")
    colour.tofile(folder / "rgb8.bin")
    (grain.astype("<f4") / 1024).tofile(folder / "float.bin")
    random.randint(0, 256, FRAMES * HEIGHT * WIDTH * 3 // 2).astype("u1").tofile(folder / "packed.bin")
    np.save(folder / "kernel.npy", random.randint(0, 16, (5, 7)).astype("<f4"))
    tifffile.imwrite(folder / "one.tiff", grain[0])
    tifffile.imwrite(folder / "dark.tiff", random.randint(50, 90, (HEIGHT, WIDTH)).astype("<u2"))
    tifffile.imwrite(folder / "flat.tiff", random.randint(2000, 3000, (HEIGHT, WIDTH)).astype("<u2"))
    for number, frame in enumerate(grain[:5]):
        Image.fromarray(frame).save(folder / f"series_{number:04}.png")
    with open(folder / "film.y4m", "wb") as film:
        film.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F25:1 Ip A1:1 Cmono\n".encode())
        for frame in (grain >> 4).astype("u1"):
            film.write(b"FRAME\n" + frame.tobytes())
    shapes = [("artery", "rectangle", [[10, 8], [29, 27]]), ("vein", "line", [[12, 44], [40, 4]]),
              ("round", "ellipse", [[30, 10], [60, 40]]), ("corner", "polygon", [[2, 2], [20, 4], [9, 30]])]
    write_regions(folder / "regions.json", shapes)
    write_events(folder / "events.csv", random)
    (folder / "box.roi").write_bytes(imagej_rectangle(200, 300, 420, 610))
    vessel = 400 + 400 * np.abs(np.arange(HEIGHT)[:, None] - 25).clip(4, 6) + random.randint(0, 40, (HEIGHT, WIDTH))
    tifffile.imwrite(folder / "vessel.tiff", vessel.astype("<u2"))
    write_regions(folder / "across.json", [("across", "line", [[33, 2], [33, 48]])])
    write_regions(folder / "whole.json", [("whole", "rectangle", [[4, 4], [59, 59]])])


def imagej_rectangle(*sides):
    """A region file of ImageJ, version 227; sides: top, left, bottom, right."""
    return struct.pack(">4sHBx4h", b"Iout", 227, 1, *sides).ljust(64, b"\0")


def write_events(path, random):
    """A table of traces with three events and a pulse of 1.25 Hz."""
    values = random.randint(100, 105, 400) + np.round(30 * np.sin(np.arange(400) / 20 * np.pi)).astype(int)
    lines = ["# Specklescope traces, version 1"]
    lines += [f"# event: {number},{at},{at / 50:.9f},flash" for number, at in enumerate((40, 90, 150))]
    lines.append("sequence,capture_s,arrival_s,region,mean")
    lines += [f"{n},{n / 50:.9f},{n / 50:.9f},artery,{value}" for n, value in enumerate(values)]
    path.write_text("\n".join(lines) + "\n")


def write_regions(path, shapes):
    path.write_text(json.dumps({"regions": [dict(zip(("name", "shape", "points"), shape)) for shape in shapes]}))
