// What a picture is compared with: the mean of every pixel over some seconds, F₀.
#pragma once

#include "analysis/made_with.hpp"
#include "pipeline/regions/regions.hpp"
#include "pipeline/sink.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// 100·(F/F₀ − 1), in %.
inline double relative_change(double value, double baseline) { return 100 * (value / baseline - 1); }

/// F₀ of every pixel of a grey picture. Immutable.
class BaselineImage {
public:
    /// `from`: what it was taken from, where that is not the run itself.
    /// `with`: none where nobody knows.
    BaselineImage(const Shape& shape, Quantity quantity, std::vector<float> f0, std::uint64_t frames,
                  double seconds, std::string from = {}, std::optional<MadeWith> with = {})
        : shape_(shape), quantity_(std::move(quantity)), f0_(std::move(f0)), frames_(frames),
          seconds_(seconds), from_(std::move(from)), with_(std::move(with)) {}

    /// 100·(F/F₀ − 1) %, into f32 of the same size: undefined where F is, or where F₀ is 0, infinite or
    /// undefined; infinite where F is. Rows in parallel.
    void change(ConstHostView image, HostView percent) const;
    double at(int x, int y) const; ///< F₀ in the unit of the map
    /// Why a picture has no change against this baseline, as a clause: it has another size or quantity, or
    /// was made with other settings (null: unknown). Empty where it has one.
    std::string misfit(const Shape& shape, const Quantity& quantity, const MadeWith* with) const;
    std::string misfit(const Result& result) const;
    /// A misfit as a sentence that names this baseline.
    std::string refusal(const std::string& misfit) const {
        return "Baseline " + text() + ": " + misfit + ".";
    }
    /// F₀ of each region, as its trace's mean is taken (docs/science.md, Regions); NaN where it has none. Of
    /// a picture of this size.
    std::vector<double> over(const std::shared_ptr<const PlacedRegions>& placed) const;
    /// "rest.tiff: mean of 250 frames, 5 s".
    std::string text() const;
    const Shape& shape() const { return shape_; }
    const Quantity& quantity() const { return quantity_; }
    const std::vector<float>& values() const { return f0_; } ///< row by row
    std::uint64_t frames() const { return frames_; }
    double seconds() const { return seconds_; } ///< 0: one picture, or the frames have no times
    const std::optional<MadeWith>& with() const { return with_; }

private:
    Shape shape_; ///< f32
    Quantity quantity_;
    std::vector<float> f0_;
    std::uint64_t frames_ = 0;
    double seconds_ = 0;
    std::string from_;
    std::optional<MadeWith> with_;
};

/// What the numbers of BaselineImage::change() are.
Quantity change_of(const Quantity& quantity);

/// Sums of every pixel in float64. As for traces (docs/science.md, Regions) the mean is taken of what may be
/// averaged: of K² where the picture is K or c/K². Undefined values are left out, infinite ones too, but of
/// c/K² they are K² = 0 and take part.
class BaselineSums {
public:
    /// Pictures of one shape; another begins anew. Rows in parallel.
    void add(ConstHostView image, RegionMean mean);
    std::uint64_t frames() const { return frames_; }
    /// F₀ in the unit of the picture, row by row; NaN where no value was.
    std::vector<float> means() const;
    void clear();

private:
    Shape shape_;
    RegionMean mean_ = RegionMean::plain;
    std::vector<double> sums_;
    std::vector<std::uint32_t> counts_;
    std::uint64_t frames_ = 0;
};

/// A sink: takes the results of some seconds, from the first complete one on: at r frames/s n·r, without any
/// of a warm-up. Results of another shape, quantity or settings, and times that go back, begin again.
class BaselineCollector final : public Sink {
public:
    explicit BaselineCollector(double seconds) : seconds_(seconds) {}

    /// Throws UsageError where it takes some seconds and the frames have no times.
    void open(const StreamInfo& stream) override;
    /// On the processing thread; about a pass over the picture, 16 bytes a pixel.
    void push(const Result& result, bool may_wait) override;
    void close() noexcept override {}
    bool wants_host_image() const override;
    SinkStatus status() const override { return {}; }

    /// With what there is so far.
    void finish();
    /// When it is complete, or was finished.
    std::shared_ptr<const BaselineImage> taken() const;
    double progress() const;   ///< 0…1
    std::string error() const; ///< why there will be none; empty: nothing is wrong

private:
    void complete(); ///< under the mutex

    const double seconds_;
    mutable std::mutex mutex_;
    BaselineSums sums_;
    std::optional<std::int64_t> first_ns_;
    std::int64_t last_ns_ = 0;
    bool timed_ = true; ///< the frames have times
    Shape shape_;
    Quantity quantity_;
    MadeWith with_;
    bool done_ = false;
    std::string error_;
    std::shared_ptr<const BaselineImage> taken_;
};

} // namespace specklescope
