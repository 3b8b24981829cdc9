// Motion between frames by phase correlation: parameters, decisions and arithmetic, shared by host and
// device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/border.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace specklescope {

/// Moves each frame back to the place of a reference.
struct RegisterParams {
    enum class Reference : std::uint8_t { fixed, running };
    enum class Interpolate : std::uint8_t { none, linear };
    static constexpr int kMinSize = 16, kMaxSize = 1024;

    Reference reference = Reference::fixed;
    int frames = 16;    ///< mean of the first frames, or fading mean of the last ones
    double blur = 1.5;  ///< standard deviation of the Gaussian low-pass, px
    int size = 512;     ///< longest side of the compared part
    int max_shift = 64; ///< px
    bool skip = false;  ///< later windows leave out frames that were not moved
    Border border = Border::replicate;
    Interpolate interpolate = Interpolate::none;
};

// --- spectrum ---
// The compared part is nx × ny pixels (powers of two). Rows y and y + ny/2 are transformed as the real and
// the imaginary part of one complex row, so that spectra have nx/2 + 1 columns. Sums and products are rounded
// one by one, and sums of many values are trees of a fixed form: host and device find the same bits.

struct Complex {
    float re, im;
};
SPECKLESCOPE_BOTH inline Complex operator+(Complex a, Complex b) {
    return {sum(a.re, b.re), sum(a.im, b.im)};
}
SPECKLESCOPE_BOTH inline Complex operator-(Complex a, Complex b) {
    return {sum(a.re, -b.re), sum(a.im, -b.im)};
}
SPECKLESCOPE_BOTH inline Complex operator*(Complex a, Complex b) {
    return {sum(product(a.re, b.re), -product(a.im, b.im)), sum(product(a.re, b.im), product(a.im, b.re))};
}
SPECKLESCOPE_BOTH inline Complex operator*(float a, Complex b) {
    return {product(a, b.re), product(a, b.im)};
}
SPECKLESCOPE_BOTH inline Complex conjugate(Complex a) { return {a.re, -a.im}; }
/// i·a
SPECKLESCOPE_BOTH inline Complex turned(Complex a) { return {-a.im, a.re}; }

SPECKLESCOPE_BOTH inline float root(float a) {
#ifdef __CUDA_ARCH__
    return __fsqrt_rn(a);
#else
    return std::sqrt(a);
#endif
}
SPECKLESCOPE_BOTH inline float quotient(float a, float b) {
#ifdef __CUDA_ARCH__
    return __fdiv_rn(a, b);
#else
    return a / b;
#endif
}

/// Butterfly `i` of n/2 in the pass of Stockham's algorithm with stride s = 1, 2, 4 … n/2: inputs i and
/// i + n/2, outputs `to` and `to` + s, factor `root` of fft_roots().
struct Butterfly {
    int to, root;
};
SPECKLESCOPE_BOTH inline Butterfly butterfly(int i, int s) {
    const int root = i & ~(s - 1);
    return {i + root, root};
}

/// e^(2πi·k/n) for any k ≥ 0; `roots` has e^(−2πi·k/n) for k < n/2.
SPECKLESCOPE_BOTH inline Complex phase(const Complex* roots, int k, int n) {
    k &= n - 1;
    const Complex half = conjugate(roots[k & (n / 2 - 1)]);
    return k < n / 2 ? half : Complex{-half.re, -half.im};
}

/// Spectra of two real rows from the spectrum of their combination: columns k and nx − k (times two).
SPECKLESCOPE_BOTH inline Complex first_row(Complex at, Complex mirrored) { return at + conjugate(mirrored); }
SPECKLESCOPE_BOTH inline Complex second_row(Complex at, Complex mirrored) {
    const Complex i_times = at - conjugate(mirrored);
    return {i_times.im, -i_times.re};
}

/// a/√|a|: half of the whitening; the reference has the other half.
SPECKLESCOPE_BOTH inline Complex half_whitened(Complex a) {
    const float size = root(sum(product(a.re, a.re), product(a.im, a.im)));
    return size > 0 ? quotient(1, root(size)) * a : Complex{0, 0};
}

