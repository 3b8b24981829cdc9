// Radiance images (.hdr): RGBE samples, plain or run-length coded, as described by Ward ("Real Pixels",
// Graphics Gems II, 1991) and read by Radiance's own color.c. Why not a library: Debian has Radiance only as
// programs; stb_image (libstb-dev) ignores EXPOSURE, without which the values are not radiance, and does not
// detect truncated files; FreeImage and OpenCV are large for 200 lines.
#include "base/error.hpp"
#include "files/image_file.hpp"
#include "files/input_file.hpp"
#include "files/whole_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace specklescope {

namespace {

using Rgbe = std::array<std::uint8_t, 4>;

class HdrReader final : public SingleImageReader {
public:
    explicit HdrReader(const std::string& path) : SingleImageReader(path), file_(open_input(path)) {
        read_header();
        read_size();
        line_.resize(static_cast<std::size_t>(shape_.width));
    }

    void take_rows(HostView to) override {
        for (int y = 0; y < to.shape.height; ++y, ++row_) {
            read_line();
            auto* out = reinterpret_cast<float*>(to.row(y));
            for (const Rgbe& pixel : line_) {
                // The centre of the quantisation step.
                const double unit = pixel[3] == 0 ? 0 : std::ldexp(scale_, pixel[3] - (128 + 8));
                for (std::size_t c = 0; c < 3; ++c)
                    *out++ = static_cast<float>((pixel[c] + 0.5) * unit);
            }
        }
    }

    Coding coding() const override {
        return {.transfer = {},
                .light = recorded_.now().light.value_or(Light::radiance),
                .by = recorded_.ours() ? "its recording" : "a Radiance picture",
                .why = {},
                .recorded = recorded_.ours()};
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw RunError("'" + path_ + "' is not a readable Radiance image: " + what + ".");
    }
    /// The start of a line, short enough to quote.
    static std::string quoted(const std::string& line) {
        constexpr std::size_t kMost = 80;
        return line.size() > kMost ? utf8_prefix(line, kMost - 3) + "…" : line;
    }
    [[noreturn]] void cut() const {
        throw RunError("'" + path_ + "' is damaged or cut short at row " + std::to_string(row_) + " of " +
                       std::to_string(shape_.height) + ".");
    }

    /// A line without its end; valid headers are never long.
    std::string text_line() {
        constexpr std::size_t kMost = 65536;
        std::string line;
        for (int c = std::getc(file_.get()); c != '\n'; c = std::getc(file_.get())) {
            if (c == EOF || line.size() == kMost)
                refuse("its header has no end");
            line.push_back(static_cast<char>(c));
        }
        if (!line.empty() && line.back() == '\r')
            line.pop_back();
        return line;
    }

    /// EXPOSURE is the factor of the values, possibly given several times.
    void read_header() {
        (void)text_line(); // "#?RADIANCE": checked by open_image
        for (std::string line = text_line(); !line.empty(); line = text_line()) {
            const auto value = [&](std::string_view key) -> std::optional<std::string> {
                return line.starts_with(key) ? std::optional(line.substr(key.size())) : std::nullopt;
            };
            if (const auto format = value("FORMAT="); format && *format != "32-bit_rle_rgbe")
                refuse("its FORMAT is " + quoted(*format) + "; allowed: 32-bit_rle_rgbe");
            if (const auto exposure = value("EXPOSURE=")) {
                const double number = std::strtod(exposure->c_str(), nullptr);
                if (!(number > 0) || !std::isfinite(number))
                    refuse("its EXPOSURE is " + quoted(*exposure) + ", no number above 0");
                scale_ /= number;
            }
            if (const auto description = value("SPECKLESCOPE=")) {
                description_ = *description;
                recorded_.begin(description_);
            }
        }
    }

    void read_size() {
        const std::string line = text_line();
        int height = 0;
        int width = 0;
        const char* const end = line.data() + line.size();
        constexpr std::string_view kDown = "-Y ", kRight = " +X ";
        bool good = line.starts_with(kDown);
        if (good) {
            const auto rows = std::from_chars(line.data() + kDown.size(), end, height);
            good = rows.ec == std::errc{} && std::string_view(rows.ptr, end).starts_with(kRight);
            if (good) {
                const auto columns = std::from_chars(rows.ptr + kRight.size(), end, width);
                good = columns.ec == std::errc{} && columns.ptr == end;
            }
        }
        if (!good || height <= 0 || width <= 0)
            refuse("its size is '" + quoted(line) + "'; allowed: -Y HEIGHT +X WIDTH, rows from the top");
        shape_ = {width, height, 3, PixelType::f32};
        check_shape(shape_, "'" + path_ + "'");
    }

    std::uint8_t byte() {
        const int c = std::getc(file_.get());
        if (c == EOF)
            cut();
        return static_cast<std::uint8_t>(c);
    }

    void read_line() {
        constexpr int kLeast = 8, kMost = 0x7fff;
        Rgbe first{byte(), byte(), byte(), byte()};
        const bool planes = shape_.width >= kLeast && shape_.width <= kMost && first[0] == 2 &&
                            first[1] == 2 && (first[2] & 0x80) == 0;
        if (!planes)
            return read_pixels(first);
        if ((first[2] << 8 | first[3]) != shape_.width)
            cut();
        for (std::size_t part = 0; part < 4; ++part)
            read_plane(part);
    }

    /// Above 128: a run of the next byte; otherwise this number of literal bytes.
    void read_plane(std::size_t part) {
        for (std::size_t x = 0; x < line_.size();) {
            const std::uint8_t count = byte();
            const bool run = count > 128;
            const std::size_t length = run ? count - 128U : count;
            if (length == 0 || length > line_.size() - x)
                cut();
            const std::uint8_t value = run ? byte() : 0;
            for (const std::size_t stop = x + length; x < stop; ++x)
                line_[x][part] = run ? value : byte();
        }
    }

    /// Pixel by pixel; (1, 1, 1, n) repeats the last pixel n times, a second one directly after it 256·n
    /// times.
    void read_pixels(Rgbe pixel) {
        int shift = 0;
        for (std::size_t x = 0;;) {
            if (pixel[0] == 1 && pixel[1] == 1 && pixel[2] == 1) {
                const std::size_t length = shift > 24 ? line_.size() + 1 : std::size_t{pixel[3]} << shift;
                if (x == 0 || length > line_.size() - x)
                    cut();
                std::fill_n(line_.begin() + static_cast<std::ptrdiff_t>(x), length, line_[x - 1]);
                x += length;
                shift += 8;
            } else {
                line_[x++] = pixel;
                shift = 0;
            }
            if (x == line_.size())
                return;
            pixel = {byte(), byte(), byte(), byte()};
        }
    }

    InputFile file_;
    double scale_ = 1; ///< of the values in the file
    int row_ = 0;
    std::vector<Rgbe> line_;
};

} // namespace

std::unique_ptr<ImageReader> open_hdr(const std::string& path) { return std::make_unique<HdrReader>(path); }

} // namespace specklescope
