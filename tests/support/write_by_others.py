"""Writes small images and films with the writers that users have, and reads each with a reader that did not write it.
NAME.expected has the bytes that must come; list.txt has for each: source text, file of the expected bytes, frames, width,
height, channels, type, and a word that the log must hold, or "-". A file that must be refused has 0 frames."""
import subprocess

import cv2
import imageio
import numpy as np
import tifffile
from PIL import Image, ImageSequence

rng = np.random.default_rng(2911)
print("seed 2911")
H, W = 30, 44
listing = []


def note(name, truth, word="-", options=""):
    expected = f"{len(listing)}.expected"
    if truth is None:
        listing.append(f"{name}{options} - 0 0 0 0 - {word}")
        return
    truth = np.ascontiguousarray(truth)
    if truth.ndim == 2 or (truth.ndim == 3 and truth.shape[-1] == 3):
        truth = truth[None]
    if truth.dtype not in (np.uint8, np.uint16):
        truth = truth.astype(np.float32)
    truth.astype(truth.dtype.newbyteorder("<")).tofile(expected)
    kind = {"uint8": "u8", "uint16": "u16", "float32": "f32"}[truth.dtype.name]
    listing.append(f"{name}{options} {expected} {len(truth)} {truth.shape[2]} {truth.shape[1]} {3 if truth.ndim == 4 else 1} {kind} {word}")


def opencv(name):  # RGB
    a = cv2.imread(name, cv2.IMREAD_UNCHANGED | cv2.IMREAD_IGNORE_ORIENTATION)
    return a[..., 2::-1] if a.ndim == 3 else a


def pillow(name):
    return np.asarray(Image.open(name))


def pages(name):
    return np.array([np.asarray(page.copy()) for page in ImageSequence.Iterator(Image.open(name))])


def convert(*words):
    subprocess.run(["convert", *words], check=True)


turns = {2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1], 4: lambda a: a[::-1], 5: lambda a: a.swapaxes(0, 1), 6: lambda a: np.rot90(a, -1),
         7: lambda a: a[::-1, ::-1].swapaxes(0, 1), 8: lambda a: np.rot90(a)}
grey8, grey16 = rng.integers(0, 250, (4, H, W), np.uint8), rng.integers(0, 60000, (4, H, W), np.uint16)
rgb8, rgb16 = rng.integers(0, 250, (H, W, 3), np.uint8), rng.integers(0, 60000, (H, W, 3), np.uint16)
soft = cv2.GaussianBlur(rgb8, (0, 0), 2)
floats = rng.normal(0, 100, (4, H, W)).astype(np.float32)

# --- OpenCV writes; Pillow, tifffile and ImageMagick read
cv2.imwrite("cv8.png", grey8[0]); note("cv8.png", pillow("cv8.png"))
cv2.imwrite("cv16.png", grey16[0]); note("cv16.png", pillow("cv16.png").astype(np.uint16))
cv2.imwrite("cvrgb.png", rgb8); note("cvrgb.png", pillow("cvrgb.png"), options="?transfer=linear")
cv2.imwrite("cvrgb16.png", rgb16); note("cvrgb16.png", rgb16[..., ::-1])
cv2.imwrite("cv8.tif", grey8[0]); note("cv8.tif", pillow("cv8.tif"))
cv2.imwrite("cv16.tif", grey16[0]); note("cv16.tif", pillow("cv16.tif").astype(np.uint16))
cv2.imwrite("cvrgb16.tif", rgb16); note("cvrgb16.tif", rgb16[..., ::-1])
cv2.imwrite("cv32.tif", floats[0]); note("cv32.tif", pillow("cv32.tif"))
cv2.imwrite("cv64.tif", floats[0].astype(np.float64) / 3); note("cv64.tif", floats[0].astype(np.float64) / 3, "rounded")
cv2.imwritemulti("cvmulti.tif", list(grey16)); note("cvmulti.tif", pages("cvmulti.tif").astype(np.uint16))
cv2.imwrite("cv.jpg", soft); note("cv.jpg", pillow("cv.jpg"), options="?transfer=linear")
cv2.imwrite("cv8.pgm", grey8[0]); note("cv8.pgm", pillow("cv8.pgm"))
cv2.imwrite("cv.bmp", grey8[0]); note("cv.bmp", None, "BMP")

