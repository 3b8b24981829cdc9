// Helpers for tests of GStreamer sources: sources by name, videos with known pixels, expected frames.
#pragma once

#include "base/error.hpp"
#include "sources/gst/gst_source.hpp"
#include "sources/registry.hpp"

#include "tests/sources/media.hpp"
#include "tests/support/test_port.hpp"

#include <cstring>

namespace specklescope::test {

inline std::unique_ptr<Source> video(const std::string& path, bool loop = false, double rate = 0) {
    Params params(video_table());
    params.set("loop", loop);
    params.set("rate", rate);
    return make_video_source(path, params);
}

inline std::unique_ptr<Source> of_type(const SourceType& type, const std::string& target) {
    return type.make({std::string(type.kind), target, {}}, Params(*type.table));
}

inline std::unique_ptr<Source> gst(const std::string& text) { return of_type(gst_source_type(), text); }
inline std::unique_ptr<Source> trusted_gst(const std::string& text) {
    const SourceType type = gst_source_type();
    return type.make({"gst", text, {}, true}, Params(*type.table));
}

/// Message of the source's failure; reads it to its end if it opens. Fails the test if stderr gets any
/// output.
template <class E> std::string failure(Source& source, TestPort& port) {
    testing::internal::CaptureStderr();
    std::string said;
    try {
        source.open();
        read_frames(source, port);
        ADD_FAILURE() << "no error";
    } catch (const E& error) {
        said = error.what();
    }
    source.close();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    std::cout << said << '\n';
    EXPECT_EQ(said.find('\n'), std::string::npos);
    return said;
}
template <class E> std::string failure(Source& source) {
    TestPort port;
    return failure<E>(source, port);
}

inline void expect_same(const RawMovie& movie, const TestPort& port, const Shape& shape) {
    ASSERT_EQ(port.frames.size(), static_cast<std::size_t>(movie.count));
    for (std::size_t i = 0; i < port.frames.size(); ++i) {
        ASSERT_EQ(port.frames[i].shape, shape);
        ASSERT_EQ(std::memcmp(port.frames[i].pixels.data(), movie.frame(i), movie.frame_bytes()), 0)
            << "frame " << i;
        EXPECT_EQ(port.frames[i].info.full_scale, type_full_scale(shape.type));
        if (i > 0) {
            EXPECT_NEAR(
                static_cast<double>(port.frames[i].info.capture_ns - port.frames[i - 1].info.capture_ns), 4e7,
                1.1e6);
        }
    }
}

inline void expect_lossless(const RawMovie& movie, const std::string& chain, const std::string& ending,
                            const Shape& shape) {
    const TemporaryFolder folder;
    const std::string path = folder / ("movie" + ending);
    ASSERT_NO_FATAL_FAILURE(encode(movie, chain, path));
    const auto source = video(path);
    const SourceInfo info = source->open();
    EXPECT_EQ(info.shape, shape);
    EXPECT_EQ(info.name, "movie" + ending);
    EXPECT_FALSE(info.live);
    EXPECT_EQ(info.lossy, "");
    EXPECT_NEAR(info.rate, 25, 1e-6);
    EXPECT_EQ(info.frames, static_cast<std::uint64_t>(movie.count));
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    expect_same(movie, port, shape);
}

/// Frame i is filled with the number i.
inline RawMovie counting_movie(int count) {
    RawMovie movie{16, 8, count, "GRAY16_LE", 2, {}};
    for (int i = 0; i < count; ++i)
        for (int p = 0; p < 16 * 8; ++p) {
            movie.bytes.push_back(static_cast<std::uint8_t>(i & 255));
            movie.bytes.push_back(static_cast<std::uint8_t>(i >> 8));
        }
    return movie;
}

} // namespace specklescope::test
