// Motion between frames on the host: strips of lines are transformed together, so that vectors are filled.
#include "stages/register/register.hpp"

#include "base/parallel.hpp"
#include "stages/maker.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <numbers>

namespace specklescope {

namespace {

const ParamTable& register_table() {
    using P = RegisterParams;
    static const ParamTable table =
        Declare<P>("stage register")
            .choice("reference", &P::reference, {{"fixed", "First frames"}, {"running", "Last frames"}},
                    {.cost = Cost::rebuild,
                     .doc = "Images that frames are compared with. fixed: mean of the first frames after the "
                            "start, a gap or a seek. running: fading mean of the last frames"})
            .integer("frames", &P::frames,
                     {.min = 1,
                      .max = 1000,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "Number of frames in the reference (running: the inverse weight of the newest)"})
            .real("blur", &P::blur,
                  {.unit = "px",
                   .min = 0.5,
                   .max = 20,
                   .logarithmic = true,
                   .cost = Cost::rebuild,
                   .doc = "Blur before frames are compared (standard deviation). Larger for speckle that "
                          "changes between frames over wide vessels"})
            .integer("size", &P::size,
                     {.unit = "px",
                      .min = P::kMinSize,
                      .max = P::kMaxSize,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "Longest side of the compared part in the middle of the image, rounded down to "
                             "a power of two"})
            .integer("max_shift", &P::max_shift,
                     {.label = "Largest shift",
                      .unit = "px",
                      .min = 1,
                      .max = 4096,
                      .logarithmic = true,
                      .doc = "Frames that moved farther are marked and stay as they are"})
            .boolean("skip", &P::skip,
                     {.label = "Leave out",
                      .doc = "Leave frames without a shift, or with too large a one, out of the windows of "
                             "later stages"})
            .choice("interpolate", &P::interpolate, {{"none", "Whole pixels"}, {"linear", "Linear"}},
                    {.label = "Interpolation",
                     .doc = "none: shift by whole pixels, which keeps samples and contrast. linear: shift by "
                            "parts of a pixel, which lowers contrast"})
            .choice_among("border", &P::border,
                          std::vector<std::pair<ChoiceName, Border>>{{"replicate", Border::replicate},
                                                                     {"reflect", Border::reflect},
                                                                     {"wrap", Border::wrap},
                                                                     {"zero", Border::zero}},
                          {.doc = "Pixels that a shift leaves without data: the nearest pixel, the mirrored "
                                  "image, the opposite edge or 0"})
            .table();
    return table;
}

/// Largest power of two that is at most `a`.
int power_of_two(int a) {
    int power = 1;
    while (2 * power <= a)
        power *= 2;
    return power;
}

/// With fewer pixels a match does not exceed chance.
constexpr int kShortest = RegisterParams::kMinSize;

/// A small part has few frequencies, which a blur must not take away.
double blur_of(double blur, int n) { return std::min(blur, n / 32.0); }

/// One axis of a CorrelationPart.
struct Axis {
    int n = 2, corner = 0, room = 0;
    bool compared = false;
    std::vector<float> window;
    std::vector<Complex> roots;
    std::vector<float> pass;

