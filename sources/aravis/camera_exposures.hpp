// Exposures that a camera takes in turn, set by the program between frames.
#pragma once

#include "sources/aravis/camera.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// The camera's clock at a moment of this computer's, from frames: each was stamped after the camera was
/// started and before it arrived.
class StampClock {
public:
    /// Call before the camera starts. A camera that waits for triggers may begin at any time.
    void start(std::int64_t here, bool triggered) {
        *this = {};
        if (!triggered)
            started_ = here;
    }
    void add(std::int64_t stamp, std::int64_t arrival) {
        const std::int64_t difference = arrival - stamp;
        if (frames_++ % kFrames == 0)
            before_ = std::exchange(now_, difference);
        now_ = std::min(now_, difference);
        if (frames_ == 1 && started_)
            least_possible_ = *started_ - stamp;
        if (frames_ <= kFrames && least_possible_)
            slack_ = std::clamp(least() - *least_possible_, std::int64_t{0}, kMostSlack);
    }
    /// The camera's clock was set.
    void set() {
        frames_ = 0;
        started_.reset();
        least_possible_.reset();
    }
    /// Frames with a later stamp began after this moment.
    std::optional<std::int64_t> at(std::int64_t here) const {
        return frames_ > 0 ? std::optional(here - least() + slack_) : std::nullopt;
    }

private:
    static constexpr std::uint64_t kFrames = 1024;         ///< the clocks drift against each other
    static constexpr std::int64_t kMostSlack = 50'000'000; ///< ns; some cameras start slowly
    /// The clocks' difference and the shortest delay of the last frames.
    std::int64_t least() const { return frames_ > kFrames ? std::min(now_, before_) : now_; }

    std::optional<std::int64_t> started_, least_possible_;
    std::int64_t now_ = 0, before_ = 0, slack_ = 0;
    std::uint64_t frames_ = 0;
};

/// A received frame.
struct StampedFrame {
    std::optional<std::int64_t> stamp; ///< on the camera's clock, ns
    std::int64_t arrival = 0;          ///< on this computer's clock, ns
    bool clock_set = false;            ///< the camera's clock was set before it
};

/// A frame with chunk data states its exposure and is used as it is. Without, frames are discarded that the
/// camera may have begun before it took the new exposure: by their time stamps, and some more. One thread
/// only.
class CameraExposures {
public:
    CameraExposures() = default;
    /// `settle`: frames discarded that begin after the camera has acknowledged an exposure.
    CameraExposures(std::vector<double> ms, int settle) : wanted_(std::move(ms)), settle_(settle) {}

    bool any() const { return !wanted_.empty(); }
    double longest_ms() const { return longest_; }

    /// Tries each exposure and leaves the first set, before the camera starts. Throws UsageError if the
    /// camera does not take one of them.
    void begin(AravisCamera& camera, bool triggered) {
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
        set_at_.reset();
        reached_ = false;
        camera.take_exposure(wanted_[0]);
        clock_.start(now(), triggered);
    }

    /// Exposure of a received frame in ms; nothing: it is to be discarded. `stated`: by its chunk data.
    std::optional<double> of_frame(std::optional<double> stated, const StampedFrame& frame) {
        ++waited_;
        if (frame.clock_set)
            clock_.set();
        if (frame.stamp)
            clock_.add(*frame.stamp, frame.arrival);
        if (stated) {
            reached_ = is_same(*stated, taken_[now_], kSame) || waited_ > kMostWaits;
            return stated;
        }
        if (settling_ > 0) {
            const bool older = frame.stamp && set_at_ && *frame.stamp <= *set_at_ && !frame.clock_set &&
                               waited_ <= kMostWaits;
            settling_ -= older ? 0 : 1;
            return std::nullopt;
        }
        reached_ = true;
        return taken_[now_];
    }

    /// Sets the next exposure if a frame had the present one. Call after each frame. Throws RunError.
    void go_on(AravisCamera& camera) {
        if (!std::exchange(reached_, false) || wanted_.size() < 2)
            return;
        now_ = (now_ + 1) % wanted_.size();
        try {
            taken_[now_] = camera.take_exposure(wanted_[now_]);
        } catch (const UsageError& error) { // it took it before: the camera does not answer
            throw RunError(error.what());
        }
        settling_ = camera.received() + settle_;
        set_at_ = clock_.at(now());
        waited_ = 0;
    }

private:
    static constexpr double kTaken = 0.05; ///< relative; cameras have steps
    static constexpr double kSame = 0.01;
    static constexpr int kMostWaits = 1000; ///< frames; more: a clock or an exposure is wrong
    static std::int64_t now() { return SteadyClock::now().time_since_epoch() / std::chrono::nanoseconds(1); }
    static bool is_same(double a, double b, double part) { return std::abs(a - b) <= part * std::max(a, b); }

    std::vector<double> wanted_, taken_; ///< ms, as asked and as the camera rounds them
    int settle_ = 0;
    double longest_ = 0;
    std::size_t now_ = 0;
    StampClock clock_;
    std::optional<std::int64_t> set_at_; ///< when the camera acknowledged the exposure, on its clock
    int settling_ = 0;                   ///< frames still to be discarded
    int waited_ = 0;                     ///< frames since the exposure was set
    bool reached_ = false;
};

} // namespace specklescope
