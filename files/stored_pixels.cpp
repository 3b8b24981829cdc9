#include "files/stored_pixels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace specklescope {

namespace {

using PixelLayout = StoredPixels::Layout;

void copy_swapped(const std::byte* from, std::size_t bytes, std::size_t size, std::byte* to) {
    if (size == 2) // vectorised
        for (std::size_t at = 0; at + 2 <= bytes; at += 2) {
            to[at] = from[at + 1];
            to[at + 1] = from[at];
        }
    else
        for (std::size_t at = 0; at + size <= bytes; at += size)
            std::reverse_copy(from + at, from + at + size, to + at);
}

void unpack_stored_row(const StoredPixels& pixels, const std::byte* from, const Shape& shape, std::byte* to) {
    const std::size_t size = pixel_bytes(pixels.type);
    const bool swap = (pixels.layout == PixelLayout::swapped) == (std::endian::native == std::endian::little);
    switch (pixels.layout) {
    case PixelLayout::bgr:
        for (std::size_t at = 0; at < shape.row_bytes(); at += 3)
            std::reverse_copy(from + at, from + at + 3, to + at);
        break;
    case PixelLayout::uyvy:
    case PixelLayout::yuyv:
        for (std::size_t x = 0; x < shape.row_bytes(); ++x)
            to[x] = from[2 * x + (pixels.layout == PixelLayout::uyvy ? 1 : 0)];
        break;
    default:
        if (swap && size > 1)
            copy_swapped(from, shape.row_bytes(), size, to);
        else
            std::memcpy(to, from, shape.row_bytes());
    }
}

} // namespace

std::size_t StoredPixels::bytes(std::size_t count) const {
    switch (layout) {
    case PixelLayout::packed:
        return packed_bytes(packing, bits, count);
    case PixelLayout::uyvy:
    case PixelLayout::yuyv:
        return 2 * count;
    default:
        return count * static_cast<std::size_t>(channels) * pixel_bytes(type);
    }
}

std::size_t stored_bytes(const StoredPixels& pixels, int width, int height, std::size_t padding) {
    const auto across = static_cast<std::size_t>(width), down = static_cast<std::size_t>(height);
    if (padding == 0)
        return pixels.bytes(across * down);
    return (pixels.bytes(across) + padding) * (down - 1) + pixels.bytes(across);
}

void unpack_frame(const StoredPixels& pixels, std::span<const std::byte> from, std::size_t padding,
                  HostView to) {
    const auto width = static_cast<std::size_t>(to.shape.width);
    const std::size_t pitch = pixels.bytes(width) + padding;
    for (int y = 0; y < to.shape.height; ++y) {
        const auto row = static_cast<std::size_t>(y);
        if (pixels.layout != PixelLayout::packed)
            unpack_stored_row(pixels, from.data() + row * pitch, to.shape, to.row(y));
        else if (padding == 0)
            unpack_samples(pixels.packing, pixels.bits, from, row * width, width,
                           to.as<std::uint16_t>().row(y));
        else
            unpack_samples(pixels.packing, pixels.bits, from.subspan(row * pitch), 0, width,
                           to.as<std::uint16_t>().row(y));
    }
}

} // namespace specklescope
