// Distribution of an image's values. Only the model; drawing is elsewhere.
#pragma once

#include "pipeline/image.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace specklescope {

/// Sorted finite values of a sample of an image's pixels (sample_values()). Counts between two values are two
/// look-ups, so that a histogram follows a zoom or a dragged range without another pass.
class ValueSample {
public:
    /// Takes about 5 ms, mostly for sorting 65 536 values; memory is reused.
    void take(ConstHostView image);
    /// Takes values from a grid of `looked` out of `pixels` pixels, in any order.
    void take(std::span<const float> values, std::size_t pixels);
    void clear();

    std::size_t size() const { return values_.size(); } ///< finite values
    /// Image pixels per sampled pixel.
    double pixels_each() const {
        return looked_ > 0 ? static_cast<double>(pixels_) / static_cast<double>(looked_) : 0;
    }
    /// Nearest rank, 0…100, like percentile_range(); nothing without values.
    std::optional<double> percentile(double percent) const;
    double share_below(double value) const; ///< of the finite values, 0…1; 0 without values
    double share_above(double value) const;
    /// Number of values in equal parts of [low, high], one per bin; a value on a border belongs to the upper
    /// part, `high` to the last.
    void count(double low, double high, std::span<std::uint32_t> bins) const;

private:
    std::vector<float> values_;
    std::size_t looked_ = 0, pixels_ = 0;
};

} // namespace specklescope
