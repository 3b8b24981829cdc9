// Reference of stage background in float64, and its input files.
#pragma once

#include "tests/support/stage_runner.hpp"

#include <tiffio.h>

#include <cmath>

namespace specklescope::test {

/// A plane of the oracle with interleaved channels.
struct Plane {
    int width = 0;
    std::vector<double> values;
    double at(int x, int y) const { return values[static_cast<std::size_t>(y * width + x)]; }
};

/// Mean of some frames.
template <class T> Plane mean_plane(const std::vector<TestImage<T>>& frames) {
    const Shape& shape = frames[0].shape();
    Plane plane{shape.width * shape.channels, {}};
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < plane.width; ++x) {
            double sum = 0;
            for (const TestImage<T>& frame : frames)
                sum += static_cast<double>(frame.at(x, y));
            plane.values.push_back(sum / static_cast<double>(frames.size()));
        }
    return plane;
}

/// (I − dark)/(flat − dark)·⟨flat − dark⟩ in float64; NaN below 1 % of the mean light. Planes may be null.
template <class T> void expect_corrected(const StageRunner& run, const TestImage<T>& frame, const Plane* dark,
                                         const Plane* flat, double black = 0) {
    const Shape& shape = frame.shape();
    const auto dark_at = [&](int x, int y) { return dark ? dark->at(x, y) : black; };
    std::vector<double> mean(3, 0);
    for (int y = 0; flat && y < shape.height; ++y)
        for (int x = 0; x < flat->width; ++x)
            mean[static_cast<std::size_t>(x % shape.channels)] +=
                (flat->at(x, y) - dark_at(x, y)) / static_cast<double>(shape.pixels());
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width * shape.channels; ++x) {
            double expected = static_cast<double>(frame.at(x, y)) - dark_at(x, y);
            const double even = mean[static_cast<std::size_t>(x % shape.channels)];
            const double light = flat ? flat->at(x, y) - dark_at(x, y) : 1;
            if (flat)
                expected *= even / light;
            const auto got = static_cast<double>(run.output.at(x, y));
            if (flat && light < 0.01 * even)
                EXPECT_TRUE(std::isnan(got)) << x << ", " << y;
            else
                EXPECT_NEAR(got, expected, 4e-7 * (std::abs(expected) + 1000)) << x << ", " << y;
        }
}

template <class T> TestImage<T> noise(int channels, double low, double high, std::mt19937_64& random) {
    std::uniform_real_distribution<double> value(low, high);
    return TestImage<T>(23, 7, 2, channels).fill([&] { return value(random); });
}

/// `mode`: "a" for one more page.
template <class T>
void save_tiff(const std::string& path, const TestImage<T>& image, const char* mode = "w") {
    const Shape& shape = image.shape();
    TIFF* const file = TIFFOpen(path.c_str(), mode);
    ASSERT_TRUE(file);
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, shape.width);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, shape.height);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, shape.channels);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 8 * static_cast<int>(sizeof(T)));
    TIFFSetField(file, TIFFTAG_SAMPLEFORMAT, std::is_integral_v<T> ? SAMPLEFORMAT_UINT : SAMPLEFORMAT_IEEEFP);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, shape.channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    for (int y = 0; y < shape.height; ++y) {
        std::vector<T> row;
        for (int x = 0; x < shape.width * shape.channels; ++x)
            row.push_back(image.at(x, y));
        TIFFWriteScanline(file, row.data(), static_cast<std::uint32_t>(y), 0);
    }
    TIFFClose(file);
}

} // namespace specklescope::test
