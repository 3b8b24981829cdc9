// The field of each frame, from the frame's number alone.
#pragma once

#include <cstdint>
#include <vector>

namespace specklescope {

/// The field at the start of frame k is an Ornstein–Uhlenbeck process with correlation e^{−|Δt|/τc}, built
/// from independent random fields, one per frame number: a frame whose number is a multiple of H = 2^levels
/// has its own, where H frames are so long that nothing is remembered. Every frame halfway between two known
/// ones is their conditional mean plus its own field times the conditional deviation (a bridge), until all
/// frames are known. Frame k thus takes about log₂(6τc·rate) steps from any state, so that seeks are exact
/// and nothing repeats. All correlation times share the random fields: neighbouring pixels of different speed
/// keep their speckle.
class Evolution {
public:
    /// `rates` (1/s) are 1/τc of each class of pixels, > 0, or 0 for a class that does not move.
    Evolution(std::vector<double> rates, double interval_s);

    /// One random field with its weight in the fields at the start and at the end of an exposure, per class.
    struct Term {
        std::uint64_t key = 0; ///< names the random field
        std::vector<double> start, end;
    };
    /// The terms of frame `number` exposed for `exposure_s` ≤ the interval.
    std::vector<Term> terms(std::uint64_t number, double exposure_s) const;

    static constexpr std::uint64_t kStill = ~std::uint64_t{0}; ///< key of the field that does not change

private:
    std::vector<double> rates_;
    double interval_;
    int levels_ = 0;
};

} // namespace specklescope