    Axis(int side, const RegisterParams& params) {
        compared = side >= kShortest;
        n = compared ? power_of_two(std::min(side, params.size)) : 2;
        corner = compared ? (side - n) / 2 : side / 2;
        room = compared ? side - n : side / 2;
        const double turn = 2 * std::numbers::pi / n;
        for (int i = 0; i < n; ++i) {
            const double hann = 0.5 - 0.5 * std::cos(turn * i);
            window.push_back(compared ? static_cast<float>(hann) : i == 0 ? 1.0F : 0.0F);
            const double waves = blur_of(params.blur, n) * turn * std::min(i, n - i);
            pass.push_back(compared ? static_cast<float>(std::exp(-0.5 * waves * waves)) : 1.0F);
        }
        for (int k = 0; k < n / 2; ++k)
            roots.push_back(
                {static_cast<float>(std::cos(turn * k)), static_cast<float>(-std::sin(turn * k))});
    }
};

/// Number of independent values along an axis of a correlation: the equivalent width of the low-pass.
double independent_values(int n, bool compared, double blur) {
    return compared ? n * std::min(1.0, 1 / (std::sqrt(std::numbers::pi) * blur_of(blur, n))) : 1;
}

/// Variance of a correlation of noise at shift `shift`, relative to its mean: the overlap of the squared Hann
/// windows.
double overlap(int shift, int n, bool compared) {
    const double turn = 2 * std::numbers::pi * shift / n;
    return compared ? 1 + 8.0 / 9 * std::cos(turn) + 1.0 / 18 * std::cos(2 * turn) : 1;
}

struct Offset {
    double x = 0, y = 0;
};
/// Top of a Gaussian, which may be oblong and oblique, through the values around a peak: of a quadratic form
/// through their logarithms.
Offset peak_offset(const CorrelationPeak& peak, bool has_x, bool has_y) {
    std::array<double, 9> v{};
    const bool positive =
        std::all_of(std::begin(peak.around), std::end(peak.around), [](float c) { return c > 0; });
    std::transform(std::begin(peak.around), std::end(peak.around), v.begin(), [&](float c) {
        return positive ? std::log(static_cast<double>(c)) : static_cast<double>(c);
    });
    const double gx = (v[5] - v[3]) / 2;
    const double gy = (v[7] - v[1]) / 2;
    const double xx = v[5] - 2 * v[4] + v[3];
    const double yy = v[7] - 2 * v[4] + v[1];
    const double xy = (v[8] - v[6] - v[2] + v[0]) / 4;
    const double determinant = xx * yy - xy * xy;
    Offset top;
    if (has_x && has_y && xx < 0 && determinant > 0)
        top = {(xy * gy - yy * gx) / determinant, (xy * gx - xx * gy) / determinant};
    else
        top = {xx < 0 ? -gx / xx : 0, yy < 0 ? -gy / yy : 0};
    return {std::clamp(top.x, -1.0, 1.0), std::clamp(top.y, -1.0, 1.0)};
}

int signed_shift(int at, int n) { return at < n / 2 ? at : at - n; }

} // namespace

CorrelationPart CorrelationPart::of(const RegisterParams& params, const Shape& shape) {
    Axis x(shape.width, params);
    Axis y(shape.height, params);
    CorrelationPart part;
    part.nx = x.n;
    part.ny = y.n;
    part.has_x = x.compared;
    part.has_y = y.compared;
    part.x = x.corner;
    part.y = y.corner;
    part.room_x = x.room;
    part.room_y = y.room;
    part.window_x = std::move(x.window);
    part.window_y = std::move(y.window);
    part.roots_x = std::move(x.roots);
    part.roots_y = std::move(y.roots);
    part.pass_x = std::move(x.pass);
    part.pass_y = std::move(y.pass);
    part.pass_x.resize(static_cast<std::size_t>(part.columns()));
    return part;
}

void MotionTracker::reset() {
    has_frame_ = false;
    references_ = 0;
    centre_x_ = centre_y_ = x_ = y_ = 0;
    last_x_ = last_y_ = 0;
    found_ = Found::blank;
}

int MotionTracker::corner_x() const { return std::clamp(part_.x + last_x_, 0, part_.room_x); }
int MotionTracker::corner_y() const { return std::clamp(part_.y + last_y_, 0, part_.room_y); }

std::optional<ReferenceStep> MotionTracker::take(const CorrelationPeak& peak) {
    // Chance alone reaches √(2·ln N) standard deviations in N independent values.
    constexpr double kAboveChance = 1.3;
    has_frame_ = true;
    found_ = peak.squares > 0 ? Found::nothing : Found::blank;
    const double values = independent_values(part_.nx, part_.has_x, params_.blur) *
                          independent_values(part_.ny, part_.has_y, params_.blur);
    const int positions = (part_.has_x ? part_.nx : 1) * (part_.has_y ? part_.ny : 1);
    const double deviation = std::sqrt(static_cast<double>(peak.squares) / positions *
                                       overlap(peak.at % part_.nx, part_.nx, part_.has_x) *
                                       overlap(peak.at / part_.nx, part_.ny, part_.has_y));
    if (!(peak.around[4] > kAboveChance * std::sqrt(2 * std::log(std::max(values, 2.0))) * deviation))
        return std::nullopt;
    found_ = Found::motion;
    if (references_ == 0) {
        references_ = 1;
        x_ = y_ = 0;
        return std::nullopt;
    }
    const int from_x = corner_x() - part_.x;
    const int from_y = corner_y() - part_.y;
    const Offset offset = peak_offset(peak, part_.has_x, part_.has_y);
    x_ = !part_.has_x ? 0 : signed_shift(peak.at % part_.nx, part_.nx) + from_x + centre_x_ + offset.x;
    y_ = !part_.has_y ? 0 : signed_shift(peak.at / part_.nx, part_.ny) + from_y + centre_y_ + offset.y;
    if (!motion().moved)
        return std::nullopt;
    last_x_ = static_cast<int>(std::lround(x_));
    last_y_ = static_cast<int>(std::lround(y_));
    if (references_ >= params_.frames && params_.reference == RegisterParams::Reference::fixed)
        return std::nullopt;
    references_ = std::min(references_ + 1, std::max(params_.frames, 2));
    const double weight = 1.0 / references_;
    centre_x_ += weight * (x_ - last_x_ - centre_x_);
    centre_y_ += weight * (y_ - last_y_ - centre_y_);
    return ReferenceStep{static_cast<float>(1 - weight), static_cast<float>(weight),
                         (last_x_ - from_x) & (part_.nx - 1), (last_y_ - from_y) & (part_.ny - 1)};
}

FrameMotion MotionTracker::motion() const {
    FrameMotion motion;
    if (found_ == Found::motion) {
        motion.x = x_;
        motion.y = y_;
        motion.moved = std::hypot(x_, y_) <= params_.max_shift;
    }
    motion.left_out = !motion.moved && params_.skip;
    return motion;
}

PixelShift MotionTracker::shift() const {
    if (!motion().moved)
        return {};
    if (params_.interpolate == RegisterParams::Interpolate::none)
        return {static_cast<int>(std::lround(x_)), static_cast<int>(std::lround(y_)), 0, 0};
    const long x = std::lround(256 * x_);
    const long y = std::lround(256 * y_);
    return {static_cast<int>(x >> 8), static_cast<int>(y >> 8), static_cast<int>(x & 255),
            static_cast<int>(y & 255)};
}

std::string MotionTracker::note() const {
    if (!can_compare())
        return "no shift: the image is smaller than " + std::to_string(kShortest) + " px";
    if (!has_frame_)
        return "";
    const std::string left_out = params_.skip ? "; left out" : "";
    if (found_ == Found::blank)
        return "no shift: blank image" + left_out;
    if (found_ == Found::nothing)
        return "no shift: nothing in common with the reference" + left_out;
    std::array<char, 64> text{};
    (void)std::snprintf(text.data(), text.size(), "shift %.2f, %.2f px", x_, y_);
    return std::string(text.data()) + (motion().moved ? "" : ", more than max_shift: not moved" + left_out);
}

namespace {

/// Lines transformed together.
constexpr int kLanes = 8;
struct Lanes {
    std::array<float, kLanes> re, im;