# --- Pillow writes; OpenCV and tifffile read
Image.fromarray(grey8[0]).save("pil8.png"); note("pil8.png", opencv("pil8.png"))
Image.fromarray(rgb8).save("pilrgb.png"); note("pilrgb.png", opencv("pilrgb.png"), options="?transfer=linear")
Image.fromarray(np.dstack([rgb8, grey8[0]])).save("pilrgba.png"); note("pilrgba.png", opencv("pilrgba.png"), options="?transfer=linear")
Image.fromarray(np.dstack([grey8[0], grey8[1]]), "LA").save("pilla.png"); note("pilla.png", grey8[0])
Image.fromarray(rgb8).quantize(60).save("pilp.png"); note("pilp.png", cv2.imread("pilp.png")[..., ::-1], options="?transfer=linear")
Image.fromarray(grey8[0] > 100).save("pil1.png"); note("pil1.png", opencv("pil1.png"))
images = [Image.fromarray(image) for image in grey8]
images[0].save("piln.png", save_all=True, append_images=images[1:]); note("piln.png", opencv("piln.png"), "APNG")
images[0].save("pil.gif", save_all=True, append_images=images[1:]); note("pil.gif", None, "GIF")
for name, compression in (("raw", "raw"), ("lzw", "tiff_lzw"), ("zip", "tiff_adobe_deflate"), ("bits", "packbits")):
    images[0].save(f"pil{name}.tif", save_all=True, append_images=images[1:], compression=compression)
    note(f"pil{name}.tif", tifffile.imread(f"pil{name}.tif") if name != "lzw" else np.array(cv2.imreadmulti("pillzw.tif", flags=-1)[1]))
images = [Image.fromarray(image) for image in floats]
images[0].save("pilf.tif", save_all=True, append_images=images[1:]); note("pilf.tif", tifffile.imread("pilf.tif"))
Image.fromarray(grey8[0] > 100).save("pil1.tif", compression="group4"); note("pil1.tif", opencv("pil1.tif"))
Image.fromarray(rgb8).save("pilrgb.tif"); note("pilrgb.tif", opencv("pilrgb.tif"))
Image.fromarray(rgb8).convert("CMYK").save("pilcmyk.tif"); note("pilcmyk.tif", None, "samples")
for quality, how in ((95, {"subsampling": 0}), (90, {"subsampling": 2}), (80, {"progressive": True})):
    Image.fromarray(soft).save(f"pil{quality}.jpg", quality=quality, **how)
    note(f"pil{quality}.jpg", opencv(f"pil{quality}.jpg"), options="?transfer=linear")
Image.fromarray(soft).convert("CMYK").save("pilcmyk.jpg"); note("pilcmyk.jpg", None, "CMYK")
for number in range(2, 9):
    exif = Image.Exif()
    exif[274] = number
    Image.fromarray(soft).save(f"pilturned{number}.jpg", quality=95, exif=exif)
    note(f"pilturned{number}.jpg", cv2.imread(f"pilturned{number}.jpg")[..., ::-1], "orientation", "?transfer=linear")

# --- imageio writes; OpenCV reads
imageio.imwrite("io16.png", grey16[0]); note("io16.png", opencv("io16.png"))
imageio.imwrite("io.jpg", soft); note("io.jpg", opencv("io.jpg"), options="?transfer=linear")
imageio.imwrite("io.png", rgb8); note("io.png", opencv("io.png"), options="?transfer=linear")

# --- ImageMagick writes; OpenCV reads
cv2.imwrite("input.png", grey16[1])
for name, words in (("zip", ["-compress", "zip"]), ("lzw", ["-compress", "lzw"]), ("msb", ["-endian", "MSB"]), ("tile", ["-define", "tiff:tile-geometry=16x16"])):
    convert("input.png", *words, f"im{name}.tif"); note(f"im{name}.tif", opencv(f"im{name}.tif"))
convert("input.png", "-depth", "12", "-compress", "none", "im12.tif")
page = tifffile.TiffFile("im12.tif").pages[0]
data = open("im12.tif", "rb").read()
strips = b"".join(data[at:at + size] for at, size in zip(page.dataoffsets, page.databytecounts))
bits = np.unpackbits(np.frombuffer(strips, np.uint8)).reshape(H, -1)[:, :12 * W].reshape(H, W, 12)
note("im12.tif", (bits * (1 << np.arange(11, -1, -1))).sum(-1).astype(np.uint16), "BitsPerSample")
convert("cvrgb.png", "-interlace", "PNG", "iminterlaced.png"); note("iminterlaced.png", opencv("iminterlaced.png"), options="?transfer=linear")
for number, name in enumerate(("TopRight", "BottomRight", "BottomLeft", "LeftTop", "RightTop", "RightBottom", "LeftBottom"), 2):
    convert("cvrgb.png", "-orient", name, f"imturned{number}.tif"); note(f"imturned{number}.tif", turns[number](rgb8[..., ::-1]), "orientation", "?transfer=linear")

