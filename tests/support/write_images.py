"""Writes images of every kind into the current folder, each with the bytes that a reader must return."""
import io
import os
import struct
import zlib

import numpy as np
import tifffile
from PIL import Image

rng = np.random.default_rng(20)
listing = []


def note(name, pixels):
    """pixels: frames × rows × columns [× 3], as returned by the reader."""
    pixels = np.ascontiguousarray(pixels)
    if pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[-1] == 3):
        pixels = pixels[None]
    channels = 3 if pixels.ndim == 4 else 1
    kind = {"uint8": "u8", "uint16": "u16", "float32": "f32"}[pixels.dtype.name]
    with open(name + ".expected", "wb") as file:
        file.write(pixels.astype(pixels.dtype.newbyteorder("<")).tobytes())
    listing.append(f"{name} {pixels.shape[0]} {pixels.shape[2]} {pixels.shape[1]} {channels} {kind}")


def random(shape, dtype):
    if dtype == np.float32:
        return rng.normal(0, 1e3, shape).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


# --- PNG, written by hand to control depth and interlacing
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(name, rows, width, height, depth, color, extra=b""):
    """rows: packed bytes of every row."""
    raw = b"".join(b"\0" + row for row in rows)
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    with open(name, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def png_of(name, array, color):
    depth = 8 * array.dtype.itemsize
    png(name, [row.astype(array.dtype.newbyteorder(">")).tobytes() for row in array], array.shape[1], array.shape[0], depth, color)


for depth, dtype in ((8, np.uint8), (16, np.uint16)):
    grey = random((13, 17), dtype)
    png_of(f"grey{depth}.png", grey, 0)
    note(f"grey{depth}.png", grey)
    rgb = random((13, 17, 3), dtype)
    png_of(f"rgb{depth}.png", rgb, 2)
    note(f"rgb{depth}.png", rgb)
    rgba = random((13, 17, 4), dtype)
    png_of(f"rgba{depth}.png", rgba, 6)
    note(f"rgba{depth}.png", rgba[..., :3])
    grey_alpha = random((13, 17, 2), dtype)
    png_of(f"greyalpha{depth}.png", grey_alpha, 4)
    note(f"greyalpha{depth}.png", grey_alpha[..., 0])
for depth in (1, 2, 4):
    values = rng.integers(0, 1 << depth, (13, 17), np.uint8)
    bits = np.unpackbits(values[..., None], axis=-1)[..., 8 - depth :].reshape(13, -1)
    png(f"grey{depth}.png", [row.tobytes() for row in np.packbits(bits, axis=1)], 17, 13, depth, 0)
    note(f"grey{depth}.png", values * np.uint8(255 // ((1 << depth) - 1)))
colors = random((256, 3), np.uint8)
index = random((13, 17), np.uint8)
png("palette.png", [row.tobytes() for row in index], 17, 13, 8, 3, chunk(b"PLTE", colors.tobytes()) + chunk(b"tRNS", bytes(range(256))))
note("palette.png", colors[index])
# A gamma chunk must not touch the pixels.
png("gamma.png", [row.tobytes() for row in index], 17, 13, 8, 0, chunk(b"gAMA", struct.pack(">I", 100000)))
note("gamma.png", index)
one = random((1, 1), np.uint16)
png_of("one.png", one, 0)
note("one.png", one)

big = random((256, 200), np.uint8)
png_of("big_grey8.png", big, 0)
note("big_grey8.png", big)


def adam7(name, array):
    rows = []
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        part = array[y0::dy, x0::dx]
        rows += [b"\0" + row.tobytes() for row in part if part.size]
    head = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], 8, 0, 0, 0, 1)
    with open(name, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b""))


adam7("big_interlaced.png", big)
note("big_interlaced.png", big)
adam7("tall_interlaced.png", np.zeros((70000, 1), np.uint8))
png("huge.png", [b""], 100000, 100000, 8, 0)
png("zero.png", [b""], 0, 10, 8, 0)