    Complex get(int lane) const {
        return {re[static_cast<std::size_t>(lane)], im[static_cast<std::size_t>(lane)]};
    }
    void set(int lane, Complex value) {
        re[static_cast<std::size_t>(lane)] = value.re;
        im[static_cast<std::size_t>(lane)] = value.im;
    }
};

/// Transforms lines of n samples, forward or backward (not divided by n). Returns `a` or `b`.
template <bool kBackward> Lanes* transform_lines(Lanes* a, Lanes* b, int n, const Complex* roots) {
    for (int s = 1; s < n; s *= 2) {
        for (int i = 0; i < n / 2; ++i) {
            const Butterfly wing = butterfly(i, s);
            const Complex factor = kBackward ? conjugate(roots[wing.root]) : roots[wing.root];
            const Lanes& first = a[i];
            const Lanes& second = a[i + n / 2];
            Lanes& even = b[wing.to];
            Lanes& odd = b[wing.to + s];
            for (std::size_t l = 0; l < kLanes; ++l) {
                const Complex p{first.re[l], first.im[l]};
                const Complex q{second.re[l], second.im[l]};
                const Complex added = p + q;
                const Complex rest = factor * (p - q);
                even.re[l] = added.re;
                even.im[l] = added.im;
                odd.re[l] = rest.re;
                odd.im[l] = rest.im;
            }
        }
        std::swap(a, b);
    }
    return a;
}

/// Adds the values in pairs at half the distance, as the threads of a block do.
float tree_sum(float* values, int count) {
    for (int step = count / 2; step > 0; step /= 2)
        for (int i = 0; i < step; ++i)
            values[i] = sum(values[i], values[i + step]);
    return values[0];
}

class HostCorrelation {
public:
    void prepare(const CorrelationPart& part, const Shape&) {
        part_ = &part;
        slots_ = parallel_threads();
        columns_ = (part.columns() + kLanes - 1) / kLanes;
        pairs_ = (part.ny / 2 + kLanes - 1) / kLanes;
        const auto spectrum = static_cast<std::size_t>(columns_) * static_cast<std::size_t>(part.ny);
        for (auto* memory : {&frame_, &product_, &reference_, &filter_})
            memory->assign(spectrum, Lanes{});
        const auto longest = static_cast<std::size_t>(std::max(part.nx, part.ny));
        scratch_.assign(2 * longest * static_cast<std::size_t>(slots_), Lanes{});
        correlation_.assign(static_cast<std::size_t>(part.nx) * static_cast<std::size_t>(part.ny), 0);
        squares_.assign(static_cast<std::size_t>(part.ny / 2), 0);
        highest_.assign(squares_.size(), {});
    }

