"""Writes images as other programs do, and NAME.expected with the bytes that a reader must give. In list.txt each
has frames, width, height, channels, type, full scale."""
import struct

import numpy as np
import tifffile
from PIL import Image

rng = np.random.default_rng(29)
listing = []
H, W = 48, 62


def note(name, pixels, full_scale):
    pixels = np.ascontiguousarray(pixels)
    if pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[-1] == 3):
        pixels = pixels[None]
    channels = 3 if pixels.ndim == 4 else 1
    kind = {"uint8": "u8", "uint16": "u16", "float32": "f32"}[pixels.dtype.name]
    pixels.astype(pixels.dtype.newbyteorder("<")).tofile(name + ".expected")
    listing.append(f"{name} {len(pixels)} {pixels.shape[2]} {pixels.shape[1]} {channels} {kind} {full_scale:.0f}")


def write(name, pixels, expected, full_scale, **options):
    options.setdefault("photometric", "minisblack")
    tifffile.imwrite(name, pixels, **options)
    note(name, expected, full_scale)


# --- sample types
for kind in ("int8", "int16", "int32", "uint32", "int64", "uint64"):
    info = np.iinfo(kind)
    pixels = rng.integers(info.min, info.max, (3, H, W), kind, endpoint=True)
    for order in "<>":
        write(f"{kind}{'le' if order == '<' else 'be'}.tif", pixels, pixels.astype(np.float32), info.max, byteorder=order)
    write(f"{kind}_deflate.tif", pixels, pixels.astype(np.float32), info.max, compression="zlib", predictor=info.bits <= 32, tile=(16, 16))
for kind in ("float16", "float64"):
    pixels = rng.normal(0, 1000, (3, H, W)).astype(kind)
    pixels[0, 0, :6] = np.array([np.inf, -np.inf, np.nan, 0, 6e-8, -65504], kind)
    for order in "<>":
        write(f"{kind}{'le' if order == '<' else 'be'}.tif", pixels, pixels.astype(np.float32), 0, byteorder=order)
planes = rng.normal(0, 1, (H, W, 3))
write("float64_planes.tif", np.moveaxis(planes, -1, 0), planes.astype(np.float32), 0, photometric="rgb", planarconfig="separate")
inverse = rng.integers(-32768, 32767, (H, W), np.int16, endpoint=True)
write("int16_inverse.tif", inverse, 32767 - inverse.astype(np.float32), 32767, photometric="miniswhite")


# --- samples of 2…14 bits without gaps, by hand: one big integer per row
def packed_row(row, bits):
    text = "".join(format(int(v), f"0{bits}b") for v in row)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big")


def packed_tiff(name, pixels, bits, order="<", photometric=1, extra=()):
    data = b"".join(packed_row(row, bits) for row in pixels)
    tags = sorted([(256, 4, pixels.shape[1]), (257, 4, pixels.shape[0]), (258, 3, bits), (259, 3, 1), (262, 3, photometric),
                   (273, 4, 8), (277, 3, 1), (278, 4, pixels.shape[0]), (279, 4, len(data)), *extra])
    with open(name, "wb") as file:
        file.write((b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, 8 + len(data) + len(data) % 2))
        file.write(data + b"\0" * (len(data) % 2))
        file.write(struct.pack(order + "H", len(tags)))
        for tag, kind, value in tags:
            file.write(struct.pack(order + ("HHIHH" if kind == 3 else "HHII"), tag, kind, 1, value, *([0] if kind == 3 else [])))
        file.write(struct.pack(order + "I", 0))


for bits in (2, 4, 6, 9, 10, 11, 12, 13, 14, 15):
    pixels = rng.integers(0, 1 << bits, (23, 61)).astype(np.uint8 if bits <= 8 else np.uint16)
    for order in "<>":
        name = f"packed{bits}{'le' if order == '<' else 'be'}.tif"
        packed_tiff(name, pixels, bits, order)
        note(name, pixels, (1 << bits) - 1)
    packed_tiff(f"packed{bits}_inverse.tif", pixels, bits, photometric=0)
    note(f"packed{bits}_inverse.tif", (1 << bits) - 1 - pixels, (1 << bits) - 1)