# --- JPEG: lossy, so the reference is another decoder on the same library
smooth = np.clip(128 + 100 * np.sin(np.arange(200) / 17.0)[None] * np.cos(np.arange(256) / 23.0)[:, None] + rng.normal(0, 6, (256, 200)), 0, 255).astype(np.uint8)
color = np.stack([smooth, smooth[::-1], smooth[:, ::-1]], -1)
for name, array, options in (
    ("big_grey.jpg", smooth, {}),
    ("big_progressive.jpg", smooth, {"progressive": True}),
    ("color.jpg", color, {}),
    ("color444.jpeg", color, {"subsampling": 0}),
):
    Image.fromarray(array).save(name, "JPEG", quality=92, **options)
    note(name, np.asarray(Image.open(name)))
Image.fromarray(color).convert("CMYK").save("cmyk.jpg", "JPEG")
Image.fromarray(np.tile(smooth, (8, 10))).save("large_progressive.jpg", "JPEG", progressive=True) # 2000×2048

# --- TIFF ------------------------------------------------------------------------------------------------------
for dtype in (np.uint8, np.uint16, np.float32):
    short = np.dtype(dtype).name
    grey = random((61, 47), dtype)
    rgb = random((61, 47, 3), dtype)
    for order, mark in (("little", "<"), ("big", ">")):
        tifffile.imwrite(f"{short}_{order}.tif", grey, byteorder=mark, photometric="minisblack")
        note(f"{short}_{order}.tif", grey)
    tifffile.imwrite(f"{short}_bigtiff.tif", grey, bigtiff=True, photometric="minisblack")
    note(f"{short}_bigtiff.tif", grey)
    tifffile.imwrite(f"{short}_rgb.tif", rgb, photometric="rgb", rowsperstrip=7)
    note(f"{short}_rgb.tif", rgb)
    tifffile.imwrite(f"{short}_planes.tif", np.moveaxis(rgb, -1, 0), photometric="rgb", planarconfig="separate", rowsperstrip=9)
    note(f"{short}_planes.tif", rgb)
    tifffile.imwrite(f"{short}_tiles.tif", grey, tile=(16, 32), photometric="minisblack")
    note(f"{short}_tiles.tif", grey)
    tifffile.imwrite(f"{short}_tiles_planes.tif", np.moveaxis(rgb, -1, 0), tile=(32, 16), photometric="rgb", planarconfig="separate", byteorder=">")
    note(f"{short}_tiles_planes.tif", rgb)
    tifffile.imwrite(f"{short}_deflate.tif", grey, compression="zlib", rowsperstrip=10, photometric="minisblack")
    note(f"{short}_deflate.tif", grey)
    if np.dtype(dtype).kind == "u":
        rgba = random((61, 47, 4), dtype)
        tifffile.imwrite(f"{short}_rgba.tif", rgba, photometric="rgb", extrasamples=["unassalpha"])
        note(f"{short}_rgba.tif", rgba[..., :3])
        tifffile.imwrite(f"{short}_inverse.tif", grey, photometric="miniswhite")
        note(f"{short}_inverse.tif", np.iinfo(dtype).max - grey)
grey = random((61, 47), np.uint8)
for scheme in ("tiff_lzw", "packbits", "tiff_adobe_deflate"):
    Image.fromarray(grey).save(f"{scheme}.tif", compression=scheme)
    note(f"{scheme}.tif", grey)
Image.fromarray(grey > 127).save("bits.tif")
note("bits.tif", np.where(grey > 127, 255, 0).astype(np.uint8))
Image.fromarray(grey > 127).save("group4.tif", compression="group4")
note("group4.tif", np.where(grey > 127, 255, 0).astype(np.uint8))
paletted = Image.fromarray(index)
paletted.putpalette(colors.tobytes())
paletted.save("palette.tif")
note("palette.tif", colors[index])
Image.fromarray(color).save("jpeg_inside.tif", compression="jpeg", quality=95)
note("jpeg_inside.tif", np.asarray(Image.open("jpeg_inside.tif").convert("RGB")))
# Pages of luma and colour differences: each a directory, then a whole JPEG image as its only strip.
shown, begin = [], 8
with open("jpeg_pages.tif", "wb") as file:
    file.write(struct.pack("<2sHI", b"II", 42, begin))
    for page, array in enumerate((color, color[::-1], 255 - color)):
        held = io.BytesIO()
        Image.fromarray(array).save(held, "JPEG", quality=92)
        shown.append(np.asarray(Image.open(held)))
        code = held.getvalue() + b"\0" * (len(held.getvalue()) % 2)
        bits = begin + 2 + 11 * 12 + 4
        tags = ((256, 4, 1, 200), (257, 4, 1, 256), (258, 3, 3, bits), (259, 3, 1, 7), (262, 3, 1, 6), (273, 4, 1, bits + 6),
                (277, 3, 1, 3), (278, 4, 1, 256), (279, 4, 1, len(code)), (284, 3, 1, 1), (530, 3, 2, 2 | 2 << 16))
        begin = bits + 6 + len(code)
        file.write(struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags))
        file.write(struct.pack("<I3H", begin if page < 2 else 0, 8, 8, 8) + code)