    void transform(ConstHostView image, int x, int y, const RunContext<Space::host>&) {
        dispatch(image.shape.type, [&](auto zero) {
            const auto view = image.as<decltype(zero)>();
            const int channels = image.shape.channels;
            const float level = level_of(grey_sum(view.row(y + part_->ny / 2 * (part_->has_y ? 1 : 0)) +
                                                      (x + part_->nx / 2 * (part_->has_x ? 1 : 0)) * channels,
                                                  channels));
            run_bands(pairs_, slots_, [&](int strip, int slot) {
                const auto load = [&](int row, int column) {
                    const float window = product(part_->window_x[index(column)], part_->window_y[index(row)]);
                    return window == 0
                               ? 0.0F
                               : windowed(grey_sum(view.row(y + row) + (x + column) * channels, channels),
                                          level, window);
                };
                transform_rows(strip, slot, load);
            });
        });
        run_bands(columns_, slots_, [&](int strip, int slot) {
            Lanes* const column = frame_.data() + at(strip, 0);
            keep(transform_lines<false>(column, scratch(slot), part_->ny, part_->roots_y.data()), column);
        });
    }

    void add(const ReferenceStep& step, const RunContext<Space::host>&) {
        run_bands(columns_, slots_, [&](int strip, int) {
            for (int y = 0; y < part_->ny; ++y)
                for (int lane = 0; lane < kLanes; ++lane) {
                    const int x = strip * kLanes + lane;
                    if (x >= part_->columns())
                        break;
                    const std::size_t i = at(strip, y);
                    const Complex now = in_reference(reference_[i].get(lane), frame_[i].get(lane), step,
                                                     phase(part_->roots_x.data(), x * step.x, part_->nx),
                                                     phase(part_->roots_y.data(), y * step.y, part_->ny));
                    reference_[i].set(lane, now);
                    filter_[i].set(lane,
                                   pass_of(part_->pass_x.data(), part_->pass_y.data(), x, y, part_->ny) *
                                       conjugate(half_whitened(now)));
                }
        });
    }

