// Every slot is poisoned before each frame: no value that the source did not write may be delivered, for any
// width and any damage of the file.
#include "base/error.hpp"
#include "sources/registry.hpp"
#include "tests/sources/gst_sources.hpp"
#include "tests/support/file_tools.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace specklescope::test::unwritten_pixels_test {

class PoisonedMemory final : public SlotMemory {
public:
    explicit PoisonedMemory(int poison) : poison_(poison) {}
    void* allocate(std::size_t bytes) override {
        void* const block = host_memory()->allocate(bytes);
        std::memset(block, poison_, bytes);
        return block;
    }
    void release(void* memory) noexcept override { host_memory()->release(memory); }
    Space space() const override { return Space::host; }

private:
    int poison_;
};

/// Poisons each slot again when its frame has been copied. Slots are also lent.
class PoisonPort final : public FramePort {
public:
    explicit PoisonPort(int poison) : poison_(poison) {}
    Frame acquire(const Shape& shape) override {
        (void)ring(shape, 0);
        return ring_->try_acquire();
    }
    std::shared_ptr<FrameRing> ring(const Shape& shape, int more) override {
        if (!ring_ || ring_->shape() != shape || ring_->slots() < 3 + more)
            ring_ = std::make_shared<FrameRing>(shape, 3 + more, std::make_shared<PoisonedMemory>(poison_));
        return ring_;
    }
    void submit(Frame frame) override {
        const HostView view = frame.host();
        std::vector<std::byte> pixels(frame.shape().bytes());
        copy_pixels(view, HostView(pixels.data(), frame.shape()));
        for (int y = 0; y < view.shape.height; ++y)
            std::memset(view.row(y), poison_, view.shape.row_bytes());
        frames.push_back(std::move(pixels));
    }
    void lost(std::uint64_t count, std::string_view) override { lost_frames += count; }
    void copied(std::string_view) override {}
    void discontinuity() override {}
    bool stopping() const override { return false; }

    std::vector<std::vector<std::byte>> frames;
    std::uint64_t lost_frames = 0;
    bool failed = false;

private:
    int poison_;
    std::shared_ptr<FrameRing> ring_;
};

PoisonPort read_poisoned(Source& source, int poison) {
    PoisonPort port(poison);
    try {
        (void)source.open();
        const auto begin = SteadyClock::now();
        while (source.next(port) != Source::Status::end)
            if (SteadyClock::now() - begin > std::chrono::seconds(60)) {
                ADD_FAILURE() << "no end";
                break;
            }
    } catch (const RunError&) {
        port.failed = true;
    }
    source.close();
    return port;
}

std::vector<int> widths() {
    std::vector<int> all;
    for (int width = 1; width <= 40; ++width)
        all.push_back(width);
    for (int width = 641; width <= 660; ++width)
        all.push_back(width);
    return all;
}

std::string little_endian(std::size_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
        text += static_cast<char>(value >> (8 * i) & 255);
    return text;
}

std::string riff(const std::string& name, const std::string& data) {
    return name + little_endian(data.size(), 4) + data + std::string(data.size() % 2, '\0');
}

constexpr char kValue = static_cast<char>(128); // grey in RGB and in YUV
constexpr int kHeight = 6;

/// An AVI with frames of kValue, each in a chunk of these bytes.
std::string avi(int width, const std::string& fourcc, int bits, const std::vector<std::size_t>& chunks) {
    const auto w = static_cast<std::size_t>(width);
    const std::string size = little_endian(w, 4) + little_endian(kHeight, 4);
    const std::string zeros(64, '\0');
    const std::string main = little_endian(40000, 4) + zeros.substr(0, 12) + little_endian(chunks.size(), 4) +
                             zeros.substr(0, 4) + little_endian(1, 4) + zeros.substr(0, 4) + size +
                             zeros.substr(0, 16);
    const std::string stream = "vids" + fourcc + zeros.substr(0, 12) + little_endian(1, 4) +
                               little_endian(25, 4) + zeros.substr(0, 4) + little_endian(chunks.size(), 4) +
                               zeros.substr(0, 20);
    const std::string format = little_endian(40, 4) + size + little_endian(1, 2) +
                               little_endian(static_cast<std::size_t>(bits), 2) + fourcc +
                               zeros.substr(0, 20);
    std::string movie = "movi", index;
    for (const std::size_t bytes : chunks) {
        index += "00db" + little_endian(16, 4) + little_endian(movie.size(), 4) + little_endian(bytes, 4);
        movie += riff("00db", std::string(bytes, kValue));
    }
    const std::string streams = riff("LIST", "strl" + riff("strh", stream) + riff("strf", format));
    return riff("RIFF", "AVI " + riff("LIST", "hdrl" + riff("avih", main) + streams) + riff("LIST", movie) +
                            riff("idx1", index));
}

