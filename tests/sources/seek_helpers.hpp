// Helpers for tests of seeking: a seek gives the frame that a sequential read gives there.
#pragma once

#include "base/error.hpp"
#include "sources/registry.hpp"
#include "tests/sources/media.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>

namespace specklescope::test {

/// All frames of one sequential read.
inline std::vector<Delivered> straight(const std::string& text) {
    const auto source = make_source(text, {});
    source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    source->close();
    return std::move(port.frames);
}

/// Reads the next frame of the source; compares position and pixels.
inline void expect_next(Source& source, const std::vector<Delivered>& all, std::uint64_t frame) {
    TestPort port;
    ASSERT_TRUE(read_frames(source, port, 1));
    ASSERT_EQ(port.frames.size(), 1U);
    ASSERT_TRUE(port.frames[0].info.position.has_value());
    EXPECT_EQ(*port.frames[0].info.position, frame);
    EXPECT_EQ(port.frames[0].shape, all.at(frame).shape);
    ASSERT_TRUE(port.frames[0].info.film_ns.has_value());
    EXPECT_EQ(*port.frames[0].info.film_ns, all.at(frame).info.film_ns) << "the time in the film is its own";
    EXPECT_TRUE(port.frames[0].pixels == all.at(frame).pixels) << "not the pixels of frame " << frame;
    EXPECT_EQ(port.frames[0].info.exposure_ms == port.frames[0].info.exposure_ms
                  ? port.frames[0].info.exposure_ms
                  : -1,
              all[frame].info.exposure_ms == all[frame].info.exposure_ms ? all[frame].info.exposure_ms : -1);
}

inline std::string refusal(Source& source, std::uint64_t frame) {
    try {
        source.seek(frame, 0);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

/// Random seeks followed by a few frames, including the ends; after the end; beyond it; after reopening.
inline void expect_exact_seeks(const std::string& text, std::uint64_t frames) {
    SCOPED_TRACE(text);
    const std::vector<Delivered> all = straight(text);
    ASSERT_EQ(all.size(), frames);
    const bool doubtful = std::any_of(all.begin(), all.end(), [&](const Delivered& frame) {
        return frame.info.time_origin != all[0].info.time_origin; // its time was replaced
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].info.position.value_or(9999), i);
        if (!doubtful) {
            EXPECT_NEAR(static_cast<double>(all[i].info.film_ns.value_or(-1)),
                        static_cast<double>(all[i].info.capture_ns - all[0].info.capture_ns), 1000)
                << "in one go it is the time of capture";
        }
    }
    const unsigned seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random(seed);
    const auto any = [&] { return random() % frames; };

    const auto source = make_source(text, {});
    const SourceInfo info = source->open();
    EXPECT_TRUE(info.seekable);
    source->seek(any(), 0); // before anything was read
    std::vector<std::uint64_t> wanted = {0, frames - 1, any(), any(), 0};
    for (int i = 0; i < 12; ++i)
        wanted.push_back(any());
    for (const std::uint64_t first : wanted) {
        source->seek(first, 0);
        const std::uint64_t last = std::min(frames, first + 1 + random() % 3);
        for (std::uint64_t frame = first; frame < last; ++frame)
            ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, frame));
    }
    EXPECT_EQ(source->length(), frames);

    const std::uint64_t present = any(); // a refusal changes nothing
    source->seek(present, 0);
    for (const std::uint64_t wrong : {frames, frames + 1 + any(), ~std::uint64_t{0}}) {
        const std::string said = refusal(*source, wrong);
        EXPECT_NE(said.find("has no frame " + std::to_string(wrong)), std::string::npos) << said;
        EXPECT_NE(said.find(frames == 1 ? "allowed: 0." : "allowed: 0…" + std::to_string(frames - 1) + "."),
                  std::string::npos)
            << said;
        EXPECT_EQ(said.find('\n'), std::string::npos);
    }
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, present));

    TestPort rest;
    ASSERT_TRUE(read_frames(*source, rest)); // to the end
    EXPECT_EQ(rest.frames.size(), frames - 1 - present);
    source->seek(frames / 2, 0);
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, frames / 2));
    source->close();

    source->open();
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, 0));
    source->close();
}

/// File extension and encoder of a video.
struct EncodedFilm {
    std::string name, chain;
};

/// Name of its test.
inline std::string name_of(const testing::TestParamInfo<EncodedFilm>& film) {
    std::string name = film.param.name;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return name;
}

class SeekTest : public testing::Test {
protected:
    std::string file(const std::string& name) const { return folder_ / name; }
    /// Frames with one value each and a gradient, from `first` on.
    static std::string frames_bytes(int first, int count, int pixels) {
        std::string bytes;
        for (int frame = first; frame < first + count; ++frame)
            for (int i = 0; i < pixels; ++i)
                bytes += static_cast<char>(frame * 37 + i * 5);
        return bytes;
    }
    void script(const std::string& text) {
        if (!python(folder_,
                    "import numpy as n, tifffile as t, json\n"
                    "r = n.random.default_rng(7)\n"
                    "def frames(k, h=20, w=24): return r.integers(0, 65535, (k, h, w), dtype=n.uint16)\n" +
                        text))
            FAIL() << "Debian's python3 with numpy and tifffile is needed: "
                   << read_file(folder_ / "python.log");
    }
    TemporaryFolder folder_;
};

} // namespace specklescope::test
