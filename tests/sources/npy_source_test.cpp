// Arrays that numpy wrote, as sources. The reference is the array's own bytes.
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace specklescope::test::npy_source_test {

class NpySource : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(python(folder_, R"py(
import numpy as np
rng = np.random.default_rng(5)
def write(name, array, frames=None):
    np.save(name + ".npy", array)
    np.ascontiguousarray(array if frames is None else frames).tofile(name + ".bytes")
film = rng.integers(0, 65536, (7, 5, 9)).astype("<u2")
write("image", film[0].astype(np.uint8))
write("film", film)
write("big_endian", film.astype(">u2"), film)
write("fortran", np.asfortranarray(film), film)
write("fortran_image", np.asfortranarray(film[0]), film[0])
real = rng.normal(size=(3, 5, 9))
write("double", real, real.astype("<f4"))
write("float", real.astype("<f4"))
write("signed", rng.integers(-9, 9, (3, 5, 9)).astype("<i4"), rng.integers(-9, 9, (3, 5, 9)).astype("<f4"))
signed = np.load("signed.npy").astype("<f4")
signed.tofile("signed.bytes")
write("mask", film[0] > 30000, ((film[0] > 30000) * 255).astype(np.uint8))
colour = rng.integers(0, 256, (4, 5, 9, 3)).astype(np.uint8)
write("colour_film", colour)
write("colour_image", colour[0])
alpha = rng.integers(0, 256, (5, 9, 4)).astype(np.uint8)
write("alpha", alpha, alpha[..., :3])
np.save("line.npy", film[0, 0])
np.save("complex.npy", real.astype(np.complex64))
np.save("five.npy", film.reshape(7, 5, 3, 3, 1))
)py")) << read_file(folder_ / "python.log");
    }

    struct Read {
        SourceInfo info;
        std::vector<Delivered> frames;
        std::string bytes;
    };
    Read read(const std::string& name, const std::string& options = "") const {
        Read read;
        const auto source = make_source(folder_ / (name + ".npy" + options), {});
        read.info = source->open();
        TestPort port;
        EXPECT_TRUE(read_frames(*source, port));
        source->close();
        read.frames = std::move(port.frames);
        for (const Delivered& frame : read.frames)
            read.bytes.append(reinterpret_cast<const char*>(frame.pixels.data()), frame.pixels.size());
        return read;
    }
    TemporaryFolder folder_;
};

TEST_F(NpySource, ReadsEveryLayoutAsNumpyWroteIt) {
    struct Case {
        const char* name;
        Shape shape;
        std::size_t frames;
        const char* options = "";
    };
    for (const Case& one : {Case{"image", {9, 5, 1, PixelType::u8}, 1},
                            {"film", {9, 5, 1, PixelType::u16}, 7},
                            {"big_endian", {9, 5, 1, PixelType::u16}, 7},
                            {"fortran", {9, 5, 1, PixelType::u16}, 7, "?axes=thw"},
                            {"fortran_image", {9, 5, 1, PixelType::u16}, 1},
                            {"double", {9, 5, 1, PixelType::f32}, 3},
                            {"float", {9, 5, 1, PixelType::f32}, 3},
                            {"signed", {9, 5, 1, PixelType::f32}, 3},
                            {"mask", {9, 5, 1, PixelType::u8}, 1},
                            {"colour_film", {9, 5, 3, PixelType::u8}, 4},
                            {"colour_image", {9, 5, 3, PixelType::u8}, 1},
                            {"alpha", {9, 5, 3, PixelType::u8}, 1}}) {
        const Read found = read(one.name, one.options);
        EXPECT_EQ(found.info.shape, one.shape) << one.name;
        EXPECT_EQ(found.info.length, one.frames) << one.name;
        EXPECT_EQ(found.frames.size(), one.frames) << one.name;
        EXPECT_EQ(found.bytes == read_file(folder_ / (std::string(one.name) + ".bytes")), true) << one.name;
    }
}

TEST_F(NpySource, SeeksToAnyFrame) {
    const std::string bytes = read_file(folder_ / "film.bytes");
    for (const char* name : {"film", "fortran"}) {
        const auto source = make_source(folder_ / (std::string(name) + ".npy?axes=thw"), {});
        (void)source->open();
        for (const std::uint64_t frame : {5U, 0U, 6U, 2U}) {
            source->seek(frame, 0);
            TestPort port;
            while (port.frames.empty())
                ASSERT_NE(source->next(port), Source::Status::end);
            const Delivered& found = port.frames.front();
            ASSERT_EQ(found.pixels.size(), 90U);
            EXPECT_EQ(std::memcmp(found.pixels.data(), bytes.data() + frame * 90, 90), 0)
                << name << " " << frame;
        }
    }
}

TEST_F(NpySource, RefusesWhatIsNoImage) {
    for (const char* name : {"line", "complex", "five"})
        EXPECT_THROW((void)make_source(folder_ / (std::string(name) + ".npy"), {})->open(), RunError) << name;
    std::filesystem::resize_file(folder_ / "film.npy", 400);
    EXPECT_THROW((void)read("film"), RunError);
}

} // namespace specklescope::test::npy_source_test
