#include "sources/synthetic/mixed_frames.hpp"

#include "base/long_work.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

constexpr std::size_t kBudget = std::size_t{144} << 20;
constexpr std::size_t kFewest = 6, kMost = 48;
constexpr int kBand = 64; ///< rows from one frame

} // namespace

MixedFrames::MixedFrames(SimulatedScene& scene) : scene_(scene) {
    const std::size_t bytes = scene.shape().bytes();
    phases_.resize(std::clamp(kBudget / bytes, kFewest, kMost));
    // The golden ratio spreads the first few over the heartbeat as evenly as all of them.
    for (std::size_t i = 0; i < phases_.size(); ++i)
        phases_[i] = std::fmod(static_cast<double>(i) * 0.6180339887498949, 1.0);
    fill_up(pixels_, bytes * phases_.size(), std::byte{0}, "making room for the simulated scene");
}

void MixedFrames::make(double interval_s) {
    constexpr std::uint64_t kApart = std::uint64_t{1} << 32; // frames far apart do not correlate
    std::byte* to = pixels_.data() + ready_ * scene_.shape().bytes();
    scene_.render({ready_ * kApart, phases_[ready_] / kPulseRate, interval_s}, {to, scene_.shape()});
    ++ready_;
}

std::size_t MixedFrames::choose(double phase, std::uint64_t dice) const {
    const std::size_t start = dice % ready_;
    if (!scene_.pulses())
        return start;
    // One of the frames within half a twelfth of a beat, or the nearest.
    std::size_t best = start;
    double best_far = 1;
    for (std::size_t k = 0; k < ready_; ++k) {
        const std::size_t i = (start + k) % ready_;
        const double apart = std::abs(phases_[i] - phase);
        const double far = std::max(std::min(apart, 1 - apart), 1.0 / 24);
        if (far < best_far) {
            best = i;
            best_far = far;
        }
    }
    return best;
}

void MixedFrames::compose(std::uint64_t number, double seconds, HostView to) const {
    const double beats = seconds * kPulseRate;
    const std::uint64_t stream = random_bits(0x6d6978, number);
    const Shape& shape = scene_.shape();
    // Borders of bands move from frame to frame, so that seams are not visible.
    int y = -static_cast<int>(stream % kBand);
    for (std::uint64_t band = 0; y < shape.height; ++band, y += kBand) {
        const std::size_t chosen = choose(beats - std::floor(beats), random_bits(stream, band));
        const ConstHostView from{pixels_.data() + chosen * shape.bytes(), shape};
        const int first = std::max(0, y);
        Shape rows = shape;
        rows.height = std::min(shape.height, y + kBand) - first;
        copy_pixels({from.row(first), rows, from.pitch}, {to.row(first), rows, to.pitch});
    }
}

} // namespace specklescope
