// Frames mixed from a set of computed ones, as fast as a copy.
#pragma once

#include "sources/synthetic/simulated_scene.hpp"

#include <vector>

namespace specklescope {

/// Bands of rows from up to 48 frames, each of an independent moment near the wanted phase of the heartbeat.
/// Single frames are right; correlation between frames is lost, and a mean of many frames does not become
/// smoother than one of the set.
class MixedFrames {
public:
    explicit MixedFrames(SimulatedScene& scene);
    bool complete() const { return ready_ == phases_.size(); }
    /// Computes the next frame of the set.
    void make(double interval_s);
    /// Frame `number` at `seconds`, from the frames that are ready (at least one).
    void compose(std::uint64_t number, double seconds, HostView to) const;

private:
    std::size_t choose(double phase, std::uint64_t dice) const;

    SimulatedScene& scene_;
    std::vector<double> phases_; ///< of each frame
    std::vector<std::byte> pixels_;
    std::size_t ready_ = 0;
};

} // namespace specklescope
