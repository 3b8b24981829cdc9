// Static scattering by the correlation of consecutive frames: parameters and arithmetic, shared by host and
// device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace specklescope {

/// Part of the light that does not move, 1 − ρ = √(C/β) with C = ⟨I₁I₂⟩/(⟨I₁⟩⟨I₂⟩) − 1 of two consecutive
/// frames over a window (arXiv 1907.10755). C is averaged over the last pairs with fading weights.
struct StaticParams {
    static constexpr int kMaxRadius = 15;
    enum class Output : std::uint8_t { fraction, dynamic, correlation };

    int radius = 3;
    int frames = 25;
    double beta = 1;
    Output output = Output::fraction;
};

/// Sums over a window: of the products and of both frames; in double for f32.
template <class T> struct PairSums {
    using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    Sum products{}, before{}, now{};

    SPECKLESCOPE_BOTH void add(T a, T b) {
        products += static_cast<Sum>(a) * static_cast<Sum>(b);
        before += static_cast<Sum>(a);
        now += static_cast<Sum>(b);
    }
    SPECKLESCOPE_BOTH void add(const PairSums& other) {
        products += other.products;
        before += other.before;
        now += other.now;
    }
    /// C of `count` pixels; undefined without light.
    SPECKLESCOPE_BOTH float correlation(int count) const {
        if (!(before > 0 && now > 0))
            return NAN;
        const Sum difference = static_cast<Sum>(count) * products - before * now;
        const double covariance = std::is_integral_v<T>
                                      ? static_cast<double>(static_cast<std::int64_t>(difference))
                                      : static_cast<double>(difference);
        const double c = covariance / (static_cast<double>(before) * static_cast<double>(now));
        // sums of floats are rounded, in another order on the device
        return !std::is_integral_v<T> && c > -1e-9 && c < 1e-9 ? 0.0F : static_cast<float>(c);
    }
};

/// Mean after the correlation `newest` of weight `weight`; an undefined one is omitted.
SPECKLESCOPE_BOTH inline float faded(float mean, float newest, float weight) {
    if (newest != newest)
        return mean;
    return mean == mean ? sum(mean, product(sum(newest, -mean), weight)) : newest;
}

SPECKLESCOPE_BOTH inline float static_result(float mean, float beta, StaticParams::Output output) {
    if (output == StaticParams::Output::correlation || mean != mean)
        return mean;
#ifdef __CUDA_ARCH__
    const float part = __fsqrt_rn(__fdiv_rn(mean < 0 ? 0.0F : mean, beta));
#else
    const float part = std::sqrt((mean < 0 ? 0.0F : mean) / beta);
#endif
    return output == StaticParams::Output::dynamic ? sum(1, -part) : part;
}

/// Position of a run in the sequence of pairs. Stage: HostStage or DeviceStage.
template <class Stage> class StaticStage : public Stage {
public:
    explicit StaticStage(const Params& params) : params_(params.as<StaticParams>()) {}

    void set_params(const Params& params) final { params_ = params.as<StaticParams>(); }
    void reset() final { frames_ = 0; }
    Warmup warmup() const final { return {{}, std::min(frames_, params_.frames + 1), params_.frames + 1}; }
    Counted counted() const final { return {.undefined = true}; }
    void describe(FrameInfo& info) const final { info.full_scale = 0; }

protected:
    /// False: the frame is there already.
    bool take(bool again) {
        if (again && frames_ > 0)
            return false;
        frames_ = std::min(frames_ + 1, params_.frames + 1);
        return true;
    }
    bool has_pair() const { return frames_ > 1; }
    /// Weight of the newest pair.
    float weight() const { return 1 / static_cast<float>(frames_ - 1); }

    StaticParams params_;

private:
    int frames_ = 0; ///< at most StaticParams::frames + 1
};

StageType static_stage();
std::unique_ptr<DeviceStage> make_static_device(const Params& params);

} // namespace specklescope
