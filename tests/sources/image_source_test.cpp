// Image sources: every kind bit by bit compared with files written by tifffile, libpng and Pillow, damaged
// files, sequences, stacks.
#include "base/memory_budget.hpp"
#include "files/image_file.hpp"
#include "pipeline/source.hpp"
#include "sources/files/image_sequence.hpp"
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/places.hpp"
#include "tests/support/pretend_memory.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <regex>
#include <sstream>

namespace specklescope::test::image_source_test {

struct Outcome {
    SourceInfo info;
    std::vector<Delivered> frames;
    std::string error; ///< of a RunError while reading
};

Outcome read_all(const std::string& text) {
    Outcome outcome;
    const auto source = make_source(text, {});
    outcome.info = source->open();
    TestPort port;
    try {
        EXPECT_TRUE(read_frames(*source, port));
    } catch (const RunError& error) {
        outcome.error = error.what();
        EXPECT_EQ(source->next(port), Source::Status::end); // reported once
    }
    source->close();
    outcome.frames = std::move(port.frames);
    return outcome;
}

std::string joined(const std::vector<Delivered>& frames) {
    std::string bytes;
    for (const Delivered& frame : frames)
        bytes.append(reinterpret_cast<const char*>(frame.pixels.data()), frame.pixels.size());
    return bytes;
}

/// The RunError of opening; empty if it opens.
std::string refusal(const std::string& text) {
    try {
        (void)make_source(text, {})->open();
        return "";
    } catch (const RunError& error) {
        return error.what();
    }
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    for (const std::string& word : words)
        EXPECT_NE(text.find(word), std::string::npos) << text << "\nlacks " << word;
}

/// Files written by Python once for all tests; NAME.expected contains the expected bytes.
class ImageSource : public WrittenByPython<ImageSource> {
public:
    static std::string script() {
        return read_file(test::source_folder() + "/tests/support/write_images.py");
    }
};

TEST_F(ImageSource, EveryKindBitByBit) {
    int count = 0;
    std::istringstream list(read_file(file("list.txt")));
    std::string name;
    Shape shape;
    std::string type;
    std::size_t frames = 0;
    while (list >> name >> frames >> shape.width >> shape.height >> shape.channels >> type) {
        SCOPED_TRACE(name);
        shape.type = type == "u8" ? PixelType::u8 : type == "u16" ? PixelType::u16 : PixelType::f32;
        ++count;
        Outcome outcome;
        ASSERT_NO_THROW(outcome = read_all(file(name) + "?transfer=linear"));
        EXPECT_EQ(outcome.error, "");
        EXPECT_EQ(outcome.info.name, name);
        EXPECT_EQ(outcome.info.frames, frames);
        EXPECT_EQ(outcome.info.full_scale, type_full_scale(shape.type));
        ASSERT_EQ(outcome.frames.size(), frames);
        for (std::size_t i = 0; i < frames; ++i) {
            EXPECT_EQ(outcome.frames[i].shape, shape) << to_string(outcome.frames[i].shape);
            EXPECT_EQ(outcome.frames[i].info.sequence, i);
        }
        EXPECT_TRUE(joined(outcome.frames) == read_file(file(name + ".expected"))) << "pixels differ";
    }
    EXPECT_GE(count, 40);
}

TEST_F(ImageSource, UnsupportedKindsNameTheSupportedOnes) {
    expect_words(refusal(file("complex.tif")), {"complex.tif", "complex", "1 to 16-bit unsigned"});
    expect_words(refusal(file("five.tif")), {"five.tif", "5 samples", "allowed: grey, RGB"});
    expect_words(refusal(file("cmyk.tif")), {"cmyk.tif", "photometric"});
    expect_words(refusal(file("cmyk.jpg")), {"cmyk.jpg", "CMYK"});
    write_file(file("text.png"), "no picture at all");
    expect_words(refusal(file("text.png")), {"text.png", "PNG, JPEG, TIFF"});
    write_file(file("empty.tif"), "");
    expect_words(refusal(file("empty.tif")), {"empty.tif", "is empty"});
}

TEST_F(ImageSource, HugeAndZeroSizesAreRefusedBeforeAnythingIsAllocated) {
    expect_words(refusal(file("huge.tif")), {"huge.tif", "100000×100000", "65536"});
    expect_words(refusal(file("huge.png")), {"huge.png", "100000×100000", "65536"});
    expect_words(refusal(file("zero.png")), {"zero.png"});
    expect_words(refusal(file("zero.tif")), {"zero.tif"});
    // Within the limits, but missing.
    expect_words(refusal(file("hollow.tif")), {"hollow.tif", "3600000000 bytes"});
}

/// The error of reading the whole first page at once; empty if it can be read.
std::string refused_rows(const std::string& path) {
    try {
        const auto reader = open_image(path);
        const Shape shape = *reader->next_page();
        std::vector<std::byte> pixels(shape.bytes());
        reader->read_rows(HostView(pixels.data(), shape));
        return "";
    } catch (const RunError& error) {
        return error.what();
    }
}

TEST_F(ImageSource, UnstreamableFilesAreLimitedToTheImageSize) {
    expect_words(refused_rows(file("tall_interlaced.png")), {"tall_interlaced.png", "1×70000", "65536"});
    // Coefficients of two bytes, which may use three quarters of the memory.
    constexpr double kNeeded = 2.0 * 2000 * 2048;
    {
        const test::PretendMemory enough(static_cast<std::uint64_t>(kNeeded / 0.68));
        EXPECT_EQ(refused_rows(file("large_progressive.jpg")), "");
    }
    const test::PretendMemory little(static_cast<std::uint64_t>(kNeeded / 0.80));
    expect_words(refused_rows(file("large_progressive.jpg")), {"large_progressive.jpg"});
}

/// Previews among the pages are searched before the first page is read, which is then decoded normally.
TEST_F(ImageSource, CountingPagesKeepsTheFirst) {
    for (const char* name : {"jpeg_pages.tif", "movie_lzw.tif"}) {
        const auto reader = open_image(file(name));
        const Shape shape = *reader->next_page();
        EXPECT_EQ(reader->pages(), name[0] == 'j' ? 3U : 10U) << name;
        std::string pixels(shape.bytes(), '\0');
        reader->read_rows(HostView(reinterpret_cast<std::byte*>(pixels.data()), shape));
        EXPECT_TRUE(pixels == read_file(file(name) + ".expected").substr(0, pixels.size())) << name;
    }
}

/// A video may be replaced while it is open; a repeated call is refused again.
TEST_F(ImageSource, AFileWithOnlyPreviewsHasNoPages) {
    ASSERT_TRUE(test::python(*folder_, "import numpy, tifffile\n"
                                       "for _ in range(3):\n"
                                       "    tifffile.imwrite('previews.tif', numpy.zeros((8, 8), 'u1'), "
                                       "append=True, subfiletype=1)\n"))
        << read_file(*folder_ / "python.log");
    const auto reader = open_image((*folder_ / "previews.tif"));
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(reader->seek_page(5));
}

TEST_F(ImageSource, ReportsLossyCodecs) {
    EXPECT_EQ(make_source(file("big_grey.jpg"), {})->open().lossy, "JPEG");
    for (const char* name : {"big_grey8.png", "movie.tif", "movie_lzw.tif"})
        EXPECT_EQ(make_source(file(name), {})->open().lossy, "") << name;
}

TEST_F(ImageSource, TruncatedFilesDeliverWholeFramesThenAnError) {
    const auto cut = [](const std::string& name, double part) {
        const std::string to = file("cut_" + name);
        std::filesystem::copy_file(file(name), to, std::filesystem::copy_options::overwrite_existing);
        cut_file(to, static_cast<std::uint64_t>(part * static_cast<double>(std::filesystem::file_size(to))));
        return to;
    };
    for (const char* name : {"big_grey8.png", "big_interlaced.png", "big_grey.jpg", "big_progressive.jpg"}) {
        SCOPED_TRACE(name);
        const Outcome outcome = read_all(cut(name, 0.6));
        expect_words(outcome.error, {"cut_", "damaged or cut short"});
        EXPECT_TRUE(outcome.frames.empty());
        if (std::string(name) == "big_grey8.png") { // its rows are consecutive in the file
            std::smatch found;
            ASSERT_TRUE(std::regex_search(outcome.error, found, std::regex("at row (\\d+) of (\\d+)")))
                << outcome.error;
            const double part = std::stod(found[1]) / std::stod(found[2]);
            EXPECT_GT(part, 0.4);
            EXPECT_LT(part, 0.7);
        }
    }
    // A stack: the pages before the truncation count.
    for (const char* name : {"movie.tif", "movie_big.tif", "movie_lzw.tif"}) {
        SCOPED_TRACE(name);
        const Outcome outcome = read_all(cut(name, 0.55));
        expect_words(outcome.error, {"cut_", "cut short"});
        ASSERT_GE(outcome.frames.size(), 4U);
        EXPECT_LE(outcome.frames.size(), 6U);
        const std::string whole = read_file(file(std::string(name) + ".expected"));
        EXPECT_TRUE(joined(outcome.frames) == whole.substr(0, joined(outcome.frames).size()));
    }
    // A tall image of frames below each other: likewise.
    const Outcome outcome = read_all(cut("big_grey8.png", 0.6) + "?frame_height=16");
    expect_words(outcome.error, {"row"});
    EXPECT_GE(outcome.frames.size(), 2U);
    EXPECT_LT(outcome.frames.size(), 16U);
    const std::string whole = read_file(file("big_grey8.png.expected"));
    EXPECT_TRUE(joined(outcome.frames) == whole.substr(0, joined(outcome.frames).size()));
}

TEST_F(ImageSource, DamagedHeadersAndChecksumsAreErrorsNotCrashes) {
    for (const char* name : {"big_grey8.png", "big_grey.jpg", "movie.tif", "movie_lzw.tif"}) {
        const std::string good = read_file(file(name));
        std::uint64_t seed = 12345; // every damage is reproducible
        for (int round = 0; round < 60; ++round) {
            std::string bad = good;
            for (int hit = 0; hit < 3; ++hit) {
                seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
                bad[(seed >> 33) % bad.size()] = static_cast<char>(seed >> 20);
            }
            write_file(file("bad"), bad);
            try {
                (void)read_all("image:" + file("bad")); // succeeds, or one error
            } catch (const Error& error) {
                EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
            }
        }
    }
}

TEST_F(ImageSource, TallImageIsCutIntoFrames) {
    const Outcome outcome = read_all(file("big_grey8.png") + "?frame_height=32");
    EXPECT_EQ(outcome.info.frames, 8U);
    ASSERT_EQ(outcome.frames.size(), 8U);
    EXPECT_EQ(outcome.info.shape, (Shape{200, 32, 1, PixelType::u8}));
    EXPECT_TRUE(joined(outcome.frames) == read_file(file("big_grey8.png.expected")));
    EXPECT_TRUE(joined(read_all(file("movie.tif") + "?frame_height=8").frames) ==
                read_file(file("movie.tif.expected")));
    EXPECT_TRUE(joined(read_all(file("big_interlaced.png") + "?frame_height=64").frames) ==
                read_file(file("big_interlaced.png.expected")));
    try {
        (void)make_source(file("big_grey8.png") + "?frame_height=100", {})->open();
        ADD_FAILURE() << "100 does not divide 256";
    } catch (const UsageError& error) {
        expect_words(error.what(), {"frame_height = 100", "256 rows"});
    }
}

TEST_F(ImageSource, FingerDataHasAThousandFrames) {
    const Outcome outcome = read_all(test_data("finger_64x64x1000_mono8.png") + "?frame_height=64");
    EXPECT_EQ(outcome.info.frames, 1000U);
    ASSERT_EQ(outcome.frames.size(), 1000U);
    // Mean temporal contrast over the first 25 frames: 0.25394, a property of these pixels in this order.
    double sum = 0;
    for (std::size_t p = 0; p < 64 * 64; ++p) {
        double s = 0;
        double q = 0;
        for (std::size_t i = 0; i < 25; ++i) {
            const auto v = static_cast<double>(outcome.frames[i].data<std::uint8_t>()[p]);
            s += v;
            q += v * v;
        }
        sum += std::sqrt((q - s * s / 25) / 24) / (s / 25);
    }
    EXPECT_NEAR(sum / (64 * 64), 0.25394, 5e-6);
}

TEST_F(ImageSource, FolderIsSortedByNumbersAndMayMixSizes) {
    const Outcome outcome = read_all(file("folder/"));
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.info.name, "folder");
    EXPECT_EQ(outcome.info.frames, 4U);
    ASSERT_EQ(outcome.frames.size(),
              4U); // img1 img2 img10 and a larger one; notes.txt and .hidden.png are no images
    EXPECT_EQ(outcome.frames[0].data<std::uint8_t>()[0], 1);
    EXPECT_EQ(outcome.frames[1].data<std::uint8_t>()[0], 2);
    EXPECT_EQ(outcome.frames[2].data<std::uint8_t>()[0], 10);
    EXPECT_EQ(outcome.frames[3].shape, (Shape{9, 7, 3, PixelType::f32})); // colour, so decoded from sRGB
    EXPECT_EQ(outcome.frames[3].info.light, Light::decoded);
    EXPECT_EQ(outcome.frames[2].info.light, Light::counts);
    EXPECT_EQ(read_all(file("folder")).frames.size(), 4U);
    std::filesystem::create_directory(file("nothing"));
    EXPECT_THROW((void)make_source(file("nothing"), {}), RunError);
}

