// For the recorder's tests: synthetic frames, and readers that share no code with the writers.
#pragma once

#include "base/error.hpp"
#include "recording/recorder.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tiffio.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace specklescope {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;
using Json = nlohmann::json;

/// Frame number `n` of a stream: every pixel depends on its position and n, so any reader can be checked.
inline void paint(HostView view, std::uint64_t n) {
    std::mt19937 random(static_cast<unsigned>(n * 7919 + 17));
    for (int y = 0; y < view.shape.height; ++y) {
        const std::size_t bytes = view.shape.row_bytes();
        for (std::size_t i = 0; i < bytes; i += 4) {
            auto word = static_cast<std::uint32_t>(random());
            if (view.shape.type ==
                PixelType::f32) { // finite floats of any size, with NaN and infinity among them
                const float value = i == 0 && y == 0   ? std::numeric_limits<float>::quiet_NaN()
                                    : i == 4 && y == 0 ? std::numeric_limits<float>::infinity()
                                                       : static_cast<float>(word % 100000) * 0.01F;
                std::memcpy(&word, &value, 4);
            }
            std::memcpy(view.row(y) + i, &word, std::min<std::size_t>(4, bytes - i));
        }
    }
}

inline Bytes packed(ConstHostView view) {
    Bytes bytes(view.shape.bytes());
    copy_pixels(view, HostView(bytes.data(), view.shape));
    return bytes;
}

inline Bytes expected(const Shape& shape, std::uint64_t n) {
    Bytes bytes(shape.bytes());
    paint(HostView(bytes.data(), shape), n);
    return bytes;
}

/// Gives results as a pipeline would: raw and image on slots of two rings.
class Maker {
public:
    explicit Maker(const Shape& raw, const Shape& image, int slots = 6)
        : raw_(raw, slots, host_memory()), image_(image, slots, host_memory()) {
        auto chain = std::make_shared<Chain>();
        chain->add("speckle:radius=2,output=sfi");
        chain_ = chain;
    }
    explicit Maker(const Shape& both) : Maker(both, both) {}
    /// Waits for slots, like a file source.
    Result make(std::uint64_t n) {
        Result result;
        result.raw = raw_.acquire(std::chrono::minutes(1));
        result.image = image_.acquire(std::chrono::minutes(1));
        paint(result.raw.host(), n);
        paint(result.image.host(), n);
        describe(result, n);
        return result;
    }
    void describe(Result& result, std::uint64_t n) const {
        result.info.sequence = n;
        result.info.capture_ns = static_cast<std::int64_t>(n) * 10'000'000 + 5;
        result.info.arrival = SteadyClock::now();
        result.info.exposure_ms = 4.5;
        result.info.full_scale = 4095;
        result.info.version = 3;
        result.chain = chain_;
        result.quantity = {"speckle flow index", "SFI", "1/s"};
        result.counts.undefined = n;
        result.raw.info() = result.info;
        result.image.info() = result.info;
    }
    FrameRing& raw() { return raw_; }
    FrameRing& image() { return image_; }

private:
    FrameRing raw_, image_;
    std::shared_ptr<const Chain> chain_;
};

inline StreamInfo stream_of(const Shape& shape, double rate = 100) {
    StreamInfo stream;
    stream.source.name = "Test \"camera\" µ";
    stream.source.shape = shape;
    stream.source.full_scale = 4095;
    stream.source.rate = rate;
    stream.source_text = "synthetic:uniform";
    stream.backend = "cpu";
    return stream;
}

/// Position of the first difference between two images; "equal" without one.
inline std::string compare(const Bytes& a, const Bytes& b) {
    if (a.size() != b.size())
        return std::to_string(a.size()) + " bytes for " + std::to_string(b.size());
    const auto at = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
    return static_cast<std::size_t>(at) == a.size() ? "equal" : "differ from byte " + std::to_string(at);
}

struct Page {
    Shape shape;
    Bytes pixels;
    std::string text;      ///< of the description
    Json description;      ///< within it
    std::uint64_t end = 0; ///< end of its pixels in the file
};

