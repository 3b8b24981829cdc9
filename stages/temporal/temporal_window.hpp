// The last n frames of an image with the running sums of every pixel; host.
#pragma once

#include "stages/history.hpp"
#include "stages/temporal/simd/temporal_row.hpp"

#include <hwy/aligned_allocator.h>

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

} // namespace specklescope
