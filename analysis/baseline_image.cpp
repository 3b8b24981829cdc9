#include "analysis/baseline_image.hpp"

#include "analysis/simd/pixel_sums.hpp"
#include "base/parallel.hpp"
#include "pipeline/regions/region_sums.hpp"
#include "pipeline/source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace specklescope {

namespace {

constexpr int kLeastRows = 16; ///< of a band, an estimate

template <class F> void for_rows(int height, F&& f) {
    const int slots = parallel_threads();
    for_bands(height, band_count(height, slots, kLeastRows), slots, [&](Band rows, int) {
        for (int y = rows.begin; y < rows.end; ++y)
            f(y);
    });
}

} // namespace

void BaselineImage::change(ConstHostView image, HostView percent) const {
    const auto width = static_cast<std::size_t>(shape_.width);
    const View<float> to = percent.as<float>();
    dispatch(image.shape.type, [&](auto zero) {
        const auto from = image.as<decltype(zero)>();
        for_rows(shape_.height, [&](int y) {
            const auto* row = from.row(y);
            const float* base = f0_.data() + static_cast<std::size_t>(y) * width;
            float* out = to.row(y);
            for (std::size_t x = 0; x < width; ++x)
                out[x] = std::isfinite(base[x]) && base[x] != 0
                             ? static_cast<float>(
                                   relative_change(static_cast<double>(row[x]), static_cast<double>(base[x])))
                             : std::numeric_limits<float>::quiet_NaN();
        });
    });
}

std::vector<double> BaselineImage::over(const std::shared_ptr<const PlacedRegions>& placed) const {
    RegionInput input;
    input.image = {reinterpret_cast<const std::byte*>(f0_.data()), shape_};
    input.mean = region_mean(quantity_.measure);
    HostRegions regions;
    regions.set(placed);
    std::vector<double> means;
    const std::shared_ptr<const RegionValues> values = regions.measure(input);
    for (const RegionStatistics& region : values->statistics)
        means.push_back(region.mean);
    return means;
}

std::string BaselineImage::text() const {
    std::string text = from_ + (from_.empty() ? "" : ": ");
    if (frames_ == 1)
        return text + "one picture";
    std::array<char, 64> mean{};
    std::snprintf(mean.data(), mean.size(),
                  seconds_ > 0 ? "mean of %llu frames, %.6g s" : "mean of %llu frames",
                  static_cast<unsigned long long>(frames_), seconds_);
    return text + mean.data();
}

Quantity change_of(const Quantity& quantity) {
    return {"change against the baseline", "Δ" + quantity.symbol, "%", Measure::other};
}

double BaselineImage::at(int x, int y) const {
    return static_cast<double>(f0_[static_cast<std::size_t>(y) * static_cast<std::size_t>(shape_.width) +
                                   static_cast<std::size_t>(x)]);
}

std::string BaselineImage::misfit(const Shape& shape, const Quantity& quantity, const MadeWith* with) const {
    if (shape.width != shape_.width || shape.height != shape_.height || shape.channels != 1 ||
        quantity.name != quantity_.name || quantity.unit != quantity_.unit)
        return "the baseline is " + to_string(shape_) + " of " + quantity_.name + ", and the results are " +
               to_string(shape) + " of " + quantity.name + ": take it again";
    return changed_since_baseline(with_ ? &*with_ : nullptr, with);
}

std::string BaselineImage::misfit(const Result& result) const {
    const MadeWith with = made_with(result);
    return misfit(result.shape(), result.quantity, &with);
}

void BaselineSums::clear() {
    shape_ = {};
    sums_.clear();
    left_out_.clear();
    frames_ = 0;
}

void BaselineSums::add(std::span<const ConstHostView> images, RegionMean mean) {
    if (images[0].shape != shape_ || mean != mean_) {
        clear();
        shape_ = images[0].shape;
        mean_ = mean;
        sums_.assign(shape_.pixels(), 0);
        left_out_.assign(shape_.pixels(), 0);
    }
    const auto width = static_cast<std::size_t>(shape_.width);
    for_rows(shape_.height, [&](int y) {
        const std::size_t at = static_cast<std::size_t>(y) * width;
        add_pixels({.rows = {images[0].row(y), images.size() > 1 ? images[1].row(y) : nullptr},
                    .type = shape_.type,
                    .width = width,
                    .sums = &sums_[at],
                    .left_out = &left_out_[at]},
                   mean);
    });
    frames_ += images.size();
}

