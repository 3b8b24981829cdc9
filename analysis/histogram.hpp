// How the values of a picture are distributed. A model: nothing of it draws.
#pragma once

#include "pipeline/image.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace specklescope {

/// The finite values of a sample of a picture's pixels (sample_values()), in order: counts between any two
/// values are two look-ups, so that a histogram follows a zoom or a dragged range without another pass.
class ValueSample {
public:
    /// About 5 ms, most of them for putting 65 536 values in order; the same memory is used again.
    void take(ConstHostView image);
    /// Of values read elsewhere, on a grid of `looked` pixels out of `pixels`. They need not be in order.
    void take(std::span<const float> values, std::size_t pixels);
    void clear();

    std::size_t size() const { return values_.size(); } ///< finite values
    /// Pixels of the picture that one of the sample stands for.
    double pixels_each() const {
        return looked_ > 0 ? static_cast<double>(pixels_) / static_cast<double>(looked_) : 0;
    }
    /// The nearest rank, 0…100, as percentile_range(); nothing of no value.
    std::optional<double> percentile(double percent) const;
    double share_below(double value) const; ///< of the finite values, 0…1; 0 of none
    double share_above(double value) const;
    /// Values in each of as many equal parts of [low, high] as there are bins; one on a border belongs to the
    /// upper part, `high` to the last.
    void count(double low, double high, std::span<std::uint32_t> bins) const;

private:
    std::vector<float> values_;
    std::size_t looked_ = 0, pixels_ = 0;
};

} // namespace specklescope
