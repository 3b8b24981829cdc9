#include "sources/full_scale.hpp"

#include "base/log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace specklescope {

namespace {

constexpr std::size_t kBytesAFrame = std::size_t{4}
                                     << 20; ///< examined in larger frames, each time other samples
constexpr int kLeastBits = 8, kMostBits = 15;
constexpr std::uint64_t kLeastPile = 4; ///< samples
constexpr int kNear = 32;               ///< levels below the peak, which must be four times their mean

double largest_of_bits(int bits) { return std::exp2(bits) - 1; }

std::string whole_digits(double value) { return fmt::format("{:.0f}", value); }

template <class T> T largest_of(const T* samples, std::size_t count, T largest) {
    std::array<T, 16> lanes;
    lanes.fill(largest);
    std::size_t x = 0;
    for (; x + lanes.size() <= count; x += lanes.size())
        for (std::size_t i = 0; i < lanes.size(); ++i)
            lanes[i] = samples[x + i] > lanes[i] ? samples[x + i] : lanes[i];
    for (; x < count; ++x)
        lanes[0] = std::max(lanes[0], samples[x]);
    return *std::max_element(lanes.begin(), lanes.end());
}

} // namespace

struct FullScaleFinder::Levels {
    double largest = 0;
    std::uint16_t any = 0;   ///< bitwise or of all samples; 0 for floats
    int first = 0, step = 1; ///< rows examined

    /// Number of low bits of 16 that no sample uses.
    int unused() const { return any == 0 ? 0 : std::countr_zero(any); }
};

FullScaleFinder::Levels FullScaleFinder::look(ConstHostView frame) {
    Levels levels;
    levels.step = static_cast<int>(frame.shape.bytes() / kBytesAFrame) + 1;
    levels.first = static_cast<int>(frames_++ % static_cast<std::uint64_t>(levels.step));
    const std::size_t count = frame.shape.row_bytes() / pixel_bytes(frame.shape.type);
    dispatch(frame.shape.type, [&](auto zero) {
        using T = decltype(zero);
        T largest = 0;
        for (int y = levels.first; y < frame.shape.height; y += levels.step) {
            const T* row = frame.as<T>().row(y);
            largest = largest_of(row, count, largest);
            if constexpr (std::is_same_v<T, std::uint16_t>)
                for (std::size_t x = 0; x < count; ++x)
                    levels.any |= row[x];
        }
        levels.largest = static_cast<double>(largest);
    });
    return levels;
}

double FullScaleFinder::find(const std::string& name, ConstHostView frame, const StatedFullScale& stated) {
    const bool is_stated = !stated.by.empty();
    const double of_type = stated.value > 0 ? stated.value : type_full_scale(frame.shape.type);
    if (frame.shape.type == PixelType::u8 || (impossible_ && !is_stated))
        return of_type;
    const Levels levels = look(frame);
    const double found = is_stated ? take_stated(name, frame.shape.type, levels, stated)
                                   : assume(name, frame, levels, of_type);
    assumed_ = assumed_ || found_ > 0 || (is_stated && impossible_);
    return found > 0 || is_stated ? found : of_type;
}

double FullScaleFinder::take_stated(const std::string& name, PixelType type, const Levels& levels,
                                    const StatedFullScale& stated) {
    const int bits = static_cast<int>(std::lround(std::log2(stated.value + 1)));
    const double moved = bits < 16 ? std::ldexp(stated.value, 16 - bits) : stated.value;
    if (levels.largest > std::max(stated.value, found_) && !impossible_) {
        if (levels.unused() >= 16 - bits && levels.largest <= moved) {
            found_ = moved;
            say_once(
                fmt::format("'{}' states a full scale of {} ({}), but its samples are in the high bits of "
                            "16: the full scale is assumed to be {}. Give ?full_scale= if it is another.",
                            name, whole_digits(stated.value), stated.by, whole_digits(moved)),
                true);
        } else {
            impossible_ = true;
            say_once(
                fmt::format("'{}' states a full scale of {} ({}), but has samples of {}: the full scale of "
                            "its type is assumed. Give ?full_scale= if you know it.",
                            name, whole_digits(stated.value), stated.by, whole_digits(levels.largest)),
                true);
        }
    }
    if (impossible_)
        return type_full_scale(type);
    if (found_ == 0)
        say_once(
            fmt::format("'{}' has a full scale of {}, by {}.", name, whole_digits(stated.value), stated.by),
            false);
    return std::max(stated.value, found_);
}

double FullScaleFinder::assume(const std::string& name, ConstHostView frame, const Levels& levels,
                               double of_type) {
    if (levels.largest <= found_ && found_ > 0)
        return found_;
    if (found_ > 0)
        say_once(
            fmt::format("'{}' has samples of {}, above the full scale of {} that was assumed: the full scale "
                        "of its type is assumed from here on. Give ?full_scale= if you know it.",
                        name, whole_digits(levels.largest), whole_digits(found_)),
            true);
    impossible_ = found_ > 0 || (of_type > 0 && levels.largest >= of_type) ||
                  levels.largest > (levels.unused() > 0 ? 65535 : largest_of_bits(kMostBits));
    found_ = 0;
    for (int bits = kLeastBits; bits <= kMostBits && !impossible_; ++bits) {
        const bool low = levels.largest == largest_of_bits(bits);
        const bool high =
            levels.unused() >= 16 - bits && levels.largest == std::ldexp(largest_of_bits(bits), 16 - bits);
        if (!low && !high)
            continue;
        const double near = levels.largest - kNear * (high ? std::exp2(16 - bits) : 1);
        std::uint64_t at = 0, below = 0;
        dispatch(frame.shape.type, [&](auto zero) {
            using T = decltype(zero);
            const std::size_t count = frame.shape.row_bytes() / sizeof(T);
            for (int y = levels.first; y < frame.shape.height; y += levels.step)
                for (std::size_t x = 0; x < count; ++x) {
                    const auto value = static_cast<double>(frame.as<T>().row(y)[x]);
                    at += value == levels.largest ? 1 : 0;
                    below += value >= near && value < levels.largest ? 1 : 0;
                }
        });
        if (at < kLeastPile || at * (kNear / 4) < below)
            continue;
        found_ = levels.largest;
        say_once(fmt::format("The full scale of '{}' is assumed: its samples pile up at {} ({} bits{}). Set "
                             "?full_scale= if it is another.",
                             name, whole_digits(found_), bits, high ? " in the high bits of 16" : ""),
                 true);
    }
    return found_;
}

void FullScaleFinder::say_once(const std::string& text, bool warn) {
    if (std::exchange(said_, text) != text)
        run_log().log(warn ? spdlog::level::warn : spdlog::level::info, "{}", text);
}

} // namespace specklescope
