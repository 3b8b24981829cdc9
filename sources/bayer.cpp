#include "sources/bayer.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace specklescope {

namespace {

/// Indices in a 2×2 block: first row 0 and 1, second row 2 and 3.
struct Sites {
    std::size_t red, green, other_green, blue;
};

Sites sites_of(Bayer order) {
    switch (order) {
    case Bayer::grbg:
        return {1, 0, 3, 2};
    case Bayer::gbrg:
        return {2, 0, 3, 1};
    case Bayer::bggr:
        return {3, 1, 2, 0};
    default:
        return {0, 1, 2, 3};
    }
}

template <class T> T mean_green(T a, T b, T full) {
    if (a >= full || b >= full)
        return std::max(a, b);
    if constexpr (std::is_same_v<T, float>)
        return (a + b) / 2;
    else
        return static_cast<T>((static_cast<unsigned>(a) + b + 1) / 2);
}

template <class T> void bin_sites(const Sites& sites, ConstHostView mosaic, HostView color, T full) {
    for (int y = 0; y < color.shape.height; ++y) {
        const T* upper = mosaic.as<T>().row(2 * y);
        const T* lower = mosaic.as<T>().row(2 * y + 1);
        T* out = color.as<T>().row(y);
        for (int x = 0; x < color.shape.width; ++x, upper += 2, lower += 2, out += 3) {
            const std::array<T, 4> at{upper[0], upper[1], lower[0], lower[1]};
            out[0] = at[sites.red];
            out[1] = mean_green(at[sites.green], at[sites.other_green], full);
            out[2] = at[sites.blue];
        }
    }
}

using Sums = std::array<double, 4>;

/// Sums of the four sites over a tile.
Sums sums_of(ConstHostView frame, int left, int top, int side) {
    Sums sums{};
    dispatch(frame.shape.type, [&](auto zero) {
        using T = decltype(zero);
        for (int y = top; y < top + side; ++y) {
            const T* row = frame.as<T>().row(y) + left;
            const auto site = static_cast<std::size_t>(y % 2 * 2);
            for (int x = 0; x < side; x += 2) {
                sums[site] += static_cast<double>(row[x]);
                sums[site + 1] += static_cast<double>(row[x + 1]);
            }
        }
    });
    return sums;
}

} // namespace

ChoiceNames bayer_names() {
    return {"none", {"rggb", "RGGB"}, {"grbg", "GRBG"}, {"gbrg", "GBRG"}, {"bggr", "BGGR"}};
}

const char* const kBayerDoc = "Colours of the first 2×2 pixels of a mosaic saved as grey; each 2×2 pixels "
                              "become one colour pixel, without interpolation";

Shape bayer_shape(const Shape& mosaic, const std::string& name) {
    if (mosaic.channels != 1 || mosaic.width < 2 || mosaic.height < 2)
        throw UsageError("option bayer: '" + name + "' has frames of " + to_string(mosaic) +
                         ", which are not a mosaic. Leave bayer out.");
    return {mosaic.width / 2, mosaic.height / 2, 3, mosaic.type};
}

void bin_bayer(Bayer order, ConstHostView mosaic, HostView color, double full_scale) {
    dispatch(mosaic.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const double most = static_cast<double>(std::numeric_limits<T>::max());
        bin_sites<T>(sites_of(order), mosaic, color,
                     static_cast<T>(full_scale > 0 ? std::min(full_scale, most) : most));
    });
}

double mosaic_ratio(ConstHostView frame) {
    constexpr int kAcross = 8, kLeastSide = 8;
    // relative to the mean; rows and columns of one sensor differ by about 1 %
    constexpr double kDifference = 0.1;
    constexpr double kAgree = 0.95; // fraction of the tiles
    if (frame.shape.channels != 1)
        return 1;
    const int side = std::max(kLeastSide, std::min(frame.shape.width, frame.shape.height) / kAcross / 2 * 2);
    std::vector<Sums> tiles;
    Sums all{};
    for (int top = 0; top + side <= frame.shape.height; top += side)
        for (int left = 0; left + side <= frame.shape.width; left += side) {
            tiles.push_back(sums_of(frame, left, top, side));
            for (std::size_t i = 0; i < all.size(); ++i)
                all[i] += tiles.back()[i];
        }
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    const double mean = (all[0] + all[1] + all[2] + all[3]) / 4;
    if (tiles.size() < 9 || !(*low >= 0) || !std::isfinite(mean) || !(*high - *low > kDifference * mean))
        return 1;
    const auto brightest = static_cast<std::size_t>(high - all.begin());
    const auto darkest = static_cast<std::size_t>(low - all.begin());
    const auto agree = std::count_if(tiles.begin(), tiles.end(),
                                     [&](const Sums& tile) { return tile[brightest] > tile[darkest]; });
    if (static_cast<double>(agree) < kAgree * static_cast<double>(tiles.size()))
        return 1;
    return *low > 0 ? *high / *low : std::numeric_limits<double>::infinity();
}

void MosaicFinder::look(const std::string& name, ConstHostView frame) {
    constexpr int kLooked = 4;
    if (frames_ >= kLooked)
        return;
    ++frames_;
    const double ratio = mosaic_ratio(frame);
    if (ratio == 1)
        return;
    frames_ = kLooked;
    run_log().warn("'{}' looks like the mosaic of a colour sensor that was saved as grey: one of each 2×2 "
                   "pixels is {:.3g} times as bright as another, which looks like contrast. Give "
                   "?bayer=rggb, grbg, gbrg or bggr, as the camera's manual states.",
                   name, ratio);
}

} // namespace specklescope
