// Movies of the screen, decoded without the program's own readers.
#pragma once

#include "analysis/region.hpp"
#include "tests/recording/record_helpers.hpp"

#include <png.h>

#include <cmath>

namespace specklescope {

struct Pixels {
    Shape shape;
    Bytes rgb;

    std::array<int, 3> at(int x, int y) const {
        const std::size_t first = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) +
                                       static_cast<std::size_t>(x));
        return {std::to_integer<int>(rgb.at(first)), std::to_integer<int>(rgb.at(first + 1)),
                std::to_integer<int>(rgb.at(first + 2))};
    }
};

inline Pixels read_rgb(const std::string& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_TRUE(png_image_begin_read_from_file(&image, path.c_str())) << image.message;
    image.format = PNG_FORMAT_RGB;
    Pixels read{{static_cast<int>(image.width), static_cast<int>(image.height), 3, PixelType::u8}, {}};
    read.rgb.resize(PNG_IMAGE_SIZE(image));
    EXPECT_TRUE(png_image_finish_read(&image, nullptr, read.rgb.data(), 0, nullptr)) << image.message;
    return read;
}

/// Peak signal-to-noise ratio in dB of 8-bit images.
inline double psnr(const Bytes& a, const Bytes& b) {
    EXPECT_EQ(a.size(), b.size());
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::to_integer<int>(a[i]) - std::to_integer<int>(b[i]);
        sum += difference * difference;
    }
    return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / std::max(sum, 1e-9));
}

/// The frames of a movie equal these images to at least `least` dB. GStreamer's own conversion decodes the
/// colours, as in a player. An .mp4 has even sides: its last column and row are repeated.
inline void expect_movie(const std::string& path, const Shape& shape, const std::vector<Bytes>& pictures,
                         double least = 40) {
    const int odd = path.ends_with(".mp4") ? 1 : 0;
    const Shape film{shape.width + (shape.width & odd), shape.height + (shape.height & odd), 3,
                     PixelType::u8};
    const std::vector<Bytes> frames = decode_video(path, "RGB", film);
    ASSERT_EQ(frames.size(), pictures.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        Bytes seen;
        for (std::size_t y = 0; y < static_cast<std::size_t>(shape.height); ++y) {
            const auto row = frames[i].begin() + static_cast<std::ptrdiff_t>(y * film.row_bytes());
            seen.insert(seen.end(), row, row + std::ptrdiff_t{3} * shape.width);
        }
        EXPECT_GE(psnr(seen, pictures[i]), least) << "frame " << i;
    }
}

/// Sets regions on a result, as an executor does.
inline void put_regions(Result& result, std::vector<Region> regions) {
    auto values = std::make_shared<RegionValues>();
    values->placed = place_regions(make_outlines(std::move(regions)), result.shape(), 1);
    result.regions = values;
}

/// Last image of a recording of these results.
inline Pixels last_screen(const TemporaryFolder& folder, RecordOptions options, const StreamInfo& stream,
                          const std::vector<Result>& results,
                          const std::vector<EventMark>& before_each = {}) {
    options.path = folder / "screen.png";
    options.what = RecordWhat::screen;
    const auto sink = make_recorder(options);
    sink->open(stream);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (i < before_each.size() && before_each[i].number > 0)
            sink->mark(before_each[i]);
        sink->push(results[i], true);
    }
    sink->close();
    EXPECT_EQ(sink->status().error, "");
    return read_rgb(sink->status().path);
}

} // namespace specklescope
