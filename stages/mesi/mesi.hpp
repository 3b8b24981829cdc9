// Fit of the multi-exposure model to frames whose exposure changes in turn: parameters, declaration and
// arithmetic shared by host and device.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"
#include "stages/mesi/mesi_fit.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Keeps the newest K² of each exposure and fits K² = β·m(T/τc, ρ) + ν to them after each frame
/// (Parthasarathy 2008; docs/science.md, Multi-exposure). Input: K or K², f32, one channel.
struct MesiParams {
    enum class Output : std::uint8_t { index, tau };

    std::string exposures; ///< ms, "0.1+0.5+2", ascending; empty: found in the frames
    int cycles = 1;
    MesiFree fit = MesiFree::beta;
    double beta = 1;
    double noise = 0;
    int iterations = 20;
    Output output = Output::index;
    ContrastInput input = ContrastInput::automatic;
    unsigned also = 0; ///< bit i: MesiMap i
};

/// Named outputs, in the order of their choices.
enum class MesiMap : std::uint8_t { rho, beta, noise, residual, error, iterations, used };
inline constexpr int kMesiMaps = 7;

/// Storing of a frame's sample.
struct MesiStore {
    int slot = -1;        ///< exposure; −1: none, the frame is not used
    bool first = true;    ///< of this exposure
    bool squares = false; ///< the sample is K
    float weight = 1;     ///< of the sample in the mean of the last cycles
};

/// The new value of a stored K². An undefined sample replaces it: the fit leaves it out.
SPECKLESCOPE_BOTH inline float mesi_kept(float sample, float before, const MesiStore& store) {
    const float contrast2 = store.squares ? product(sample, sample) : sample;
    const bool usable = sample >= 0 && contrast2 - contrast2 == 0;
    const bool alone = store.first || !(before == before);
    return !usable ? NAN : alone ? contrast2 : sum(before, product(store.weight, sum(contrast2, -before)));
}

/// In 1/s or s.
SPECKLESCOPE_BOTH inline float mesi_main(float rate, bool tau) {
    return tau ? 0.001F / rate : product(1000.0F, rate);
}

SPECKLESCOPE_BOTH inline float mesi_map(const MesiFit<float>& fit, MesiMap map) {
    switch (map) {
    case MesiMap::rho:
        return fit.rho;
    case MesiMap::beta:
        return fit.beta;
    case MesiMap::noise:
        return fit.noise;
    case MesiMap::residual:
        return fit.residual;
    case MesiMap::error:
        return product(1000.0F, fit.error);
    case MesiMap::iterations:
        return fit.iterations;
    case MesiMap::used:
        break;
    }
    return fit.used;
}

/// The result before the set is complete.
SPECKLESCOPE_BOTH inline MesiFit<float> mesi_unknown() { return {NAN, NAN, NAN, NAN, NAN, NAN, 0, 0}; }

/// The exposures of the frames so far. Shared by host and device.
class MesiSet {
public:
    /// Throws UsageError for a list that is not ascending, too long or shorter than the parameters.
    explicit MesiSet(const MesiParams& params);

    int planes() const { return listed_ ? count_ : kMesiExposures; }
    /// Any frame may begin another set, since the exposures are not given.
    bool may_restart() const { return !listed_; }
    void reset();
    void set_params(const MesiParams& params);
    /// Finds the place of a frame. `again`: the frame was stored before, unless the set is empty.
    MesiStore next(const FrameInfo& info, bool again);
    /// True if every exposure has a frame. An unlisted set is complete when an exposure returns.
    bool complete() const { return complete_; }
    /// Valid if complete.
    const MesiTask& task() const { return task_; }
    Warmup warmup() const;
    std::string note() const;

private:
    struct Slot {
        double ms = 0;
        std::uint64_t frames = 0; ///< with this exposure
        std::uint64_t last = 0;   ///< frame number
    };
    int place_of(const FrameInfo& info);
    void make_task();

    MesiParams params_;
    bool listed_ = false;
    int count_ = 0; ///< slots in use; listed: all
    std::array<Slot, kMesiExposures> slots_{};
    std::uint64_t frames_ = 0;
    std::uint64_t cycle_ = 0; ///< frames of the first cycle
    int latest_ = -1;
    bool complete_ = false;
    bool unknown_ = false; ///< a frame had no exposure, and none are listed
    MesiTask task_;
};

/// The input's shape. Throws UsageError if the input is not settled.
Shape mesi_shape(const MesiParams& params, const Shape& input);

/// One row on the host.
struct MesiRow {
    const float* input = nullptr;
    float* planes = nullptr; ///< this row in the first plane
    std::size_t plane = 0;   ///< samples from a plane to the next
    int width = 0;
    MesiStore store;
    bool fits = false;
    MesiFree free = MesiFree::beta;
    bool tau = false;
    float* output = nullptr;
    std::array<float*, kMesiMaps> also{}; ///< null: not wanted
};
/// Stores the row and fits its pixels.
void run_mesi_row(const MesiRow& row, const MesiTask& task, PixelCounts& counts);

StageType mesi_stage();
std::unique_ptr<DeviceStage> make_mesi_device(const Params& params);

} // namespace specklescope