note("jpeg_pages.tif", np.stack(shown))
movie = random((10, 64, 96), np.uint16)
tifffile.imwrite("movie_together.tif", movie, photometric="minisblack")
note("movie_together.tif", movie)
for name, options in (("movie.tif", {}), ("movie_big.tif", {"bigtiff": True})):
    with tifffile.TiffWriter(name, **options) as writer:
        for page in movie:
            writer.write(page, photometric="minisblack", metadata=None, contiguous=False)
    note(name, movie)
pages = [Image.fromarray(page) for page in random((10, 64, 96), np.uint8)]
pages[0].save("movie_lzw.tif", save_all=True, append_images=pages[1:], compression="tiff_lzw")
note("movie_lzw.tif", np.stack([np.asarray(page) for page in pages]))
with tifffile.TiffWriter("previews.tif") as writer: # a reduced copy after each page is not a frame
    for page in movie[:3]:
        writer.write(page, photometric="minisblack", metadata=None)
        writer.write(page[::4, ::4], photometric="minisblack", metadata=None, subfiletype=1)

tifffile.imwrite("complex.tif", np.ones((5, 5), np.complex64))
tifffile.imwrite("five.tif", random((5, 5, 5), np.uint8), photometric="minisblack", planarconfig="contig")
Image.fromarray(color).convert("CMYK").save("cmyk.tif")


def bare_tiff(name, width, height):
    """A header that claims an image, and no pixels."""
    tags = ((256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1), (278, 4, 1), (279, 4, width))
    with open(name, "wb") as file:
        file.write(struct.pack("<2sHIH", b"II", 42, 8, len(tags)))
        for tag, kind, value in tags:
            file.write(struct.pack("<HHII", tag, kind, 1, value))
        file.write(struct.pack("<I", 0))


bare_tiff("huge.tif", 100000, 100000)
bare_tiff("zero.tif", 0, 10)
bare_tiff("hollow.tif", 60000, 60000)

# 70 000 pages of one pixel: each a directory followed by its pixel, linked by hand.
size = 2 + 9 * 12 + 4
with open("pages.tif", "wb") as file:
    file.write(struct.pack("<2sHI", b"II", 42, 8))
    for page in range(70000):
        at = 8 + page * (size + 2)
        tags = ((256, 4, 1), (257, 4, 1), (258, 3, 16), (259, 3, 1), (262, 3, 1), (273, 4, at + size), (277, 3, 1), (278, 4, 1), (279, 4, 2))
        file.write(struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", t, k, 1, v) for t, k, v in tags))
        file.write(struct.pack("<IH", at + size + 2 if page < 69999 else 0, page % 65536))

os.makedirs("folder")
for number in (10, 2, 1):
    png_of(f"folder/img{number}.png", np.full((5, 6), number, np.uint8), 0)
png_of("folder/last.PNG", random((7, 9, 3), np.uint8), 2)
png_of("folder/.hidden.png", random((7, 9), np.uint8), 0)
with open("folder/notes.txt", "w") as file:
    file.write("not an image")
os.makedirs("numbers")
for name, value in (("a_007", 7), ("a_008", 8), ("a_009", 9), ("a_011", 11), ("a_8", 80)):
    tifffile.imwrite(f"numbers/{name}.tif", np.full((4, 4), value, np.uint8), photometric="minisblack")

with open("list.txt", "w") as file:
    file.write("\n".join(listing) + "\n")
