// Baseline of an image: the mean of every pixel over some seconds, F₀.
#pragma once

#include "analysis/made_with.hpp"
#include "pipeline/regions/regions.hpp"
#include "pipeline/sink.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace specklescope {

/// 100·(F/F₀ − 1), in %.
inline double relative_change(double value, double baseline) { return 100 * (value / baseline - 1); }

/// F₀ of every pixel of a grey image. Immutable.
class BaselineImage {
public:
    /// `from`: the origin, if it is not this run. `with`: none if unknown.
    BaselineImage(const Shape& shape, Quantity quantity, std::vector<float> f0, std::uint64_t frames,
                  double seconds, std::string from = {}, std::optional<MadeWith> with = {})
        : shape_(shape), quantity_(std::move(quantity)), f0_(std::move(f0)), frames_(frames),
          seconds_(seconds), from_(std::move(from)), with_(std::move(with)) {}

    /// 100·(F/F₀ − 1) %, into f32 of the same size: undefined if F is, or if F₀ is 0, infinite or undefined;
    /// infinite if F is. Rows in parallel.
    void change(ConstHostView image, HostView percent) const;
    double at(int x, int y) const; ///< F₀ in the unit of the map
    /// Why an image cannot be compared with this baseline, as a clause: another size or quantity, or other
    /// settings (null: unknown). Empty if it can.
    std::string misfit(const Shape& shape, const Quantity& quantity, const MadeWith* with) const;
    std::string misfit(const Result& result) const;
    /// A misfit as a sentence naming this baseline.
    std::string refusal(const std::string& misfit) const {
        return "Baseline " + text() + ": " + misfit + ".";
    }
    /// F₀ of each region, with the mean of its trace (docs/science.md, Regions); NaN if it has none. The
    /// regions must be placed on an image of this size.
    std::vector<double> over(const std::shared_ptr<const PlacedRegions>& placed) const;
    /// "rest.tiff: mean of 250 frames, 5 s".
    std::string text() const;
    const Shape& shape() const { return shape_; }
    const Quantity& quantity() const { return quantity_; }
    const std::vector<float>& values() const { return f0_; } ///< row by row
    std::uint64_t frames() const { return frames_; }
    double seconds() const { return seconds_; } ///< 0: one image, or frames without times
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

/// Quantity of BaselineImage::change().
Quantity change_of(const Quantity& quantity);

/// Sums of every pixel in float64. As for traces (docs/science.md, Regions) the mean is taken over K² if the
/// image is K or c/K². Undefined and infinite values are omitted, except that an infinite c/K² is K² = 0 and
/// counts.
class BaselineSums {
public:
    /// One or two images of one shape; another shape starts again. Rows in parallel. Two at once take little
    /// longer than one.
    void add(std::span<const ConstHostView> images, RegionMean mean);
    std::uint64_t frames() const { return frames_; }
    /// F₀ in the unit of the image, row by row; NaN without a value.
    std::vector<float> means() const;
    void clear();

private:
    Shape shape_;
    RegionMean mean_ = RegionMean::plain;
    std::vector<double> sums_;
    std::vector<std::uint32_t> left_out_;
    std::uint64_t frames_ = 0;
};

/// A sink that collects the results of `seconds`, starting with the first complete one: n·r results at r
/// frames/s, without warm-up. It starts again when the shape, quantity or settings change and when times go
/// back.
class BaselineCollector final : public Sink {
public:
    explicit BaselineCollector(double seconds) : seconds_(seconds) {}
    /// Collects the frames of a film in [from, to] (FrameInfo::film_ns) instead.
    BaselineCollector(std::int64_t from_ns, std::int64_t to_ns)
        : seconds_(std::numeric_limits<double>::infinity()), interval_(Span{from_ns, to_ns}) {}

    /// Throws UsageError if it needs seconds and the frames have no times.
    void open(const StreamInfo& stream) override;
    /// On the processing thread; every second time a pass over two images, of which it holds the first.
    void push(const Result& result, bool may_wait) override;
    void close() noexcept override {}
    bool wants_host_image() const override;
    bool follows_display() const override { return true; }
    SinkStatus status() const override { return {}; }

    /// Finishes with the results so far.
    void finish();
    /// The baseline, when complete or finished.
    std::shared_ptr<const BaselineImage> taken() const;
    double progress() const;   ///< 0…1
    std::string error() const; ///< why there will be none; empty: no error

private:
    void complete(); ///< requires the mutex
    void add(const Frame& image);

    struct Span {
        std::int64_t from_ns = 0, to_ns = 0;
    };
    const double seconds_;
    const std::optional<Span> interval_;
    mutable std::mutex mutex_;
    BaselineSums sums_;
    Frame held_; ///< not in the sums yet
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
