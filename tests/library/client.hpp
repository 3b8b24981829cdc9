// A program that uses the library only through its header.
#pragma once

#include "specklescope.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace client {

struct Pixels {
    int width = 0, height = 0, channels = 1;
    std::vector<std::uint16_t> samples;
};

/// The seed is printed with each failure.
inline Pixels random_pixels(int width, int height, unsigned seed, int channels = 1) {
    std::mt19937 random(seed);
    Pixels made{width, height, channels, {}};
    made.samples.resize(static_cast<std::size_t>(width * height * channels));
    for (std::uint16_t& sample : made.samples)
        sample = static_cast<std::uint16_t>(random() % 4096);
    return made;
}

inline specklescope_image image_of(Pixels& pixels) {
    specklescope_image image{};
    image.struct_size = sizeof image;
    image.data = pixels.samples.data();
    image.width = pixels.width;
    image.height = pixels.height;
    image.channels = pixels.channels;
    image.type = SPECKLESCOPE_U16;
    return image;
}

inline specklescope_image image_of(std::vector<float>& samples, int width, int height) {
    specklescope_image image{};
    image.struct_size = sizeof image;
    image.data = samples.data();
    image.width = width;
    image.height = height;
    image.type = SPECKLESCOPE_F32;
    return image;
}

/// Folder of this process only, since tests run in parallel; removed at the end.
inline const std::string& own_folder() {
    struct Folder {
        const pid_t owner = ::getpid(); ///< a forked child does not remove it
        std::string path = testing::TempDir() + "/specklescope_library_" + std::to_string(owner);
        Folder() { std::filesystem::create_directories(path); }
        ~Folder() {
            std::error_code ignored;
            if (::getpid() == owner)
                std::filesystem::remove_all(path, ignored);
        }
        Folder(const Folder&) = delete;
        Folder& operator=(const Folder&) = delete;
    };
    static const Folder folder;
    return folder.path;
}

template <class T> T sized() {
    T made{};
    made.struct_size = sizeof made;
    return made;
}

/// A chain freed at the end of the test.
class Chain {
public:
    explicit Chain(const char* text, const char* options = nullptr) {
        auto settings = sized<specklescope_settings>();
        settings.options = options;
        EXPECT_EQ(specklescope_chain_create(text, &settings, &chain_), SPECKLESCOPE_OK)
            << specklescope_last_error();
    }
    ~Chain() { specklescope_chain_free(chain_); }
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;
    operator specklescope_chain*() const { return chain_; } // NOLINT(google-explicit-constructor)

private:
    specklescope_chain* chain_ = nullptr;
};

class Stream {
public:
    explicit Stream(const std::string& source, const char* chain = nullptr, const char* options = nullptr) {
        auto settings = sized<specklescope_settings>();
        settings.options = options;
        EXPECT_EQ(specklescope_stream_open(source.c_str(), chain, &settings, &stream_), SPECKLESCOPE_OK)
            << specklescope_last_error();
    }
    ~Stream() { specklescope_stream_close(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator specklescope_stream*() const { return stream_; } // NOLINT(google-explicit-constructor)

private:
    specklescope_stream* stream_ = nullptr;
};

inline std::vector<float> run(specklescope_chain* chain, Pixels& pixels,
                              specklescope_result* result = nullptr) {
    std::vector<float> made(pixels.samples.size());
    const specklescope_image in = image_of(pixels);
    const specklescope_image out = image_of(made, pixels.width, pixels.height);
    EXPECT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, result), SPECKLESCOPE_OK)
        << specklescope_last_error();
    return made;
}

/// Expects the status and a message of one line that contains `part`.
inline void expect_refused(specklescope_status status, specklescope_status expected,
                           const std::string& part) {
    const std::string sentence = specklescope_last_error();
    EXPECT_EQ(status, expected) << sentence;
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence << "\ndoes not hold: " << part;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    ASSERT_FALSE(sentence.empty());
    EXPECT_EQ(sentence.back(), '.') << sentence;
}

} // namespace client
