// Everything that takes long before the first frame can be cancelled, and checks its memory first.
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "files/image_file.hpp"
#include "files/input_file.hpp"
#include "files/npy_file.hpp"
#include "have_exr.hpp"
#include "sources/registry.hpp"
#include "sources/synthetic/synthetic_source.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/pretend_memory.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

namespace preparation_test {

using namespace specklescope;
using namespace specklescope::test;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(118, ' ');
    header.back() = '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const RunError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Preparation, EveryStepOfASceneCanBeCancelled) {
    // The watch is called at each step; cancelling at the n-th, for many n, ends the work there.
    int steps = 0;
    std::set<std::string> kinds;
    const auto open = [] { (void)make_source("synthetic:vessels?width=300&height=200", {})->open(); };
    {
        const WatchWork watch([&](std::string_view what, double) {
            ++steps;
            kinds.insert(std::string(what));
            return true;
        });
        open();
    }
    EXPECT_GE(kinds.size(), 3U) << "room, vessels, speckle";
    EXPECT_GT(steps, 100);
    for (int stop = 1; stop < 80; stop += 13) {
        int calls = 0;
        const WatchWork watch([&](std::string_view, double) { return ++calls < stop; });
        EXPECT_THROW(open(), Cancelled) << stop;
    }
}

/// Also while memory is filled, which takes longest for a large image.
TEST(Preparation, LargeMemoryIsFilledInParts) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 3 * kFilledAtOnce / sizeof(float) + 7}) {
        std::size_t asked = 0;
        std::vector<float> values = {5};
        const WatchWork watch([&](std::string_view what, double part) {
            EXPECT_EQ(what, "filling");
            EXPECT_LT(part, 1);
            EXPECT_LE(values.size() - (asked == 0 ? 1 : 0), asked * kFilledAtOnce / sizeof(float) + 1);
            ++asked;
            return true;
        });
        fill_up(values, size, 2.5F, "filling");
        EXPECT_EQ(values.size(), size);
        EXPECT_EQ(asked, size > 1 ? 4U : 0U);
        for (std::size_t i = 0; i < size; ++i)
            ASSERT_EQ(values[i], i == 0 ? 5 : 2.5F) << i;
    }
    std::vector<float> values;
    const WatchWork watch([&](std::string_view, double) { return values.empty(); });
    EXPECT_THROW(fill_up(values, kFilledAtOnce, 0.0F, "filling"), Cancelled);
    EXPECT_EQ(values.size(), kFilledAtOnce / sizeof(float));
}

TEST(Preparation, ASceneThatDoesNotFitIsRefused) {
    const PretendMemory little(100 * kMiB);
    const std::string said =
        refusal([] { (void)make_source("synthetic?width=8192&height=8192", {})->open(); });
    EXPECT_NE(said.find("8192×8192"), std::string::npos) << said;
    EXPECT_NE(said.find("100 MiB are available"), std::string::npos) << said;
}

TEST(Preparation, ASparseArrayIsRefusedBeforeItIsRead) {
    const TemporaryFolder folder;
    write(folder / "a.npy", npy("<f4", "(16384, 16384)", ""));
    std::filesystem::resize_file(folder / "a.npy", (std::uint64_t{1} << 30) + 128);
    {
        const PretendMemory little(600 * kMiB);
        const std::string said = refusal([&] { (void)read_npy(folder / "a.npy"); });
        EXPECT_NE(said.find("1024 MiB"), std::string::npos) << said;
    }
    const std::string said = refusal([&] { (void)read_npy(folder / "a.npy", 1000); });
    EXPECT_NE(said.find("more than the 1000"), std::string::npos) << said;
    const PretendMemory enough(8192 * kMiB);
    int calls = 0;
    const WatchWork watch([&](std::string_view what, double) {
        EXPECT_NE(what.find("a.npy"), std::string_view::npos);
        return ++calls < 4;
    });
    EXPECT_THROW((void)read_npy(folder / "a.npy"), Cancelled);
}

/// The first progress report comes before everything is allocated.
TEST(Preparation, LargeArraysAreAllocatedInParts) {
    constexpr std::uint64_t kNumbers = 16 * kFilledAtOnce / sizeof(float);
    const TemporaryFolder folder;
    write(folder / "a.npy", npy("|u1", "(8192, 8192)", ""));
    static_assert(kNumbers == 8192 * 8192);
    std::filesystem::resize_file(folder / "a.npy", kNumbers + 128);
    const double before = resident_mib();
    for (const int stop : {1, 2, 3}) {
        int asked = 0;
        double more = 0;
        const WatchWork watch([&](std::string_view, double) {
            more = std::max(more, resident_mib() - before);
            return ++asked < stop;
        });
        EXPECT_THROW((void)read_npy(folder / "a.npy"), Cancelled);
        EXPECT_LT(more, 100) << "MiB of 256, at question " << stop;
    }
}

TEST(Preparation, ArraysAreReadInPiecesWithPositions) {
    const TemporaryFolder folder;
    std::string data;
    for (char i = 0; i < 24; ++i)
        data += i;
    for (const bool fortran : {false, true}) {
        std::string bytes = npy("|u1", "(2, 3, 4)", data);
        if (fortran) // as long as False
            bytes.replace(bytes.find("False"), 5, "True ");
        write(folder / "a.npy", bytes);
        NpyFile file(folder / "a.npy");
        EXPECT_EQ(file.shape(), (std::vector<std::size_t>{2, 3, 4}));
        const NpyFile::Piece piece = file.next();
        ASSERT_EQ(piece.values.size(), 24U);
        for (std::size_t i = 0; i < 24; ++i) {
            EXPECT_EQ(piece.values[i], static_cast<float>(i));
            EXPECT_EQ(piece.places[i], fortran ? i % 2 * 12 + i / 2 % 3 * 4 + i / 6 : i);
        }
        EXPECT_TRUE(file.next().values.empty());
    }
}

