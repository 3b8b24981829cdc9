// Images and films in NumPy's .npy files, read frame by frame.
#include "base/error.hpp"
#include "files/image_file.hpp"
#include "files/input_file.hpp"
#include "files/npy_file.hpp"
#include "files/npy_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace specklescope {

namespace {

/// Axes of an array: (height, width), (frames, height, width), and either with 3 or 4 channels as the last
/// axis. The fourth channel is transparency and is dropped.
struct NpyFrames {
    std::uint64_t frames = 1;
    std::size_t height = 0, width = 0, stored_channels = 1;

    NpyFrames(std::vector<std::size_t> sides, const std::string& path) {
        const std::string text = axes(sides);
        if (sides.size() >= 3 &&
            (sides.back() == 3 || sides.back() == 4 || (sides.size() == 4 && sides.back() == 1))) {
            stored_channels = sides.back();
            sides.pop_back();
        }
        if (sides.size() == 3) {
            frames = sides.front();
            sides.erase(sides.begin());
        }
        if (sides.size() != 2)
            throw RunError(
                "'" + path + "' holds an array of " + text +
                ", which is not an image; allowed: height × width, frames × height × width, and 3 or 4 "
                "channels as a last axis.");
        height = sides[0];
        width = sides[1];
    }
    int channels() const { return stored_channels < 3 ? 1 : 3; }

private:
    static std::string axes(const std::vector<std::size_t>& sides) {
        std::string text;
        for (const std::size_t side : sides)
            text += (text.empty() ? "" : " × ") + std::to_string(side);
        return text;
    }
};

class NpyReader final : public ImageReader {
public:
    explicit NpyReader(const NpyStream& stream)
        : ImageReader(stream.path),
          array_(path_, stream.open(), stream.size, std::numeric_limits<std::uint64_t>::max()),
          frames_(array_.shape(), path_), file_(stream.open()), compressed_(stream.compressed) {
        constexpr std::size_t kMost = std::numeric_limits<int>::max();
        const std::string_view type = array_.type();
        shape_ = {static_cast<int>(std::min(frames_.width, kMost)),
                  static_cast<int>(std::min(frames_.height, kMost)), frames_.channels(),
                  type == "u1" || type == "b1" ? PixelType::u8
                  : type == "u2"               ? PixelType::u16
                                               : PixelType::f32};
        check_shape(shape_, "'" + path_ + "'");
        if (shape_.type == PixelType::f32 && type != "f4" && type != "f2")
            remarks_.push_back("holds numbers of type " + std::string(type) + ", which become 32-bit float");
        if (array_.fortran())
            all_ = array_.rest();
    }

    std::optional<Shape> next_page() override { return seek_page(next_); }
    std::optional<Shape> seek_page(std::uint64_t page) override {
        if (page >= frames_.frames)
            return std::nullopt;
        next_ = page + 1;
        row_ = page * frames_.height;
        return shape_;
    }
    std::uint64_t pages() override { return frames_.frames; }
    Coding coding() const override { return assumed_linear(); }

private:
    void take_rows(HostView to) override {
        const std::size_t row = frames_.width * frames_.stored_channels;
        const std::size_t count = row * static_cast<std::size_t>(to.shape.height);
        if (all_.empty())
            read(row_ * row, count);
        for (int y = 0; y < to.shape.height; ++y) {
            const std::size_t first = static_cast<std::size_t>(y) * row;
            const auto value = [&](std::size_t i) {
                return all_.empty() ? array_.value(read_.data() + (first + i) * array_.bytes_each())
                                    : all_[(row_ + static_cast<std::size_t>(y)) * row + i];
            };
            switch (to.shape.type) {
            case PixelType::u8:
                convert<std::uint8_t>(to.row(y), value);
                break;
            case PixelType::u16:
                convert<std::uint16_t>(to.row(y), value);
                break;
            case PixelType::f32:
                convert<float>(to.row(y), value);
                break;
            }
        }
        row_ += static_cast<std::size_t>(to.shape.height);
    }

    template <class T, class Value> void convert(std::byte* to, const Value& value) const {
        const float scale = array_.type() == "b1" ? 255.0F : 1.0F; // false and true: black and white
        const auto channels = static_cast<std::size_t>(shape_.channels);
        for (std::size_t x = 0; x < frames_.width; ++x)
            for (std::size_t c = 0; c < channels; ++c, to += sizeof(T)) {
                const T sample = static_cast<T>(scale * value(x * frames_.stored_channels + c));
                std::memcpy(to, &sample, sizeof(T));
            }
    }

    void read(std::size_t first, std::size_t count) {
        const std::size_t each = array_.bytes_each();
        read_.resize(count * each);
        const auto at = static_cast<off_t>(array_.offset() + first * each);
        constexpr off_t kStep = off_t{16} << 20; // passing over compressed bytes takes time
        for (off_t here = ftello(file_.get()); compressed_ && at - here > kStep; here += kStep) {
            goes_on();
            if (fseeko(file_.get(), here + kStep, SEEK_SET) != 0)
                break;
        }
        if (fseeko(file_.get(), at, SEEK_SET) != 0 ||
            std::fread(read_.data(), 1, read_.size(), file_.get()) != read_.size())
            throw RunError("'" + path_ + "' is cut short.");
    }

    NpyFile array_;
    NpyFrames frames_;
    InputFile file_;
    bool compressed_;
    Shape shape_;
    std::vector<float> all_; ///< of an array in Fortran order, in C order
    std::vector<std::byte> read_;
    std::uint64_t next_ = 0;
    std::size_t row_ = 0; ///< of the file
};

} // namespace

std::unique_ptr<ImageReader> open_npy(const NpyStream& stream) { return std::make_unique<NpyReader>(stream); }

std::unique_ptr<ImageReader> open_npy(const std::string& path) {
    return open_npy(
        NpyStream{.path = path, .size = input_size(path), .open = [path] { return open_input(path); }});
}

} // namespace specklescope
