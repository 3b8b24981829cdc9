// Frames of a simulated scene, each computed from its number.
#pragma once

#include "base/parallel.hpp"
#include "sources/synthetic/evolution.hpp"
#include "sources/synthetic/scene_rows.hpp"
#include "sources/synthetic/synthetic_source.hpp"

#include <optional>
#include <vector>

namespace specklescope {

/// Pixels with nearly the same 1/τc: 64 classes an octave, from the bits of the rate; one class if all pixels
/// have the same rate.
struct RateClasses {
    static constexpr int kShift = 23 - 6;
    std::int32_t first = 0, last = 0;
    std::vector<double> rates; ///< of each class, 1/s
    RateClasses() = default;
    RateClasses(double slowest, double fastest);
};

/// The light of a frame has exact mean, variance and third cumulant, and the exact correlation with every
/// other frame. If frames correlate, the fields at the start and the end of the exposure (Evolution) and the
/// first mode between them are drawn, and looks add the variance and third cumulant of the rest of the
/// exposure. If they do not, light consists of looks only, which is three times as fast.
class SimulatedScene {
public:
    explicit SimulatedScene(const SyntheticOptions& options);

    const Shape& shape() const { return shape_; }
    const SyntheticTruth& truth() const { return truth_; }
    double exposure_ms(std::uint64_t number) const { return exposures_ms_[number % exposures_ms_.size()]; }
    bool pulses() const { return pulses_; } ///< rates change with the heartbeat
    struct Moment {
        std::uint64_t number = 0;
        double seconds = 0;    ///< of the heartbeat's clock
        double interval_s = 1; ///< between frames; at least the exposure counts
    };
    /// The same moment gives the same pixels. One call at a time.
    void render(const Moment& moment, HostView to);

private:
    struct Frame;
    struct Scratch;
    /// For one exposure time: whether fields are drawn, and the pixels' law.
    struct Drawing {
        bool fields = false;
        PixelLaw law;
    };
    static SyntheticOptions affordable(const SyntheticOptions& options);
    void make_defects();
    void prepare(double interval_s);
    Drawing drawing(double exposure_s, double interval_s) const;
    TorusRow pattern(std::uint64_t key, const float* (SpeckleBank::*plane)(int, int) const, int number, int x,
                     int y) const;
    LightRow patterns(const Frame& frame, int x, int y) const;
    void light(const Frame& frame, int x0, int y, int count, float* to, Scratch& scratch) const;
    void shifted_light(const Frame& frame, Band rows, float* to, Scratch& scratch) const;
    void record(const Frame& frame, int y, const float* light, std::byte* to) const;

    SyntheticOptions options_;
    SyntheticTruth truth_;
    Shape shape_;
    SpeckleOptics optics_;
    SpeckleBank bank_;
    std::vector<double> exposures_ms_;
    bool moves_ = false; ///< the speckle changes
    bool pulses_ = false;
    RateClasses classes_;
    std::vector<float> mean_; ///< DN per pixel
    // The camera's defects; empty: none.
    std::vector<float> response_, columns_;
    struct BadPixel {
        int y, x, value;
    };
    std::vector<BadPixel> bad_; ///< by rows
    // For the interval between frames.
    double interval_s_ = 0;
    std::optional<Evolution> evolution_;
    std::vector<Drawing> drawings_; ///< per exposure time
};

} // namespace specklescope