# --- tifffile writes; OpenCV and Pillow read
for name, more in (("lzw", {"compression": "lzw"}), ("zlib", {"compression": "zlib", "predictor": True}), ("zstd", {"compression": "zstd"}), ("big", {"bigtiff": True}),
                   ("be", {"byteorder": ">"}), ("tiles", {"tile": (16, 32)}), ("strips", {"rowsperstrip": 7})):
    try:
        tifffile.imwrite(f"tf{name}.tif", grey16, photometric="minisblack", **more)
    except (ValueError, ImportError, KeyError):  # a codec that is not installed
        continue
    note(f"tf{name}.tif", np.array(cv2.imreadmulti(f"tf{name}.tif", flags=-1)[1]))
tifffile.imwrite("tfplanes.tif", np.moveaxis(rgb8, -1, 0), photometric="rgb", planarconfig="separate"); note("tfplanes.tif", rgb8)
with tifffile.TiffWriter("pyramid.ome.tif") as file:
    file.write(grey16[0], subifds=2, tile=(16, 16), photometric="minisblack")
    file.write(grey16[0, ::2, ::2], subfiletype=1, tile=(16, 16))
    file.write(grey16[0, ::4, ::4], subfiletype=1, tile=(16, 16))
note("pyramid.ome.tif", opencv("pyramid.ome.tif"))
with tifffile.TiffWriter("previews.tif") as file:
    for step in (1, 2, 4):
        file.write(grey16[0, ::step, ::step], subfiletype=int(step > 1), photometric="minisblack", metadata=None)
note("previews.tif", grey16[0])
tifffile.imwrite("two_samples.tif", np.moveaxis(grey8[:2], 0, -1), photometric="minisblack", planarconfig="contig"); note("two_samples.tif", grey8[0], "samples")
tifffile.imwrite("three_samples.tif", rgb8, photometric="minisblack", planarconfig="contig"); note("three_samples.tif", rgb8, "samples")
for axes in ("TCZ", "TZC", "CTZ", "CZT", "ZTC", "ZCT"):
    sizes = {"T": 3, "C": 2, "Z": 4}
    images = np.zeros([sizes[axis] for axis in axes] + [H, W], np.uint16)
    for at in np.ndindex(images.shape[:3]):
        place = dict(zip(axes, at))
        images[at] = 100 * place["T"] + 10 * place["C"] + place["Z"]
    tifffile.imwrite(f"{axes}.ome.tif", images, ome=True, metadata={"axes": axes + "YX"}, photometric="minisblack")
    note(f"{axes}.ome.tif", np.stack([np.full((H, W), 100 * t + 12, np.uint16) for t in range(3)]), options="?channel=2&slice=3")

# --- as written by ome-types: images in another order than in the file
planes = "".join(f'<TiffData IFD="{i}" FirstT="{3 - i}" PlaneCount="1"/>' for i in range(4))
text = ('<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="Pixels:0" '
        f'DimensionOrder="XYCZT" Type="uint16" SignificantBits="16" SizeX="{W}" SizeY="{H}" SizeC="1" SizeZ="1" SizeT="4"><Channel ID="Channel:0:0"/>{planes}</Pixels></Image></OME>')
with tifffile.TiffWriter("types.ome.tif") as file:
    for i in range(4):
        file.write(grey16[i], photometric="minisblack", metadata=None, description=text if i == 0 else None)
note("types.ome.tif", grey16[::-1])

# --- ffmpeg and GStreamer write videos; ffmpeg and the input are the reference
def gstreamer(name, caps, data, encode):
    open("input.bin", "wb").write(data.tobytes())
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", "location=input.bin", "!", "rawvideoparse", f"width={W}", f"height={H}", f"format={caps}", "framerate=25/1", "!",
                    *encode.split(), "!", "filesink", f"location={name}"], check=True)


gstreamer("gst8.mkv", "gray8", grey8, "avenc_ffv1 ! matroskamux"); note("gst8.mkv", grey8)
gstreamer("gst16.mkv", "gray16-le", grey16, "avenc_ffv1 ! matroskamux"); note("gst16.mkv", grey16)
gstreamer("gst.png", "gray8", grey8[0], "pngenc"); note("gst.png", opencv("gst.png"))
gstreamer("gst.jpg", "rgb", soft, "jpegenc quality=95"); note("gst.jpg", opencv("gst.jpg"), options="?transfer=linear")

with open("list.txt", "w") as file:
    file.write("\n".join(listing) + "\n")
