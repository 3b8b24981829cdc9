// Which pixels had a sample at full scale within the last n frames; host.
#pragma once

#include "pipeline/stage.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace specklescope {

/// For each pixel in how many runs more, this one included, its window still holds a sample at full scale.
/// The largest of a row stands beside it, so that rows without any cost one look at the newest samples. Rows
/// may be worked on by several threads.
class SaturatedAges {
public:
    /// `window` frames, up to 65535.
    void prepare(const Shape& shape, int window);
    void reset();
    /// For samples that are taken in from now on.
    void set_window(int window) { window_ = static_cast<std::uint16_t>(window); }
    /// Takes in row y of the newest frame (threshold: saturation_threshold) if `newest` is not null; then
    /// pixels of the row whose window holds a saturated sample.
    std::uint64_t advance(int y, const std::byte* newest, std::optional<double> threshold);
    /// Ages of row y; null where all are 0.
    const std::uint16_t* row(int y) const;
    static std::size_t bytes(const Shape& shape) {
        return (shape.pixels() + static_cast<std::size_t>(shape.height)) * sizeof(std::uint16_t);
    }

private:
    Shape shape_;
    std::uint16_t window_ = 0;
    std::vector<std::uint16_t> ages_;
    std::vector<std::uint16_t> of_rows_;
};

} // namespace specklescope
