// CLAHE as described by Zuiderveld and OpenCV, in simple loops, for the tests of host and device. Every f32
// step goes through memory, so that nothing is fused.
#pragma once

#include "stages/equalize/clahe.hpp"
#include "tests/support/random.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace specklescope::test {

inline float stored(float value) {
    volatile float memory = value;
    return memory;
}

/// The image extended to the right and below by mirroring.
inline int oracle_mirror(int i, int size) {
    int step = 1;
    int at = 0;
    for (int k = 0; k < i; ++k) {
        if (size > 1 && (at + step < 0 || at + step >= size))
            step = -step;
        at += size > 1 ? step : 0;
    }
    return at;
}

template <class T> class ClaheOracle {
public:
    ClaheOracle(const TestImage<T>& image, const ClaheParams& params, double full_scale)
        : image_(image), params_(params), channels_(image.shape().channels), tiles_(params.tiles) {
        const int width = image.shape().width;
        const int height = image.shape().height;
        const bool divides = width % tiles_ == 0 && height % tiles_ == 0;
        tile_width_ = divides ? width / tiles_ : (width + tiles_ - width % tiles_) / tiles_;
        tile_height_ = divides ? height / tiles_ : (height + tiles_ - height % tiles_) / tiles_;
        find_range(full_scale);
        for (int ty = 0; ty < tiles_; ++ty)
            for (int tx = 0; tx < tiles_; ++tx)
                mappings_.push_back(mapping(tx, ty));
    }

    TestImage<T> result() const {
        TestImage<T> out(image_.shape().width, image_.shape().height, 5, channels_);
        for (int y = 0; y < image_.shape().height; ++y)
            for (int x = 0; x < image_.shape().width; ++x)
                put(out, x, y);
        return out;
    }

private:
    /// NaN: not finite.
    double value(int x, int y) const {
        double most = channels_ == 1 ? -HUGE_VAL : 0; // HSV has no V below 0
        for (int c = 0; c < channels_; ++c) {
            const auto sample = static_cast<double>(image_.at(x * channels_ + c, y));
            if (!std::isfinite(sample))
                return std::nan("");
            most = std::max(most, sample);
        }
        return most;
    }

    void find_range(double full_scale) {
        bins_ = params_.bins;
        if constexpr (std::is_integral_v<T>) {
            const double full = full_scale > 0 ? full_scale : std::numeric_limits<T>::max();
            high_ = static_cast<float>(full);
            bins_ = std::min(bins_, static_cast<int>(full) + 1);
            scale_ = static_cast<float>(bins_) / (high_ + 1);
            return;
        }
        double low = HUGE_VAL;
        double high = -HUGE_VAL;
        for (int y = 0; y < image_.shape().height; ++y)
            for (int x = 0; x < image_.shape().width; ++x) {
                const double v = value(x, y);
                low = v < low ? v : low;
                high = v > high ? v : high;
            }
        if (low > high)
            return;
        low_ = static_cast<float>(low);
        high_ = static_cast<float>(high);
        scale_ = low < high ? stored(static_cast<float>(bins_) / stored(high_ - low_)) : 0;
    }

    int bin(double v) const {
        const float at = stored(stored(static_cast<float>(v) - low_) * scale_);
        return std::clamp(static_cast<int>(at), 0, bins_ - 1);
    }

    std::vector<T> mapping(int tx, int ty) const {
        std::vector<int> heights(static_cast<std::size_t>(bins_));
        for (int y = ty * tile_height_; y < (ty + 1) * tile_height_; ++y)
            for (int x = tx * tile_width_; x < (tx + 1) * tile_width_; ++x) {
                const double v =
                    value(oracle_mirror(x, image_.shape().width), oracle_mirror(y, image_.shape().height));
                if (!std::isnan(v))
                    ++heights[static_cast<std::size_t>(bin(v))];
            }
        const int area = tile_width_ * tile_height_;
        if (params_.clip > 0)
            clip(heights, std::max(1, static_cast<int>(params_.clip * area / bins_)));
        const float per_count = stored(stored(high_ - low_) / static_cast<float>(area));
        std::vector<T> levels;
        int sum = 0;
        for (const int height : heights) {
            sum += height;
            const float level = stored(static_cast<float>(sum) * per_count);
            if constexpr (std::is_integral_v<T>)
                levels.push_back(static_cast<T>(std::nearbyint(level)));
            else
                levels.push_back(std::min(high_, stored(low_ + level)));
        }
        return levels;
    }

    static void clip(std::vector<int>& heights, int limit) {
        int clipped = 0;
        for (int& height : heights) {
            clipped += std::max(0, height - limit);
            height = std::min(height, limit);
        }
        const int bins = static_cast<int>(heights.size());
        for (int& height : heights)
            height += clipped / bins;
        int rest = clipped % bins;
        const int step = rest > 0 ? std::max(1, bins / rest) : 1;
        for (int i = 0; i < bins && rest > 0; i += step, --rest)
            ++heights[static_cast<std::size_t>(i)];
    }

    float level(int tx, int ty, int at) const {
        tx = std::clamp(tx, 0, tiles_ - 1);
        ty = std::clamp(ty, 0, tiles_ - 1);
        return static_cast<float>(
            mappings_[static_cast<std::size_t>(ty * tiles_ + tx)][static_cast<std::size_t>(at)]);
    }

    void put(TestImage<T>& out, int x, int y) const {
        const double v = value(x, y);
        const float fx =
            stored(stored(static_cast<float>(x) * stored(1.0F / static_cast<float>(tile_width_))) - 0.5F);
        const float fy =
            stored(stored(static_cast<float>(y) * stored(1.0F / static_cast<float>(tile_height_))) - 0.5F);
        const int tx = static_cast<int>(std::floor(fx));
        const int ty = static_cast<int>(std::floor(fy));
        const float right = stored(fx - static_cast<float>(tx));
        const float below = stored(fy - static_cast<float>(ty));
        const float left = stored(1 - right);
        const float above = stored(1 - below);
        const int at = std::isnan(v) ? 0 : bin(v);
        const float first = stored(stored(level(tx, ty, at) * left) + stored(level(tx + 1, ty, at) * right));
        const float second =
            stored(stored(level(tx, ty + 1, at) * left) + stored(level(tx + 1, ty + 1, at) * right));
        const float mixed = stored(stored(first * above) + stored(second * below));
        for (int c = 0; c < channels_; ++c) {
            const T sample = image_.at(x * channels_ + c, y);
            out.at(x * channels_ + c, y) = std::isnan(v) ? sample : scaled(sample, mixed, static_cast<T>(v));
        }
    }

    T scaled(T sample, float mixed, T v) const {
        if constexpr (std::is_integral_v<T>) {
            const double to = std::nearbyint(static_cast<double>(mixed));
            return static_cast<T>(
                channels_ == 1 || v == 0 ? to : std::nearbyint(sample * to / v)); // exact in double
        } else {
            if (channels_ == 1)
                return mixed;
            return v > 0 ? stored(mixed * stored(std::max(sample, 0.0F) / v)) : mixed;
        }
    }

    const TestImage<T>& image_;
    ClaheParams params_;
    int channels_, tiles_;
    int tile_width_ = 1, tile_height_ = 1;
    int bins_ = 1;
    float low_ = 0, high_ = 0, scale_ = 0;
    std::vector<std::vector<T>> mappings_;
};

template <class T>
TestImage<T> oracle_clahe(const TestImage<T>& image, const ClaheParams& params, double full_scale = 0) {
    return ClaheOracle<T>(image, params, full_scale).result();
}

/// A gradient with noise: tiles differ.
template <class T>
TestImage<T> clahe_image(int width, int height, int channels, double full, std::uint64_t stream) {
    std::mt19937_64 random = test_random(stream);
    std::exponential_distribution<double> speckle(8.0);
    TestImage<T> image(width, height, 3, channels);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width * channels; ++x) {
            const double slope = 0.1 + 0.5 * x / (width * channels) + 0.3 * y / height;
            image.at(x, y) = static_cast<T>(full * std::min(1.0, slope * (0.5 + speckle(random))));
        }
    return image;
}

} // namespace specklescope::test
