// OpenEXR File Layout: magic number, version with its flags, then attributes (name, type, size, value) up to
// an empty name; multi-part files have such headers one after another, up to an empty one.
#include "files/exr_header.hpp"

#include "base/error.hpp"
#include "files/input_file.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

/// Sizes of types with a constant size.
std::optional<std::uint64_t> size_of(std::string_view type) {
    static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 24> kSizes = {
        {{"box2i", 16},      {"box2f", 16},   {"chromaticities", 32},
         {"compression", 1}, {"double", 8},   {"envmap", 1},
         {"float", 4},       {"int", 4},      {"keycode", 28},
         {"lineOrder", 1},   {"m33f", 36},    {"m33d", 72},
         {"m44f", 64},       {"m44d", 128},   {"rational", 8},
         {"tiledesc", 9},    {"timecode", 8}, {"v2i", 8},
         {"v2f", 8},         {"v2d", 16},     {"v3i", 12},
         {"v3f", 12},        {"v3d", 24},     {"deepImageState", 1}}};
    for (const auto& [name, bytes] : kSizes)
        if (name == type)
            return bytes;
    return std::nullopt;
}

class Walk {
public:
    explicit Walk(const std::string& path) : path_(path), file_(open_input(path)), bytes_(input_size(path)) {}

    void run() {
        std::array<unsigned char, 8> begin{};
        if (std::fread(begin.data(), 1, begin.size(), file_.get()) != begin.size())
            return;
        const bool parts = (begin[5] & 0x10U) != 0;
        for (bool empty = true;;) {
            const std::optional<std::string> name = text();
            if (!name || (name->empty() && (!parts || empty)))
                return;
            empty = name->empty();
            if (!empty && !attribute(*name))
                return;
        }
    }

private:
    /// Text up to its NUL; nothing if it is missing, or longer than the library allows.
    std::optional<std::string> text() {
        constexpr std::size_t kLongest = 255;
        std::string read;
        for (int c = std::getc(file_.get()); c > 0 && read.size() <= kLongest; c = std::getc(file_.get()))
            read += static_cast<char>(c);
        const bool ended = std::feof(file_.get()) == 0 && read.size() <= kLongest;
        return ended ? std::optional(read) : std::nullopt;
    }
    std::optional<std::uint32_t> number() {
        std::array<unsigned char, 4> b{};
        if (std::fread(b.data(), 1, b.size(), file_.get()) != b.size())
            return std::nullopt;
        return b[0] | std::uint32_t{b[1]} << 8U | std::uint32_t{b[2]} << 16U | std::uint32_t{b[3]} << 24U;
    }
    std::uint64_t place() const { return static_cast<std::uint64_t>(std::max(0L, std::ftell(file_.get()))); }
    bool go_to(std::uint64_t place) const {
        return std::fseek(file_.get(), static_cast<long>(place), SEEK_SET) == 0;
    }

    /// False if the rest of the header cannot be read.
    bool attribute(const std::string& name) {
        const std::optional<std::string> type = text();
        const std::optional<std::uint32_t> size = type ? number() : std::nullopt;
        if (!size)
            return false;
        const std::uint64_t end = place() + *size;
        if (end > bytes_)
            refuse(name, "claims " + std::to_string(*size) + " bytes, and it ends before them");
        if (!fits(*type, *size, end))
            refuse(name, "has another size than its type " + *type);
        return go_to(end);
    }

    bool fits(const std::string& type, std::uint64_t size, std::uint64_t end) {
        if (const auto wanted = size_of(type))
            return size == *wanted;
        if (type == "chlist")
            return channels_end(end);
        if (type == "stringvector")
            return texts_end(end);
        if (type == "preview") {
            const std::optional<std::uint32_t> width = number(), height = number();
            return width && height && size == 8 + 4 * std::uint64_t{*width} * *height;
        }
        return true;
    }
    /// Names with 16 bytes each, and an empty one.
    bool channels_end(std::uint64_t end) {
        while (place() < end) {
            const std::optional<std::string> name = text();
            if (!name || name->empty())
                return name && place() == end;
            constexpr std::uint64_t kChannel = 16;
            if (!go_to(place() + kChannel))
                return false;
        }
        return false;
    }
    /// Lengths, each followed by as many bytes.
    bool texts_end(std::uint64_t end) {
        while (place() < end) {
            const std::optional<std::uint32_t> length = number();
            if (!length || place() + *length > end || !go_to(place() + *length))
                return false;
        }
        return place() == end;
    }

    [[noreturn]] void refuse(const std::string& name, const std::string& what) const {
        throw RunError("'" + path_ + "' is not a readable OpenEXR file: its attribute '" + name + "' " +
                       what + ".");
    }

    std::string path_;
    InputFile file_;
    std::uint64_t bytes_;
};

} // namespace

void check_exr_header(const std::string& path) { Walk(path).run(); }

} // namespace specklescope
