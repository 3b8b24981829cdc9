// Media for tests, made by GStreamer's command-line tool from frames with known pixels.
#pragma once

#include "tests/support/folder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace specklescope::test {

/// Consecutive frames without padding.
struct RawMovie {
    int width = 0, height = 0, count = 0;
    std::string format; ///< GStreamer's name
    int pixel_bytes = 1;
    std::vector<std::uint8_t> bytes;

    std::size_t frame_bytes() const { return static_cast<std::size_t>(width * height * pixel_bytes); }
    const std::uint8_t* frame(std::size_t index) const { return bytes.data() + index * frame_bytes(); }
};

inline RawMovie noise_movie(int width, int height, int count, const std::string& format, int pixel_bytes) {
    const unsigned seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random(seed);
    RawMovie movie{width, height, count, format, pixel_bytes, {}};
    movie.bytes.resize(movie.frame_bytes() * static_cast<std::size_t>(count));
    for (std::uint8_t& byte : movie.bytes)
        byte = static_cast<std::uint8_t>(random());
    return movie;
}

inline void write_file(const std::string& path, const void* data, std::size_t bytes) {
    std::ofstream(path, std::ios::binary)
        .write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

inline std::vector<char> file_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs gst-launch-1.0 on the text; false if it fails.
inline bool launch(const std::string& text) {
    return std::system(("timeout 60 gst-launch-1.0 -q " + text + " >/dev/null").c_str()) == 0;
}

/// Encodes the video at 25 frames/s: `chain` is the part between the raw frames and the file, encoder and
/// muxer.
inline void encode(const RawMovie& movie, const std::string& chain, const std::string& path) {
    const std::string raw = path + ".frames";
    write_file(raw, movie.bytes.data(), movie.bytes.size());
    const std::string size =
        "width=" + std::to_string(movie.width) + " height=" + std::to_string(movie.height);
    std::string format = movie.format;
    for (char& letter : format)
        letter = static_cast<char>(letter == '_' ? '-' : std::tolower(letter));
    ASSERT_TRUE(launch("filesrc location=" + raw + " blocksize=" + std::to_string(movie.frame_bytes()) +
                       " ! rawvideoparse use-sink-caps=false format=" + format + " " + size +
                       " framerate=25/1 plane-strides='<" + std::to_string(movie.width * movie.pixel_bytes) +
                       ">' plane-offsets='<0>' ! " + chain + " ! filesink location=" + path));
    std::filesystem::remove(raw);
}

} // namespace specklescope::test