std::vector<float> BaselineSums::means() const {
    std::vector<float> means(sums_.size(), std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < sums_.size(); ++i) {
        const std::uint64_t count = frames_ - left_out_[i];
        if (count == 0)
            continue;
        const double mean = sums_[i] / static_cast<double>(count);
        means[i] = static_cast<float>(mean_ == RegionMean::of_squares    ? std::sqrt(mean)
                                      : mean_ == RegionMean::of_inverses ? 1 / mean
                                                                         : mean);
    }
    return means;
}

void BaselineCollector::open(const StreamInfo& stream) {
    if (std::isfinite(seconds_))
        need_seconds(stream.source, "A baseline over some time");
}

void BaselineCollector::push(const Result& result, bool) {
    if (result.repeated || !result.image)
        return;
    const std::scoped_lock lock(mutex_);
    if (done_)
        return;
    if (interval_) {
        const std::int64_t at = result.info.film_ns.value_or(interval_->from_ns - 1);
        if (at > interval_->to_ns)
            return complete();
        if (at < interval_->from_ns)
            return;
    }
    const Shape& shape = result.image.shape();
    if (shape.channels != 1) {
        error_ = "A baseline needs grey results; these have colours.";
        done_ = true;
        return;
    }
    if (result.warming_up()) {
        if (!first_ns_)
            shape_ = shape; // a frame has arrived
        return;
    }
    const std::int64_t now = result.info.capture_ns;
    timed_ = result.info.has_time();
    const bool other = shape != shape_ || result.quantity.name != quantity_.name ||
                       result.quantity.unit != quantity_.unit || (first_ns_ && now < last_ns_);
    MadeWith with = made_with(result);
    if (!first_ns_ || other || !difference(with_, with).empty()) {
        sums_.clear();
        held_.reset();
        first_ns_ = now;
        shape_ = shape;
        quantity_ = result.quantity;
        with_ = std::move(with);
    } else if (static_cast<double>(now - *first_ns_) >= seconds_ * 1e9) {
        return complete();
    }
    add_facts(with_, made_with(result));
    last_ns_ = now;
    add(result.image);
}

void BaselineCollector::add(const Frame& image) {
    const RegionMean mean = region_mean(quantity_.measure);
    if (!held_ && default_slots(shape_) > kMinSlots) {
        held_ = image;
        return;
    }
    const std::array<ConstHostView, 2> images{image.host(), held_ ? held_.host() : image.host()};
    sums_.add({images.data(), held_ ? 2U : 1U}, mean);
    held_.reset();
}

void BaselineCollector::complete() {
    done_ = true;
    if (const Frame last = std::exchange(held_, {}))
        sums_.add(std::array<ConstHostView, 1>{last.host()}, region_mean(quantity_.measure));
    if (sums_.frames() == 0) {
        error_ = shape_.width == 0
                     ? "There is no frame for a baseline. Play the source, or mark a baseline interval."
                     : "All frames were warm-up or capture frames, which a baseline leaves "
                       "out. Use more frames, or a shorter history.";
        return;
    }
    Shape shape = shape_;
    shape.type = PixelType::f32;
    taken_ = std::make_shared<const BaselineImage>(
        shape, quantity_, sums_.means(), sums_.frames(),
        timed_ ? static_cast<double>(last_ns_ - *first_ns_) * 1e-9 : 0, std::string(), with_);
    sums_.clear();
}

void BaselineCollector::finish() {
    const std::scoped_lock lock(mutex_);
    if (!done_)
        complete();
}

bool BaselineCollector::wants_host_image() const {
    const std::scoped_lock lock(mutex_);
    return !done_;
}

std::shared_ptr<const BaselineImage> BaselineCollector::taken() const {
    const std::scoped_lock lock(mutex_);
    return taken_;
}

double BaselineCollector::progress() const {
    const std::scoped_lock lock(mutex_);
    return done_ ? 1
           : !first_ns_
               ? 0
               : std::min(1.0,
                          static_cast<double>(last_ns_ - *first_ns_) * 1e-9 /
                              (interval_
                                   ? static_cast<double>(interval_->to_ns - interval_->from_ns + 1) * 1e-9
                                   : seconds_));
}

std::string BaselineCollector::error() const {
    const std::scoped_lock lock(mutex_);
    return error_;
}

} // namespace specklescope