# --- images after the first of one directory: we swap their bytes, not libtiff
for kind, full_scale in (("uint16", 65535), ("float32", 0), ("int32", 2**31 - 1), ("float64", 0), ("uint64", 2**64 - 1)):
    pixels = rng.integers(0, 30000, (4, H, W)).astype(kind)
    for order in "<>":
        with tifffile.TiffWriter(f"one_directory_{kind}{'le' if order == '<' else 'be'}.tif", byteorder=order) as file:
            file.write(pixels, photometric="minisblack", truncate=True)
        note(f"one_directory_{kind}{'le' if order == '<' else 'be'}.tif", pixels if kind == "uint16" else pixels.astype(np.float32), full_scale)

# --- ImageJ stores signed samples with 32768 added, and states so in its calibration
signed = rng.integers(-2000, 2000, (3, H, W)).astype(np.int32)
write("signed_imagej.tif", (signed + 32768).astype(np.uint16), signed.astype(np.float32), 32767, photometric="minisblack", metadata=None,
      description="ImageJ=1.53t\nimages=3\nframes=3\ncf=0\nc0=-32768.0\nc1=1.0\nvunit=Gray Value\n")
write("density_imagej.tif", grey_values := rng.integers(0, 4000, (3, H, W)).astype(np.uint16), grey_values, 65535, metadata=None,
      description="ImageJ=1.53t\nimages=3\nframes=3\ncf=0\nc0=1.0\nc1=0.5\nvunit=OD\n")

# --- palettes
x = np.arange(256)
grey = rng.integers(0, 256, (3, H, W), np.uint8)
colors = rng.integers(0, 256, (3, 256))
scale = np.stack([np.clip(x * 2, 0, 255), np.clip(x * 2 - 200, 0, 255), np.clip(128 - abs(x - 60) * 2, 0, 255)])
for name, entries in (("palette16", colors * 257), ("palette8", colors)):
    write(name + ".tif", grey[0], np.moveaxis(colors, 0, -1)[grey[0]].astype(np.uint8), 255, photometric="palette", colormap=entries.astype(np.uint16))
write("grey_palette8.tif", grey[0], grey[0], 255, photometric="palette", colormap=np.stack([x] * 3).astype(np.uint16))
write("one_scale.tif", grey[0], np.moveaxis(scale, 0, -1)[grey[0]].astype(np.uint8), 255, photometric="palette", colormap=(scale * 257).astype(np.uint16))
write("lut_stack.tif", grey, grey, 255, photometric="palette", colormap=(scale * 257).astype(np.uint16))
write("lut_imagej.tif", grey[0], grey[0], 255, photometric="palette", colormap=(colors * 257).astype(np.uint16), description="ImageJ=1.54f\nmin=0.0\nmax=255.0\n", metadata=None)
few = Image.fromarray(grey[0] // 16, "P")
few.putpalette(np.moveaxis(colors, 0, -1)[:16].astype(np.uint8).tobytes())
few.save("few_colors.tif")
note("few_colors.tif", np.asarray(few.convert("RGB")), 255)

# --- orientation
turns = {1: lambda a: a, 2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1], 4: lambda a: a[::-1],
         5: lambda a: a.swapaxes(0, 1), 6: lambda a: np.rot90(a, -1), 7: lambda a: a[::-1, ::-1].swapaxes(0, 1), 8: lambda a: np.rot90(a)}
picture = rng.integers(0, 65535, (H, W), np.uint16)
rgb = rng.integers(0, 255, (H, W, 3), np.uint8)
for number, turn in turns.items():
    extra = [(274, 3, 1, number, True)]
    write(f"turned{number}.tif", picture, turn(picture), 65535, extratags=extra, rowsperstrip=5)
    write(f"turned{number}_rgb.tif", rgb, turn(rgb), 255, photometric="rgb", extratags=extra)
    exif = Image.Exif()
    exif[274] = number
    smooth = Image.fromarray(np.add.outer(np.arange(H), np.arange(W)).astype(np.uint8))
    smooth.save(f"turned{number}.jpg", exif=exif, quality=95)
    note(f"turned{number}.jpg", turn(np.asarray(Image.open(f"turned{number}.jpg"))), 255)
    Image.fromarray(rgb).save(f"turned{number}.png", exif=exif)
    note(f"turned{number}.png", turn(rgb), 255)

