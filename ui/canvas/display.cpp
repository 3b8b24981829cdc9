#include "ui/canvas/display.hpp"

#include "have_cuda.hpp"
#include "pipeline/convert.hpp"
#include "pipeline/scale/pixel_size.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/gl_texture.hpp"
#endif

#include <algorithm>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

using namespace std::chrono_literals;
constexpr auto kRangeEvery = 100ms;

/// A step towards the wanted range: immediate if far away, smooth for small variations.
double eased(double now, double wanted, double span) {
    if (!std::isfinite(now) || std::abs(wanted - now) > 0.5 * span)
        return wanted;
    return std::abs(wanted - now) < 1e-3 * span ? wanted : now + 0.35 * (wanted - now);
}

} // namespace

#ifdef SPECKLESCOPE_HAVE_CUDA
struct Display::Interop {
    std::unique_ptr<GlTexture> registration;
    bool refused = false;
};
#else
struct Display::Interop {
    bool refused = true;
};
#endif

Display::Display() : interop_(std::make_unique<Interop>()) {}
Display::~Display() = default;

void Display::clear() {
    result_ = {};
    sample_.clear();
    reader_.forget();
    ranged_ = raw_ranged_ = {};
}

Shape Display::processed_shape() const { return has_result() ? result_.shape() : Shape{}; }

bool Display::moved() const { return result_.chain && moves_pixels(*result_.chain); }

void Display::show(Pipeline& pipeline, Result result, bool raw, bool processed) {
    result_ = std::move(result);
    ++shown_;
    look(pipeline, raw, processed);
}

void Display::presented(Pipeline& pipeline, bool timed) {
    if (std::exchange(presented_, shown_) == shown_)
        return;
    if (timed)
        glFinish(); // may keep a core busy until the picture is on the screen
    pipeline.displayed(result_, path_, timed);
}

void Display::look(Pipeline& pipeline, bool raw, bool processed) {
    if (raw && raw_filled_ != shown_ && result_.raw) {
        raw_.upload(result_.raw.host());
        raw_filled_ = shown_;
    }
    if (processed && processed_filled_ != shown_ && has_result() && fill_processed(pipeline))
        processed_filled_ = shown_;
    if (baseline_ && changed_filled_ != shown_ && has_result() && fill_changed(pipeline))
        changed_filled_ = shown_;
}

void Display::set_baseline(std::shared_ptr<const BaselineImage> baseline) {
    if (baseline == baseline_)
        return;
    baseline_ = std::move(baseline);
    changed_filled_ = 0;
}

bool Display::fill_changed(Pipeline& pipeline) {
    if (!baseline_->misfit(result_).empty())
        return false;
    if (!result_.image) { // the next one will have host pixels
        pipeline.viewer_wants_host(true);
        return false;
    }
    change_.resize(baseline_->shape().pixels());
    const HostView change(reinterpret_cast<std::byte*>(change_.data()), baseline_->shape());
    baseline_->change(result_.image.host(), change);
    changed_.upload(change);
    return true;
}

std::optional<double> Display::change_value(int x, int y) const {
    if (!has_change())
        return {};
    const Shape& shape = baseline_->shape();
    if (x < 0 || y < 0 || x >= shape.width || y >= shape.height)
        return {};
    return static_cast<double>(change_[static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) +
                                       static_cast<std::size_t>(x)]);
}

bool Display::fill_processed(Pipeline& pipeline) {
    if (result_.device_image && interop()) {
        pipeline.viewer_wants_host(wants_host_ || baseline_);
        path_ = "CUDA-GL interop";
        return true;
    }
    pipeline.viewer_wants_host(true);
    path_ = "host upload";
    if (!result_.image)
        return false; // the next one will have host pixels
    drop_registration();
    processed_.upload(result_.image.host());
    return true;
}

#ifdef SPECKLESCOPE_HAVE_CUDA
bool Display::interop() {
    if (interop_->refused)
        return false;
    try {
        const Shape& shape = result_.device_image.shape();
        if (!interop_->registration || processed_.shape() != shape) {
            interop_->registration.reset(); // unregister before the texture is deleted
            processed_ = {};
            processed_.prepare(shape, true);
            if (processed_.thinning() != 1)
                throw RunError("the image is larger than the largest texture");
            interop_->registration = std::make_unique<GlTexture>(processed_.id(), shape);
        }
        interop_->registration->copy(result_.device_image);
        reason_.clear();
        return true;
    } catch (const Error& error) {
        interop_->refused = true; // it would fail again for the next frame
        interop_->registration.reset();
        reason_ = error.what();
        return false;
    }
}