TEST(UnwrittenPixels, RawAviOfEveryWidthWithDamagedChunks) {
    const TemporaryFolder folder;
    struct Kind {
        const char* fourcc;
        int bits;
        std::size_t (*bytes)(std::size_t width); ///< of a frame
    };
    static const std::string kDib(4, '\0');
    static_assert(kHeight % 2 == 0);
    const Kind kinds[] = {
        {"I420", 12, [](std::size_t w) { return w * kHeight + (w + 1) / 2 * kHeight; }},
        {"YUY2", 16, [](std::size_t w) { return (2 * w + 3) / 4 * 4 * kHeight; }},
        {kDib.data(), 24, [](std::size_t w) { return (3 * w + 3) / 4 * 4 * kHeight; }},
        {"Y800", 8, [](std::size_t w) { return w * kHeight; }},
    };
    std::size_t delivered = 0;
    for (const Kind& kind : kinds)
        for (const int width : widths()) {
            const std::string fourcc(kind.fourcc, 4);
            SCOPED_TRACE(fourcc + " " + std::to_string(width));
            const std::size_t bytes = kind.bytes(static_cast<std::size_t>(width));
            write_file(folder / "film.avi",
                       avi(width, fourcc, kind.bits, {bytes, bytes / 2, bytes, bytes - 1, 1, bytes}));
            const auto source = video(folder / "film.avi");
            const PoisonPort port = read_poisoned(*source, 0xE7);
            delivered += port.frames.size();
            EXPECT_TRUE(port.failed || port.frames.size() + port.lost_frames >= 6)
                << port.frames.size() << " frames, " << port.lost_frames << " lost";
            for (const std::vector<std::byte>& frame : port.frames) {
                const auto wrong = std::count_if(frame.begin(), frame.end(), [](std::byte value) {
                    return std::abs(std::to_integer<int>(value) - 128) > 6;
                });
                EXPECT_EQ(wrong, 0) << "of " << frame.size();
            }
        }
    EXPECT_GT(delivered, 2 * 4 * widths().size()) << "undamaged frames are read";
}

/// The frames are equal for any previous content of the slots.
void expect_no_poison(const std::string& text, const std::vector<std::size_t>& allowed) {
    SCOPED_TRACE(text);
    const PoisonPort one = read_poisoned(*make_source(text, {}), 0x11),
                     other = read_poisoned(*make_source(text, {}), 0xEE);
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), one.frames.size()), allowed.end())
        << one.frames.size() << " frames";
    EXPECT_TRUE(one.frames == other.frames);
}

TEST(UnwrittenPixels, TruncatedHeaderlessFilesOfEveryFormatAndWidth) {
    const TemporaryFolder folder;
    const unsigned seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random(seed);
    const std::pair<const char*, int> formats[] = {
        // bits per pixel
        {"gray8", 8},    {"gray16le", 16},     {"gray16be", 16},     {"gray32f", 32}, {"rgb8", 24},
        {"bgr8", 24},    {"uyvy", 16},         {"yuyv", 16},         {"mono10p", 10}, {"mono12p", 12},
        {"mono14p", 14}, {"mono10packed", 12}, {"mono12packed", 12}, {"rgb16le", 48}, {"rgb32f", 96}};
    for (const auto& [format, bits] : formats)
        for (const int width : widths()) {
            const auto frame = static_cast<std::size_t>((width * kHeight * bits + 7) / 8);
            std::string bytes(2 * frame + frame / 2, '\0');
            for (char& byte : bytes)
                byte = static_cast<char>(random() & 0x3f); // no NaN among floats
            write_file(folder / "frames.raw", bytes);
            expect_no_poison("raw:" + (folder / "frames.raw") + "?width=" + std::to_string(width) +
                                 "&height=" + std::to_string(kHeight) + "&format=" + format,
                             {2});
        }
}

TEST(UnwrittenPixels, TruncatedImages) {
    const TemporaryFolder folder;
    ASSERT_TRUE(python(folder, R"(
import os, numpy as np, tifffile, cv2
rng = np.random.default_rng(3)
names = []
for width in (*range(2, 41), *range(641, 661)):
    grey = rng.integers(0, 255, (31, width)).astype(np.uint8)
    for name, write in (("a.png", cv2.imwrite), ("a.jpg", cv2.imwrite), ("a.hdr", lambda n, p: cv2.imwrite(n, np.dstack([p] * 3).astype(np.float32))),
                        ("a.tif", lambda n, p: tifffile.imwrite(n, np.stack([p, p]), photometric="minisblack", rowsperstrip=4)),
                        ("t.tif", lambda n, p: tifffile.imwrite(n, np.stack([p, p]), photometric="minisblack", tile=(16, 16), compression="zlib"))):
        name = f"{width}{name}"
        write(name, grey)
        names.append(name)
        with open(name, "rb") as file:
            whole = file.read()
        for part in (2, 3):
            with open(f"cut{part}_{name}", "wb") as file:
                file.write(whole[:len(whole) * (part - 1) // part])
            names.append(f"cut{part}_{name}")
open("names", "w").write("\n".join(names))
)")) << read_file(folder / "python.log");
    std::istringstream names(read_file(folder / "names"));
    for (std::string name; names >> name;) {
        const bool stack = name.ends_with("tif");
        if (name.starts_with("cut"))
            expect_no_poison((folder / name) + "?transfer=linear",
                             stack ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{0});
        else
            expect_no_poison((folder / name) + "?transfer=linear", {stack ? 2U : 1U});
    }
}

} // namespace specklescope::test::unwritten_pixels_test