/// Adds a frame, whose content is `x`, `y` px to the right and below, to the reference.
struct ReferenceStep {
    float keep = 0, weight = 1; ///< of the reference so far and of the frame
    int x = 0, y = 0;           ///< modulo nx, ny
};
/// New spectrum of the reference at column x, row y; `keep` 0 ignores the old one.
SPECKLESCOPE_BOTH inline Complex in_reference(Complex before, Complex frame, const ReferenceStep& step,
                                              Complex phase_x, Complex phase_y) {
    const Complex moved = step.weight * (phase_x * (phase_y * frame));
    return step.keep > 0 ? step.keep * before + moved : moved;
}

/// Sample of the compared part: deviation from `level`, 0 if undefined, times the window.
SPECKLESCOPE_BOTH inline float windowed(float value, float level, float window) {
    const float deviation = sum(value, -level);
    return deviation - deviation == 0 ? product(deviation, window) : 0.0F;
}
template <class T> SPECKLESCOPE_BOTH inline float grey_sum(const T* pixel, int channels) {
    const auto first = static_cast<float>(pixel[0]);
    return channels == 1 ? first
                         : sum(sum(first, static_cast<float>(pixel[1])), static_cast<float>(pixel[2]));
}
/// Level from the middle pixel: rounding errors are those of the contrast, not of the mean.
SPECKLESCOPE_BOTH inline float level_of(float middle) { return middle - middle == 0 ? middle : 0.0F; }

/// Largest value of the correlation; on equality the first.
struct Highest {
    float value = -1;
    int at = 0; ///< y·nx + x
};
SPECKLESCOPE_BOTH inline Highest higher(Highest a, Highest b) {
    return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;
}

/// Squares of a thread's values: columns x and x + nx/2 of two rows.
SPECKLESCOPE_BOTH inline float square_sum(Complex a, Complex b) {
    return sum(sum(product(a.re, a.re), product(b.re, b.re)), sum(product(a.im, a.im), product(b.im, b.im)));
}

/// Result of a correlation.
struct CorrelationPeak {
    int at = 0;        ///< y·nx + x
    float around[9]{}; ///< values around it, row by row
    float squares = 0; ///< sum over all values
};
/// Index of neighbour `i` of CorrelationPeak::around; the correlation is periodic.
SPECKLESCOPE_BOTH inline int neighbour(int at, int i, int nx, int ny) {
    return ((at / nx + i / 3 - 1) & (ny - 1)) * nx + ((at % nx + i % 3 - 1) & (nx - 1));
}

/// Sizes and tables of a correlation.
struct CorrelationPart {
    int nx = 0, ny = 0;                ///< ≥ 2
    bool has_x = false, has_y = false; ///< the axis is compared
    int x = 0, y = 0;                  ///< corner in an image that has not moved
    int room_x = 0, room_y = 0;        ///< largest corner
    std::vector<float> window_x, window_y;
    std::vector<Complex> roots_x, roots_y;
    std::vector<float> pass_x, pass_y; ///< low-pass of columns 0 … nx/2 and of rows 0 … ny − 1

    static CorrelationPart of(const RegisterParams& params, const Shape& shape);
    int columns() const { return nx / 2 + 1; }
};
/// Factor of a frequency: the low-pass, without the mean and its leakage through the window.
SPECKLESCOPE_BOTH inline float pass_of(const float* pass_x, const float* pass_y, int x, int y, int ny) {
    return x <= 1 && (y <= 1 || y == ny - 1) ? 0.0F : product(pass_x[x], pass_y[y]);
}

// --- movement of pixels ---

/// Whole pixels, and the rest in 1/256.
struct PixelShift {
    int x = 0, y = 0;
    int part_x = 0, part_y = 0;
};