void Display::drop_registration() { interop_->registration.reset(); }
#else
bool Display::interop() { return false; }
void Display::drop_registration() {}
#endif

void Display::update_raw_range() {
    const auto now = SteadyClock::now();
    if (!result_.raw || now - raw_ranged_ < kRangeEvery)
        return;
    raw_ranged_ = now;
    raw_range_ = percentile_range(result_.raw.host(), 0.5, 99.5);
}

void Display::update_range(Mapping& mapping) {
    if (!has_result())
        return;
    const auto now = SteadyClock::now();
    std::optional<ValueRange> wanted;
    std::uint64_t version = result_.info.version; // version of the displayed result
    const bool new_parameters = result_.info.version != ranged_version_;
    if (result_.image) {
        if (!mapping.automatic || (now - ranged_ < kRangeEvery && !new_parameters))
            return;
        wanted = percentile_range(result_.image.host(), mapping.low_percentile, mapping.high_percentile);
    } else {
        if (std::vector<float> sample = reader_.finish(); !sample.empty()) {
            sample_ = std::move(sample);
            const Shape shape{static_cast<int>(sample_.size()), 1, 1, PixelType::f32};
            const ConstHostView view(reinterpret_cast<const std::byte*>(sample_.data()), shape);
            wanted = percentile_range(view, mapping.low_percentile, mapping.high_percentile);
            version = read_version_;
        }
        if (now - ranged_ >= kRangeEvery && processed_ && reader_.start(processed_))
            read_version_ = result_.info.version;
    }
    if (!wanted)
        return;
    ranged_ = now;
    ranged_version_ = version;
    if (!mapping.automatic)
        return;
    const double span = std::max(wanted->high - wanted->low, 1e-12);
    mapping.low = new_parameters ? wanted->low : eased(mapping.low, wanted->low, span);
    mapping.high = new_parameters ? wanted->high : eased(mapping.high, wanted->high, span);
    if (!(mapping.high > mapping.low))
        mapping.high = mapping.low + std::max(std::abs(mapping.low) * 1e-6, 1e-12);
}

ValueRange Display::raw_range(bool stretch) const {
    const double full =
        result_.info.full_scale > 0 ? result_.info.full_scale : type_full_scale(raw_shape().type);
    if (!stretch && full > 0)
        return {0, full};
    return raw_range_;
}

std::optional<double> Display::raw_value(int x, int y) const { return grey_at(result_.raw, x, y); }
std::optional<Color> Display::raw_color(int x, int y) const { return color_at(result_.raw, x, y); }
std::optional<Color> Display::processed_color(int x, int y) const {
    if (result_.image || processed_shape().channels != 3)
        return color_at(result_.image, x, y);
    return texel(x, y);
}

std::optional<Color> Display::texel(int x, int y) const {
    if (!result_.device_image)
        return {};
    const Shape& shape = result_.device_image.shape();
    if (!processed_ || processed_.shape() != shape || x < 0 || y < 0 || x >= shape.width || y >= shape.height)
        return {};
    const std::array<float, 3> value = processed_.read_pixel(x, y);
    return Color{static_cast<double>(value[0]), static_cast<double>(value[1]), static_cast<double>(value[2])};
}

std::optional<double> Display::processed_value(int x, int y) const {
    if (result_.image || !result_.device_image)
        return grey_at(result_.image, x, y);
    const std::optional<Color> color = texel(x, y);
    if (!color)
        return {};
    if (processed_shape().channels != 3)
        return (*color)[0];
    const auto sample = [&](std::size_t c) { return static_cast<float>((*color)[c]); };
    return static_cast<double>(luma(sample(0), sample(1), sample(2)));
}

Result Display::host_result() const {
    Result copy = result_;
    if (copy.image || !copy.device_image || !processed_)
        return copy;
    FrameRing room(copy.device_image.shape(), 1, host_memory());
    copy.image = room.try_acquire();
    copy.image.info() = copy.info;
    processed_.read_all(copy.image.host());
    return copy;
}

} // namespace specklescope