TEST(Preparation, ANulInAHeaderDoesNotTruncateTheMessage) {
    const TemporaryFolder folder;
    write(folder / "a.npy", npy(std::string("<\0x", 3), "(2, 2)", std::string(16, 'x')));
    const std::string said = refusal([&] { (void)read_npy(folder / "a.npy"); });
    EXPECT_NE(said.find("allowed: f2"), std::string::npos) << said;
    EXPECT_EQ(said.back(), '.');
}

TEST(Preparation, APipeIsRefusedWhereAFileIsNeeded) {
    const TemporaryFolder folder;
    for (const char* name : {"a.png", "a.tif", "a.jpg", "a.npy"}) {
        ASSERT_EQ(mkfifo((folder / name).c_str(), 0600), 0);
        const std::string said = refusal([&] {
            std::string(name) == "a.npy" ? (void)read_npy(folder / name) : (void)open_image(folder / name);
        });
        EXPECT_NE(said.find("is a pipe"), std::string::npos) << said;
    }
}

/// Radiance without run-length coding: `height` rows of noise.
std::string radiance(int width, int height) {
    std::string bytes = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y " + std::to_string(height) + " +X " +
                        std::to_string(width) + "\n";
    auto random = test_random(71);
    for (std::size_t i = 0; i < 4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height); ++i)
        bytes += static_cast<char>(128 + random() % 16);
    return bytes;
}

/// Images by other programs, several times larger than the interval of progress reports; false without
/// Pillow.
bool make_pictures(const std::string& folder) {
    const std::string script = "from PIL import Image; import os; "
                               "grey = Image.frombytes('L', (3000, 4000), os.urandom(12000000)); "
                               "grey.save('" +
                               folder +
                               "/a.png', compress_level=1); "
                               "rgb = Image.merge('RGB', [grey] * 3); "
                               "rgb.save('" +
                               folder +
                               "/a.jpg'); "
                               "rgb.save('" +
                               folder +
                               "/progressive.jpg', progressive=True); "
                               "grey.save('" +
                               folder + "/a.tif')";
    return std::system(("/usr/bin/python3 -c \"" + script + "\" 2>/dev/null").c_str()) == 0;
}

/// The same with seven passes, by ImageMagick.
bool make_interlaced(const std::string& folder) {
    const std::string command =
        "convert " + folder + "/a.png -interlace PNG " + folder + "/interlaced.png 2>/dev/null";
    return std::system(command.c_str()) == 0;
}

/// By OpenCV, if it writes OpenEXR.
bool make_exr(const std::string& folder) {
    const std::string script = "import os; os.environ['OPENCV_IO_ENABLE_OPENEXR'] = '1'; "
                               "import cv2, numpy; noise = numpy.random.default_rng(3); "
                               "light = noise.random((1100, 900, 3), numpy.float32); "
                               "assert cv2.imwrite('" +
                               folder + "/a.exr', light)";
    return std::system(("/usr/bin/python3 -c \"" + script + "\" 2>/dev/null").c_str()) == 0;
}

TEST(Preparation, ReadingAnImageReportsProgressForEachPart) {
    const TemporaryFolder folder;
    write(folder / "a.hdr", radiance(700, 3000));
    std::vector<std::string> names = {"a.hdr"};
    if (make_pictures(folder.path().string()))
        names.insert(names.end(), {"a.png", "a.jpg", "progressive.jpg", "a.tif"});
    if (names.size() > 1 && make_interlaced(folder.path().string()))
        names.emplace_back("interlaced.png");
    else
        std::cout << "not tried: interlaced PNG, for want of Pillow or ImageMagick\n";
#ifdef SPECKLESCOPE_HAVE_EXR
    if (make_exr(folder.path().string()))
        names.emplace_back("a.exr");
    else
        std::cout << "not tried: OpenEXR, for want of an OpenCV that writes it\n";
#endif
    for (const std::string& name : names) {
        SCOPED_TRACE(name);
        std::size_t asked = 0, stop = std::numeric_limits<std::size_t>::max();
        const WatchWork watch([&](std::string_view what, double) {
            EXPECT_NE(what.find(name), std::string_view::npos) << what;
            return ++asked < stop;
        });
        const auto read = [&] {
            const auto reader = open_image(folder / name);
            const std::optional<Shape> shape = reader->next_page();
            ASSERT_TRUE(shape);
            std::vector<std::byte> pixels(shape->bytes());
            reader->read_rows(HostView(pixels.data(), *shape));
            EXPECT_GE(asked, shape->bytes() / ImageReader::kBytesAtOnce);
        };
        read();
        const std::size_t all = asked;
        EXPECT_GE(all, 3U);
        for (stop = 1; stop <= all; stop += std::max<std::size_t>(1, all / 3)) {
            asked = 0;
            EXPECT_THROW(read(), Cancelled) << stop << " of " << all;
            EXPECT_EQ(asked, stop);
        }
    }
}

TEST(Preparation, WaitingForAWriterCanBeCancelled) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.raw";
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const auto source = make_source("raw:" + path + "?width=4&height=3", {});
    {
        int calls = 0;
        const WatchWork watch([&](std::string_view what, double) {
            EXPECT_NE(what.find("pipe"), std::string_view::npos);
            return ++calls < 3;
        });
        EXPECT_THROW(source->open(), Cancelled);
    }
    std::thread writer([&] {
        const int fd = open(path.c_str(), O_WRONLY);
        const std::string bytes(24, 'x');
        EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), 24);
        close(fd);
    });
    source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    EXPECT_EQ(port.frames.size(), 2U);
    writer.join();
}

} // namespace preparation_test