/// Sample (x, y) of the moved image; at(x, y) reads the input, whose sides are `width` and `height`.
template <class T, class At> SPECKLESCOPE_BOTH inline T
moved_sample(int x, int y, int width, int height, const PixelShift& by, Border border, const At& at) {
    const auto read = [&](int column, int row) -> T {
        const int i = border_index(column, width, border);
        const int j = border_index(row, height, border);
        return i < 0 || j < 0 ? T{} : at(i, j);
    };
    const int column = x + by.x;
    const int row = y + by.y;
    if (by.part_x == 0 && by.part_y == 0)
        return read(column, row);
    if constexpr (std::is_integral_v<T>) {
        const auto line = [&](int j) {
            const std::uint32_t left = read(column, j);
            return by.part_x == 0 ? left * 256U
                                  : left * static_cast<std::uint32_t>(256 - by.part_x) +
                                        static_cast<std::uint32_t>(read(column + 1, j)) *
                                            static_cast<std::uint32_t>(by.part_x);
        };
        const std::uint32_t above = line(row);
        const std::uint32_t all = by.part_y == 0 ? above * 256U
                                                 : above * static_cast<std::uint32_t>(256 - by.part_y) +
                                                       line(row + 1) * static_cast<std::uint32_t>(by.part_y);
        return static_cast<T>((all + 32768U) >> 16);
    } else {
        const auto between = [](float a, float b, int part) {
            const float share = static_cast<float>(part) / 256;
            return sum(product(a, 1 - share), product(b, share));
        };
        const auto line = [&](int j) {
            return by.part_x == 0 ? read(column, j)
                                  : between(read(column, j), read(column + 1, j), by.part_x);
        };
        return by.part_y == 0 ? line(row) : between(line(row), line(row + 1), by.part_y);
    }
}

// --- decisions ---

/// Follows the scene from frame to frame.
class MotionTracker {
public:
    explicit MotionTracker(const RegisterParams& params) : params_(params) {}

    void set_params(const RegisterParams& params) { params_ = params; }
    void prepare(const Shape& shape) {
        part_ = CorrelationPart::of(params_, shape);
        reset();
    }
    void reset();

    const CorrelationPart& part() const { return part_; }
    bool can_compare() const { return part_.has_x || part_.has_y; }
    bool has_frame() const { return has_frame_; }
    bool has_reference() const { return references_ > 0; }
    /// Corner of the compared part in the next frame: where the scene was last.
    int corner_x() const;
    int corner_y() const;

    /// Measures the frame from its correlation with the reference (the first frame: with itself). Returns its
    /// weight in the reference if it is added.
    std::optional<ReferenceStep> take(const CorrelationPeak& peak);
    /// A frame that cannot be compared.
    void take_nothing() { has_frame_ = true; }

    /// The newest frame with the present parameters.
    FrameMotion motion() const;
    PixelShift shift() const;
    std::string note() const;

private:
    enum class Found : std::uint8_t { motion, blank, nothing };

    RegisterParams params_;
    CorrelationPart part_;
    bool has_frame_ = false;
    int references_ = 0;                 ///< frames in the reference
    double centre_x_ = 0, centre_y_ = 0; ///< mean position of the reference's frames, px
    int last_x_ = 0, last_y_ = 0;        ///< whole shift of the last frame that was found
    Found found_ = Found::blank;
    double x_ = 0, y_ = 0; ///< of the newest frame
};

/// Correlation: the backend's part. prepare(part, input), transform(image, x, y, context) of the part at this
/// corner, add(ReferenceStep, context), correlate(context), move(input, output, shift, border, context).
template <Space S, class Correlation> class RegisterStage final : public Stage<S> {
public:
    explicit RegisterStage(const Params& params) : params_(params.as<RegisterParams>()), tracker_(params_) {}

    Shape prepare(const Shape& input) override {
        tracker_.prepare(input);
        correlation_.prepare(tracker_.part(), input);
        return input;
    }
    void run(ConstImageView<S> input, ImageView<S> output, const RunContext<S>& context) override {
        if (!context.again || !tracker_.has_frame())
            measure(input, context);
        correlation_.move(input, output, tracker_.shift(), params_.border, context);
    }
    void set_params(const Params& params) override {
        params_ = params.as<RegisterParams>();
        tracker_.set_params(params_);
    }
    void reset() override { tracker_.reset(); }
    std::string note() const override { return tracker_.note(); }
    bool note_changes() const override { return true; }
    void describe(FrameInfo& info) const override { info.motion = tracker_.motion(); }

private:
    void measure(ConstImageView<S> input, const RunContext<S>& context) {
        if (!tracker_.can_compare()) {
            tracker_.take_nothing();
            return;
        }
        correlation_.transform(input, tracker_.corner_x(), tracker_.corner_y(), context);
        if (!tracker_.has_reference())
            correlation_.add(ReferenceStep(), context);
        if (const auto step = tracker_.take(correlation_.correlate(context)))
            correlation_.add(*step, context);
    }

    RegisterParams params_;
    MotionTracker tracker_;
    Correlation correlation_;
};

StageType register_stage();
std::unique_ptr<DeviceStage> make_register_device(const Params& params);

} // namespace specklescope