TEST_F(ImageSource, NumberedSequenceEndsAtTheGap) {
    const Outcome outcome = read_all(file("numbers/a_%03d.tif"));
    ASSERT_EQ(outcome.frames.size(), 3U); // 007 008 009; 011 comes after the gap, a_8.tif has another name
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(outcome.frames[i].data<std::uint8_t>()[0], 7 + i);
    EXPECT_THROW((void)make_source(file("numbers/b_%03d.tif"), {}), RunError);
    const WorkingFolder inside(file("numbers"));
    EXPECT_EQ(read_all("a_%03d.tif").frames.size(), 3U);
}

TEST_F(ImageSource, SingleImageEndsOrRepeats) {
    EXPECT_EQ(read_all(file("grey8.png")).frames.size(), 1U);
    const auto source = make_source(file("grey8.png") + "?rate=500", {.rate = 0, .loop = true});
    EXPECT_EQ(source->open().frames, 0U);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 5));
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(port.frames[i].info.capture_ns, static_cast<std::int64_t>(i) * 2000000);
    source->set("loop", false);
    ASSERT_TRUE(read_frames(*source, port));
    EXPECT_LE(port.frames.size(), 6U);
}

TEST_F(ImageSource, TwelveBitsInSixteenHaveTheirFullScale) {
    const Outcome outcome = read_all(file("grey16.png") + "?full_scale=4095");
    EXPECT_EQ(outcome.info.full_scale, 4095);
    EXPECT_EQ(outcome.frames.at(0).info.full_scale, 4095);
}

