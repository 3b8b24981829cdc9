// Exposures that a camera takes in turn, set by the program between frames.
#pragma once

#include "sources/aravis/camera.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// A frame with chunk data states its exposure and is used as it is. Without, frames that the camera may have
/// begun before it took the new exposure are discarded. One thread only.
class CameraExposures {
public:
    CameraExposures() = default;
    /// `settle`: frames discarded after the camera has acknowledged an exposure, besides those received until
    /// then.
    CameraExposures(std::vector<double> ms, int settle) : wanted_(std::move(ms)), settle_(settle) {}

    bool any() const { return !wanted_.empty(); }
    double longest_ms() const { return longest_; }

    /// Tries each exposure and leaves the first set, before the camera starts. Throws UsageError if the
    /// camera does not take one of them.
    void begin(Camera& camera) {
        taken_.clear();
        for (const double ms : wanted_) {
            const double taken = camera.take_exposure(ms);
            if (!is_same(taken, ms, kTaken))
                throw UsageError("source aravis: " + camera.name() + " takes an exposure of " +
                                 to_string(ParamValue(taken)) + " ms for " + to_string(ParamValue(ms)) +
                                 " ms. Choose exposures that it has, and a frame rate with time for them.");
            taken_.push_back(taken);
            longest_ = std::max(longest_, taken);
        }
        now_ = 0;
        settling_ = waited_ = 0;
        reached_ = false;
        camera.take_exposure(wanted_[0]);
    }

    /// Exposure of a received frame in ms; nothing: it is to be discarded. `stated`: by its chunk data.
    std::optional<double> of_frame(std::optional<double> stated) {
        ++waited_;
        if (stated) {
            reached_ = is_same(*stated, taken_[now_], kSame) || waited_ > kMostWaits;
            return stated;
        }
        if (settling_ > 0) {
            --settling_;
            return std::nullopt;
        }
        reached_ = true;
        return taken_[now_];
    }

    /// Sets the next exposure if a frame had the present one. Call after each frame. Throws RunError.
    void go_on(Camera& camera) {
        if (!std::exchange(reached_, false) || wanted_.size() < 2)
            return;
        now_ = (now_ + 1) % wanted_.size();
        try {
            taken_[now_] = camera.take_exposure(wanted_[now_]);
        } catch (const UsageError& error) { // it took it before: the camera does not answer
            throw RunError(error.what());
        }
        settling_ = camera.received() + settle_;
        waited_ = 0;
    }

private:
    static constexpr double kTaken = 0.05; ///< relative; cameras have steps
    static constexpr double kSame = 0.01;
    static constexpr int kMostWaits = 100; ///< frames with another stated exposure
    static bool is_same(double a, double b, double part) { return std::abs(a - b) <= part * std::max(a, b); }

    std::vector<double> wanted_, taken_; ///< ms, as asked and as the camera rounds them
    int settle_ = 0;
    double longest_ = 0;
    std::size_t now_ = 0;
    int settling_ = 0; ///< frames still to be discarded
    int waited_ = 0;   ///< frames since the exposure was set
    bool reached_ = false;
};

} // namespace specklescope