    CorrelationPeak correlate(const RunContext<Space::host>&) {
        run_bands(columns_, slots_, [&](int strip, int slot) {
            Lanes* const column = product_.data() + at(strip, 0);
            for (int y = 0; y < part_->ny; ++y)
                multiply(frame_[at(strip, y)], filter_[at(strip, y)], column[y]);
            keep(transform_lines<true>(column, scratch(slot), part_->ny, part_->roots_y.data()), column);
        });
        run_bands(pairs_, slots_, [&](int strip, int slot) { restore_rows(strip, slot); });
        CorrelationPeak peak;
        Highest highest;
        for (const Highest& one : highest_)
            highest = higher(highest, one);
        peak.at = highest.at;
        for (int i = 0; i < 9; ++i)
            peak.around[i] = correlation_[index(neighbour(peak.at, i, part_->nx, part_->ny))];
        peak.squares = tree_sum(squares_.data(), part_->ny / 2);
        return peak;
    }

    void move(ConstHostView input, HostView output, const PixelShift& by, Border border,
              const RunContext<Space::host>&) const {
        dispatch(input.shape.type, [&](auto zero) {
            for_bands(input.shape.height, band_count(input.shape.height, slots_, 32), slots_,
                      [&](Band rows, int) {
                          for (int y = rows.begin; y < rows.end; ++y)
                              move_row<decltype(zero)>(input, output, y, by, border);
                      });
        });
    }

private:
    static std::size_t index(int i) { return static_cast<std::size_t>(i); }
    /// Columns of one strip are contiguous.
    std::size_t at(int strip, int y) const { return index(strip) * index(part_->ny) + index(y); }
    Lanes* scratch(int slot) {
        return scratch_.data() + 2 * index(std::max(part_->nx, part_->ny)) * index(slot);
    }
    void keep(const Lanes* result, Lanes* column) const {
        if (result != column)
            std::copy_n(result, part_->ny, column);
    }
    static void multiply(const Lanes& frame, const Lanes& filter, Lanes& to) {
        for (std::size_t l = 0; l < kLanes; ++l) {
            const Complex c = half_whitened({frame.re[l], frame.im[l]}) * Complex{filter.re[l], filter.im[l]};
            to.re[l] = c.re;
            to.im[l] = c.im;
        }
    }

    /// Spectra of the rows of `strip`, into frame_.
    template <class Load> void transform_rows(int strip, int slot, const Load& load) {
        Lanes* const lines = scratch(slot);
        const int half = part_->ny / 2;
        for (int lane = 0; lane < kLanes; ++lane) {
            const int y = strip * kLanes + lane;
            for (int x = 0; x < part_->nx; ++x)
                lines[x].set(lane, y < half ? Complex{load(y, x), load(y + half, x)} : Complex{0, 0});
        }
        const Lanes* const done =
            transform_lines<false>(lines, lines + part_->nx, part_->nx, part_->roots_x.data());
        for (int x = 0; x < part_->columns(); ++x)
            for (int lane = 0; lane < kLanes && strip * kLanes + lane < half; ++lane) {
                const int y = strip * kLanes + lane;
                const Complex here = done[x].get(lane);
                const Complex mirrored = done[(part_->nx - x) & (part_->nx - 1)].get(lane);
                frame_[at(x / kLanes, y)].set(x % kLanes, first_row(here, mirrored));
                frame_[at(x / kLanes, y + half)].set(x % kLanes, second_row(here, mirrored));
            }
    }