/// Reads a whole stack with libtiff (mode c: strips are not split).
inline std::vector<Page> read_stack(const std::string& path) {
    std::vector<Page> pages;
    TIFF* tiff = TIFFOpen(path.c_str(), "rc");
    EXPECT_NE(tiff, nullptr) << path;
    if (!tiff)
        return pages;
    do {
        std::uint32_t width = 0, height = 0;
        std::uint16_t bits = 0, channels = 0, format = 0;
        char* text = nullptr;
        TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
        TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
        TIFFGetField(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
        TIFFGetField(tiff, TIFFTAG_SAMPLESPERPIXEL, &channels);
        TIFFGetField(tiff, TIFFTAG_SAMPLEFORMAT, &format);
        EXPECT_TRUE(TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text));
        Page page;
        EXPECT_EQ(format == SAMPLEFORMAT_IEEEFP, bits == 32);
        page.shape = {static_cast<int>(width), static_cast<int>(height), channels,
                      bits == 8    ? PixelType::u8
                      : bits == 16 ? PixelType::u16
                                   : PixelType::f32};
        page.pixels.resize(page.shape.bytes());
        EXPECT_EQ(TIFFNumberOfStrips(tiff), 1U);
        page.end = TIFFGetStrileOffset(tiff, 0) + TIFFGetStrileByteCount(tiff, 0);
        EXPECT_EQ(
            TIFFReadEncodedStrip(tiff, 0, page.pixels.data(), static_cast<tmsize_t>(page.pixels.size())),
            static_cast<tmsize_t>(page.pixels.size()));
        page.text = text ? text : "null"; // the first description begins with the axes
        const bool xml = page.text.starts_with("<?xml");
        const std::size_t from = xml || page.text.starts_with("ImageJ=") ? page.text.find('{') : 0;
        page.description =
            Json::parse(page.text.substr(from, xml ? page.text.find("]]>") - from : std::string::npos));
        pages.push_back(std::move(page));
    } while (TIFFReadDirectory(tiff));
    TIFFClose(tiff);
    return pages;
}

/// Output of a command; `status` gets its exit status.
inline std::string run_command(const std::string& command, int* status = nullptr) {
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> part{};
    while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe))
        text.append(part.data(), n);
    const int code = ::pclose(pipe);
    if (status)
        *status = code;
    return text;
}

inline Bytes read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    Bytes out(bytes.size());
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

/// Frames of a video, decoded by a separate process, rows packed. A truncated file gives its readable
/// frames.
inline std::vector<Bytes> decode_video(const std::string& path, const std::string& format,
                                       const Shape& shape) {
    const std::string out = path + ".decoded";
    const std::string log = run_command("gst-launch-1.0 -q filesrc location='" + path +
                                        "' ! decodebin ! videoconvert ! video/x-raw,format=" + format +
                                        " ! filesink location='" + out + "' 2>&1");
    const Bytes all = read_bytes(out);
    fs::remove(out);
    const std::size_t pitch = (shape.row_bytes() + 3) / 4 * 4; // GStreamer's default
    const std::size_t frame = pitch * static_cast<std::size_t>(shape.height);
    EXPECT_EQ(all.size() % frame, 0U) << log;
    std::vector<Bytes> frames;
    for (std::size_t at = 0; at + frame <= all.size(); at += frame)
        frames.push_back(packed(ConstHostView(all.data() + at, shape, pitch)));
    return frames;
}

/// The JSON text in a Matroska file's tags, found in its bytes: tags are stored as plain text.
inline Json video_tags(const std::string& path) {
    const Bytes bytes = read_bytes(path);
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t start = text.rfind("{\"finished\"");
    if (start == std::string::npos)
        return {};
    std::istringstream stream(text.substr(start));
    Json json;
    stream >> json;
    return json;
}

/// The description of a recording, read without the program's own reader.
inline Json description_of(const std::string& path) {
    if (path.ends_with(".mkv"))
        return video_tags(path);
    if (path.ends_with(".tiff"))
        return read_stack(path).at(0).description;
    if (path.ends_with(".h5"))
        return Json::parse(run_command("/usr/bin/python3 -c 'import h5py, sys; print(h5py.File(sys.argv[1])"
                                       "[\"settings/description\"][()].decode())' '" +
                                       path + "'"));
    std::ifstream lines(path + ".jsonl");
    std::string first;
    std::getline(lines, first);
    return Json::parse(first);
}

/// Records frames first…first+count−1 as from a file, and returns the final status.
inline SinkStatus record(Maker& maker, const RecordOptions& options, std::uint64_t first,
                         std::uint64_t count) {
    const auto sink = make_recorder(options);
    sink->open(stream_of(maker.raw().shape()));
    for (std::uint64_t n = first; n < first + count; ++n)
        sink->push(maker.make(n), true);
    sink->close();
    return sink->status();
}

} // namespace specklescope
