// The last n frames of an image with the running sums of every pixel; host.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/history.hpp"
#include "stages/temporal/simd/temporal_row.hpp"

#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace specklescope {

/// Bytes for frames of this shape: u8, u16 or f32, one channel.
HistoryBytes temporal_bytes(PixelType type, std::size_t pixels, int frames);

class TemporalWindow {
public:
    /// `frames` slots for frames of `shape`. Throws UsageError (naming `stage`, "stage temporal") if they do
    /// not fit into memory.
    void prepare(std::string_view stage, const Shape& shape, int frames);
    /// Row y for the inner loops.
    TemporalRow row(int y, const HistoryStep& step) const;
    const HistoryBytes& bytes() const { return bytes_; }

private:
    using Memory = hwy::AlignedFreeUniquePtr<std::byte[]>;

    Shape shape_;
    int frames_ = 0;
    std::size_t pitch_ = 0; ///< samples per row, in ring and sums
    HistoryBytes bytes_;
    Memory ring_, sums_;
};

// Pixels with a sample at full scale within the last n frames; host.

/// Per pixel, the number of further runs (including this one) in which its window contains a sample at full
/// scale. The maximum of each block of pixels is stored too, so that blocks without any need only a check of
/// the newest samples. Several threads may process rows.
class SaturatedAges {
public:
    /// `window`: frames, up to 65535.
    void prepare(const Shape& shape, int window);
    void reset();
    /// Applies to samples added from now on.
    void set_window(int window) { window_ = static_cast<std::uint16_t>(window); }
    /// Adds row y of the newest frame (threshold: saturation_threshold).
    void advance(int y, const std::byte* newest, std::optional<double> threshold);
    /// Number of pixels in row y whose window contains a saturated sample.
    std::uint64_t count(int y) const;
    /// True if an age in row y is not 0.
    bool any(int y) const;
    /// An image of u16.
    ConstHostView ages() const;

private:
    static constexpr int kBlock = 64;
    std::size_t first_pixel(int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(shape_.width);
    }
    std::size_t first_block(int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(blocks_);
    }

    Shape shape_;
    int blocks_ = 0; ///< in a row
    std::uint16_t window_ = 0;
    std::vector<std::uint16_t> ages_, of_blocks_;
};

} // namespace specklescope