    /// Rows of the correlation from product_, and their statistics.
    void restore_rows(int strip, int slot) {
        Lanes* const lines = scratch(slot);
        const int half = part_->ny / 2;
        const int lanes = std::min(kLanes, half - strip * kLanes);
        for (int x = 0; x < part_->columns(); ++x)
            for (int lane = 0; lane < lanes; ++lane) {
                const int y = strip * kLanes + lane;
                const Complex a = product_[at(x / kLanes, y)].get(x % kLanes);
                const Complex b = product_[at(x / kLanes, y + half)].get(x % kLanes);
                if (x > 0 && x < part_->nx / 2)
                    lines[part_->nx - x].set(lane, conjugate(a) + turned(conjugate(b)));
                lines[x].set(lane, a + turned(b));
            }
        const Lanes* const done =
            transform_lines<true>(lines, lines + part_->nx, part_->nx, part_->roots_x.data());
        std::array<float, RegisterParams::kMaxSize / 2> sums{};
        for (int lane = 0; lane < lanes; ++lane) {
            const int y = strip * kLanes + lane;
            Highest highest;
            for (int x = 0; x < part_->nx; ++x) {
                const Complex two = done[x].get(lane);
                const int first = y * part_->nx + x;
                const int second = first + half * part_->nx;
                correlation_[index(first)] = two.re;
                correlation_[index(second)] = two.im;
                highest = higher(highest, higher({two.re, first}, {two.im, second}));
            }
            for (int x = 0; x < part_->nx / 2; ++x)
                sums[index(x)] = square_sum(done[x].get(lane), done[x + part_->nx / 2].get(lane));
            squares_[index(y)] = tree_sum(sums.data(), part_->nx / 2);
            highest_[index(y)] = highest;
        }
    }

    template <class T>
    static void move_row(ConstHostView input, HostView output, int y, const PixelShift& by, Border border) {
        const auto from = input.as<T>();
        T* const to = output.as<T>().row(y);
        const int width = input.shape.width;
        const int height = input.shape.height;
        const int channels = input.shape.channels;
        int begin = 0;
        int end = 0; // pixels that are a plain copy
        if (by.part_x == 0 && by.part_y == 0 && y + by.y >= 0 && y + by.y < height) {
            begin = std::clamp(-by.x, 0, width);
            end = std::clamp(width - by.x, begin, width);
            std::memcpy(to + begin * channels, from.row(y + by.y) + (begin + by.x) * channels,
                        index((end - begin) * channels) * sizeof(T));
        }
        const auto fill = [&](int first, int last) {
            for (int x = first; x < last; ++x)
                for (int c = 0; c < channels; ++c)
                    to[x * channels + c] =
                        moved_sample<T>(x, y, width, height, by, border,
                                        [&](int i, int j) { return from.row(j)[i * channels + c]; });
        };
        fill(0, begin);
        fill(end, width);
    }

    const CorrelationPart* part_ = nullptr;
    int slots_ = 1;
    int columns_ = 0, pairs_ = 0; ///< strips of columns and of pairs of rows
    std::vector<Lanes> frame_, product_, reference_, filter_, scratch_;
    std::vector<float> correlation_, squares_;
    std::vector<Highest> highest_; ///< of each pair of rows
};

} // namespace

StageType register_stage() {
    return {.name = "register",
            .doc = "Moves frames back to a reference: corrects drift and shake by phase correlation",
            .title = "Motion correction",
            .group = StageGroup::correction,
            .table = &register_table(),
            .tolerance = 0,
            .make_host = host_maker<RegisterStage<Space::host, HostCorrelation>>,
            .make_device = device_maker<make_register_device>,
            .stateful = true,
            .history = [](const Params& params) { return params.as<RegisterParams>().frames; },
            .science = "Motion",
            .moves_pixels = true,
            .mixes =
                [](const Params& params) {
                    return params.as<RegisterParams>().interpolate != RegisterParams::Interpolate::none;
                }};
}

} // namespace specklescope