# --- full scales other than the type's
bright = np.minimum(rng.exponential(1500, (6, H, W)), 4095).astype(np.uint16)
dim = rng.integers(100, 3000, (6, H, W)).astype(np.uint16)
write("pile12.tif", bright, bright, 4095)
write("pile12_left.tif", bright << 4, bright << 4, 4095 << 4)
write("pile10.tif", bright >> 2, bright >> 2, 1023)
brighter = np.minimum(rng.exponential(6000, (2, H, W)), 16383).astype(np.uint16)
write("pile14.tif", brighter, brighter, 16383)
write("pile12_signed.tif", bright.astype(np.int16), bright.astype(np.float32), 4095)
write("no_pile.tif", dim, dim, 65535)
write("max_tag.tif", dim, dim, 4095, extratags=[(281, 3, 1, 4095, False)])
write("max_tag_of_data.tif", dim, dim, 65535, extratags=[(281, 3, 1, int(dim.max()), False)])
write("max_tag_left.tif", bright << 4, bright << 4, 4095 << 4, extratags=[(281, 3, 1, 4095, False)])
write("max_tag_wrong.tif", dim * 7, dim * 7, 65535, extratags=[(281, 3, 1, 1023, False)])
write("bits.ome.tif", dim, dim, 4095, metadata={"axes": "TYX", "SignificantBits": 12})

# --- stacks: one directory for all images, unknown axes, several OME images, compressions
for kind in ("uint8", "uint16", "int32", "float32", "float64"):
    pixels = rng.integers(0, 250, (4, H, W)).astype(kind) if kind == "uint8" else (rng.random((4, H, W)) * 65000).astype(kind)
    expected = pixels if kind in ("uint8", "uint16") else pixels.astype(np.float32)
    top = {"uint8": 255, "uint16": 65535, "int32": 2**31 - 1}.get(kind, 0)
    for order in "<>":
        write(f"one_ifd_{kind}{'le' if order == '<' else 'be'}.tif", pixels, expected, top, truncate=True, byteorder=order)
stack = rng.integers(0, 65000, (4, 3, 2, H, W)).astype(np.uint16)
write("no_axes.tif", stack, stack.reshape(-1, H, W), 65535)
write("positions.tif", stack[:, :, 0], stack[:, :, 0].reshape(-1, H, W), 65535, metadata={"axes": "PTYX"})
write("wrong_hyperstack.tif", stack[:, 0, 0], stack[:, 0, 0], 65535, metadata=None, description="ImageJ=1.54f\nimages=4\nchannels=2\nslices=1\nframes=3\nhyperstack=true\n")
with tifffile.TiffWriter("two_images.ome.tif", ome=True) as file:
    for part in (stack[:, 0, 0], stack[:3, 1, 1]):
        file.write(part, metadata={"axes": "TYX"}, photometric="minisblack")
note("two_images.ome.tif", stack[:, 0, 0], 65535)
with tifffile.TiffWriter("pyramid.ome.tif", bigtiff=True) as file:
    file.write(stack[:, 0, 0], subifds=1, tile=(16, 16), photometric="minisblack", metadata={"axes": "TYX"})
    file.write(stack[:, 0, 0, ::2, ::2], subfiletype=1, tile=(16, 16), photometric="minisblack")
note("pyramid.ome.tif", stack[:, 0, 0], 65535)
for order in "<>":
    name = f"big{'le' if order == '<' else 'be'}.btf"
    write(name, stack[:, 0, 0], stack[:, 0, 0], 65535, bigtiff=True, byteorder=order)
for method in ("lzw", "zlib", "packbits", "lzma", "zstd"):
    try:
        write(f"by_{method}.tif", stack[:, 0, 0], stack[:, 0, 0], 65535, compression=method)
    except (ImportError, ValueError, KeyError):
        pass  # a compression that this tifffile cannot write

# --- PNG: palettes, interlaced and transparent images of other writers
for bits in (1, 2, 4, 8):
    few = Image.fromarray(grey[0] >> (8 - bits), "P")
    few.putpalette(rng.integers(0, 256, 3 << bits).astype(np.uint8).tobytes())
    few.save(f"palette{bits}.png", bits=bits)
    note(f"palette{bits}.png", np.asarray(few.convert("RGB")), 255)
ramp = Image.fromarray(grey[0], "P")
ramp.putpalette(np.repeat(255 - x, 3).astype(np.uint8).tobytes())
ramp.save("grey_palette.png")
note("grey_palette.png", 255 - grey[0], 255)
Image.fromarray(np.dstack([grey[0], grey[1]]), "LA").save("grey_alpha.png")
note("grey_alpha.png", grey[0], 255)
Image.fromarray(np.dstack([rgb, grey[1]])).save("alpha.png")
note("alpha.png", rgb, 255)
Image.fromarray(grey[0] > 99).save("bits.png")
note("bits.png", (grey[0] > 99) * np.uint8(255), 255)

with open("list.txt", "w") as file:
    file.write("\n".join(listing) + "\n")