TEST_F(ImageSource, PreviewsAmongThePagesAreNotFrames) {
    const Outcome outcome = read_all(file("previews.tif"));
    ASSERT_EQ(outcome.frames.size(), 3U);
    EXPECT_EQ(outcome.info.frames, 3U) << "of six pages";
    EXPECT_TRUE(joined(outcome.frames) ==
                read_file(file("movie.tif.expected")).substr(0, joined(outcome.frames).size()));
}

TEST_F(ImageSource, ManyPagesAreReadOneByOne) {
    // More than the 65 535 directories of older formats with page numbers.
    const Outcome outcome = read_all(file("pages.tif"));
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.info.frames, 70000U);
    ASSERT_EQ(outcome.frames.size(), 70000U);
    for (std::size_t i = 0; i < outcome.frames.size(); ++i)
        ASSERT_EQ(*outcome.frames[i].data<std::uint16_t>(), i % 65536) << i;
}

TEST(ImageSequence, NaturalOrder) {
    std::vector<std::string> names = {"b1", "a10", "a2", "a02", "a", "a2b", "a1"};
    std::sort(names.begin(), names.end(), natural_less);
    EXPECT_EQ(names, (std::vector<std::string>{"a", "a1", "a02", "a2", "a2b", "a10", "b1"}));
    const std::string_view longer = "imgz", other = "img5x";
    EXPECT_TRUE(natural_less(longer.substr(0, 3), other)) << "what lies behind a name is not part of it";
    EXPECT_FALSE(natural_less(other, longer.substr(0, 3)));
    EXPECT_FALSE(natural_less(longer.substr(0, 3), longer.substr(0, 3)));
    EXPECT_TRUE(is_number_pattern("x/y_%04d.tif"));
    EXPECT_TRUE(is_number_pattern("%d.png"));
    EXPECT_FALSE(is_number_pattern("x_%04d/y.tif"));
    EXPECT_FALSE(is_number_pattern("100%.png"));
    EXPECT_FALSE(is_number_pattern("%s.png"));
}

} // namespace specklescope::test::image_source_test
