#include "pipeline/image.hpp"

#include "base/error.hpp"

#include <cstring>

namespace specklescope {

std::string to_string(const Shape& shape) {
    return std::to_string(shape.width) + "×" + std::to_string(shape.height) + " " + to_string(shape.type) +
           (shape.channels == 3 ? " RGB" : "");
}

void check_shape(const Shape& shape, const std::string& what) {
    if (shape.width <= 0 || shape.height <= 0)
        throw RunError(what + " is " + std::to_string(shape.width) + "×" + std::to_string(shape.height) +
                       " pixels; both sides must be at least 1.");
    if (shape.width > kMaxSide || shape.height > kMaxSide || shape.bytes() > kMaxImageBytes)
        throw RunError(what + " claims " + std::to_string(shape.width) + "×" + std::to_string(shape.height) +
                       " pixels; at most " + std::to_string(kMaxSide) + " a side and " +
                       std::to_string(kMaxImageBytes >> 30) + " GiB in all are allowed.");
}

void copy_pixels(ConstHostView from, HostView to) {
    assert(from.shape == to.shape);
    const std::size_t bytes = from.shape.row_bytes();
    if (from.pitch == bytes && to.pitch == bytes) {
        std::memcpy(to.data, from.data, bytes * static_cast<std::size_t>(from.shape.height));
        return;
    }
    for (int y = 0; y < from.shape.height; ++y)
        std::memcpy(to.row(y), from.row(y), bytes);
}

} // namespace specklescope
