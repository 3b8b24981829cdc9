// A check of a recording: faults of its frames that make speckle contrast wrong, found in the frames
// themselves. docs/science.md gives the estimates and their limits.
#pragma once

#include "pipeline/frame.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

enum class Sure : std::uint8_t { certain, likely, possible };
const char* to_string(Sure sure);

struct Finding {
    std::string what; ///< key: "saturation"
    Sure sure = Sure::likely;
    double value = 0;   ///< size of the fault, in the unit that `text` gives
    std::string text;   ///< "0.8 % of the samples are at 255"
    std::string effect; ///< on K
    std::string advice;
};

struct CheckFacts {
    Shape shape;
    int frames = 0;
    double mean = 0, least = 0, greatest = 0; ///< DN
    int bits = 0;                             ///< 0: floats
    double contrast = 0;                      ///< K over windows of 33 px, of the whole sample
    double speckle_px = 0;                    ///< full width at half maximum, before pixels blur it; 0: none
    double beta = 0;                          ///< largest K² that pixels leave of this speckle
    double rate_hz = 0;                       ///< by the frames' times; 0: unknown
    double correlation = 0;                   ///< of consecutive frames
};

struct CheckReport {
    CheckFacts facts;
    std::vector<Finding> findings;
};

/// Collects a few bursts of consecutive frames; keeps sums and at most two frames.
class RecordingCheck {
public:
    /// The next frames do not follow the last one.
    void begin_burst();
    /// `mosaic`: ratio of the sites of a Bayer mosaic, 1: none. Frames of another size are ignored.
    void add(ConstHostView frame, const FrameInfo& info, double mosaic);
    /// `lossy`: codec that the source names, or empty.
    CheckReport report(const std::string& lossy) const;

    static constexpr int kSide = 256; ///< of the part that is correlated, at most
    static constexpr int kLags = 8;   ///< of the autocovariance, with 0
    static constexpr int kBox = 16;   ///< radius of the local mean that is divided out
    static constexpr int kReach = 8;  ///< of shifts, in binned pixels
    static constexpr int kTiles = 8;  ///< in each direction
    static constexpr int kLevels = 65536;

    /// Part of a frame without its local mean: I/⟨I⟩ − 1.
    struct Excerpt {
        int width = 0, height = 0;
        std::vector<float> values;
    };
    /// Shift of the second part against the first, in its pixels.
    struct Shift {
        double x = 0, y = 0;
        double peak = 0;  ///< correlation there
        double rise = 0;  ///< of the correlation from no shift to there
        double noise = 0; ///< standard deviation of the correlation far from the peak
        bool sure() const { return peak > 0.02 && peak > 6 * noise; }
        bool moved() const { return sure() && rise > 5 * noise; }
    };

private:
    using Tiles = std::array<double, std::size_t{kTiles} * kTiles>;
    struct Burst {
        std::vector<double> means, times_s, exposures;
        std::vector<std::uint64_t> sequence;
        std::vector<std::optional<std::uint64_t>> positions;
        /// Mean relative change of the tiles between consecutive frames, over its standard error.
        std::vector<double> common_changes;
        std::vector<Shift> steps; ///< of each frame against the one before
        Excerpt first, last, sum; ///< binned
        std::vector<Tiles> tiles; ///< sums of light of each frame
        int frames = 0;
    };

    void count_levels(ConstHostView frame);
    void compare(const std::vector<float>& now);
    void measure_speckle(const std::vector<float>& now);
    void measure_blocks(const std::vector<float>& now);
    void measure_combs(const std::vector<float>& now);

    void find_levels(CheckReport& report) const;
    void find_saturation(CheckReport& report) const;
    void find_black(CheckReport& report) const;
    void find_speckle(CheckReport& report) const;
    void find_repeats(CheckReport& report) const;
    void find_times(CheckReport& report) const;
    void find_light(CheckReport& report) const;
    void find_motion(CheckReport& report) const;
    void find_change(CheckReport& report) const;
    void find_lossy(CheckReport& report, const std::string& lossy) const;

    Shape shape_;
    double full_scale_ = 0;
    bool timed_ = true;
    std::vector<Burst> bursts_;
    std::vector<std::uint64_t> levels_ = std::vector<std::uint64_t>(kLevels);
    std::vector<float> previous_;
    int frames_ = 0, channel_ = 0, pairs_ = 0, repeats_ = 0, bin_ = 1;
    std::vector<double> changes_; ///< mean absolute difference of consecutive frames over the mean
    double mosaic_ = 1;
    std::array<double, kLags> covariance_{};           ///< at lags along rows and columns
    double diagonal_ = 0;                              ///< at lag (1, 1)
    double third_ = 0;                                 ///< third moment of I/⟨I⟩ − 1
    std::array<double, 8> across_{}, down_{};          ///< differences by column and row modulo 8
    std::uint64_t blocks_ = 0, same_blocks_ = 0;       ///< of 8×8, that are not constant
    std::uint64_t other_pixels_ = 0, same_pixels_ = 0; ///< in blocks that changed
    std::array<std::vector<float>, 8> coefficients_{};
};

/// Best shift within ±RecordingCheck::kReach.
RecordingCheck::Shift find_shift(const RecordingCheck::Excerpt& a, const RecordingCheck::Excerpt& b);

} // namespace specklescope
