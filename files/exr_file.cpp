// OpenEXR by its library: R, G and B, or one channel, in half, float or integers.
#include "base/error.hpp"
#include "base/memory_budget.hpp"
#include "files/image_file.hpp"
#include "files/input_file.hpp"
#include "have_exr.hpp"

#ifdef SPECKLESCOPE_HAVE_EXR
#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfInputFile.h>
#include <ImfStringAttribute.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#endif

namespace specklescope {

#ifdef SPECKLESCOPE_HAVE_EXR

namespace {

// OpenEXR File Layout: magic number, version with its flags, then attributes (name, type, size, value) up to
// an empty name; multi-part files have such headers one after another, up to an empty one.

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
    bool seek(std::uint64_t place) const {
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
        return seek(end);
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
            if (!seek(place() + kChannel))
                return false;
        }
        return false;
    }
    /// Lengths, each followed by as many bytes.
    bool texts_end(std::uint64_t end) {
        while (place() < end) {
            const std::optional<std::uint32_t> length = number();
            if (!length || place() + *length > end || !seek(place() + *length))
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

/// The library allocates the claimed size of an attribute before it reads the attribute. No attribute may
/// claim more than the file contains, or another size than its type has. Throws RunError; all other errors
/// are left to the library.
void check_exr_header(const std::string& path) { Walk(path).run(); }

constexpr int kMaxTile = 8192; ///< a side

/// Rows that the library keeps decoded: those coded together, and the next ones (OpenEXR, Technical
/// Introduction: scan line blocks).
std::uint64_t rows_at_once(const Imf::Header& header) {
    if (header.hasTileDescription())
        return 2ULL * header.tileDescription().ySize;
    switch (header.compression()) {
    case Imf::NO_COMPRESSION:
    case Imf::RLE_COMPRESSION:
    case Imf::ZIPS_COMPRESSION:
        return 2;
    case Imf::ZIP_COMPRESSION:
    case Imf::PXR24_COMPRESSION:
        return 2 * 16;
    case Imf::DWAB_COMPRESSION:
        return 2 * 256;
    default:
        return 2 * 32;
    }
}

/// Bytes per pixel of all channels of the file, since they are decoded together.
std::uint64_t bytes_of_pixel(const Imf::ChannelList& channels) {
    std::uint64_t bytes = 0;
    for (auto at = channels.begin(); at != channels.end(); ++at)
        bytes += at.channel().type == Imf::HALF ? 2 : 4;
    return bytes;
}

class ExrReader final : public SingleImageReader {
public:
    explicit ExrReader(const std::string& path) : SingleImageReader(path) {
        check_exr_header(path);
        try {
            // The library refuses larger sizes before it allocates memory.
            Imf::Header::setMaxImageSize(kMaxSide, kMaxSide);
            Imf::Header::setMaxTileSize(kMaxTile, kMaxTile);
            file_ = std::make_unique<Imf::InputFile>(path.c_str());
        } catch (const std::exception& error) {
            throw RunError("'" + path_ + "' is not a readable OpenEXR file (" + one_sentence(error) + ").");
        }
        const Imf::Header& header = file_->header();
        choose_channels(header.channels());
        const Imath::Box2i& window = header.dataWindow();
        constexpr std::int64_t kMost = std::numeric_limits<int>::max();
        const std::int64_t width = std::int64_t{window.max.x} - window.min.x + 1;
        const std::int64_t height = std::int64_t{window.max.y} - window.min.y + 1;
        shape_ = {static_cast<int>(std::clamp<std::int64_t>(width, 0, kMost)),
                  static_cast<int>(std::clamp<std::int64_t>(height, 0, kMost)),
                  static_cast<int>(names_.size()), PixelType::f32};
        check_shape(shape_, "'" + path_ + "'");
        check_memory(rows_at_once(header) * static_cast<std::uint64_t>(shape_.width) *
                         bytes_of_pixel(header.channels()),
                     "'" + path_ + "', whose rows are coded together,",
                     "store it with ZIP compression in scan lines");
        first_x_ = window.min.x;
        first_y_ = window.min.y;
        if (const auto* text = header.findTypedAttribute<Imf::StringAttribute>("specklescope")) {
            description_ = text->value();
            recorded_.begin(description_);
        }
    }

    void take_rows(HostView to) override {
        const std::size_t pixel = names_.size() * sizeof(float);
        const int first = first_y_ + row_;
        Imf::FrameBuffer buffer;
        for (std::size_t c = 0; c < names_.size(); ++c)
            buffer.insert(names_[c].c_str(),
                          Imf::Slice::Make(Imf::FLOAT, to.data + c * sizeof(float), {first_x_, first},
                                           shape_.width, to.shape.height, pixel, to.pitch));
        try {
            file_->setFrameBuffer(buffer);
            file_->readPixels(first, first + to.shape.height - 1);
        } catch (const std::exception& error) {
            throw RunError("'" + path_ + "' is damaged or cut short after row " + std::to_string(row_) +
                           " of " + std::to_string(shape_.height) + " (" + one_sentence(error) + ").");
        }
        row_ += to.shape.height;
    }

    /// Colour is light of a scene; a single channel is of unknown coding.
    Coding coding() const override {
        const Light light = names_.size() == 3 || names_[0] == "Y" ? Light::radiance : Light::counts;
        return {.transfer = {},
                .light = recorded_.now().light.value_or(light),
                .by = recorded_.ours() ? "its recording" : "an OpenEXR picture",
                .why = {},
                .recorded = recorded_.ours()};
    }

private:
    static std::string one_sentence(const std::exception& error) {
        std::string text = error.what();
        std::replace(text.begin(), text.end(), '\n', ' ');
        while (!text.empty() && (text.back() == '.' || text.back() == ' '))
            text.pop_back();
        return "OpenEXR: " + text;
    }

    void choose_channels(const Imf::ChannelList& channels) {
        std::string all;
        int count = 0;
        for (auto at = channels.begin(); at != channels.end(); ++at, ++count) {
            all += (all.empty() ? "" : ", ") + std::string(at.name());
            if (at.channel().xSampling != 1 || at.channel().ySampling != 1)
                throw RunError(
                    "'" + path_ + "' has a channel " + at.name() +
                    " that is not sampled in every pixel; allowed: R, G, B or one channel, whole.");
        }
        if (channels.findChannel("R") && channels.findChannel("G") && channels.findChannel("B"))
            names_ = {"R", "G", "B"};
        else if (channels.findChannel("Y"))
            names_ = {"Y"};
        else if (count == 1)
            names_ = {all};
        else
            throw RunError("'" + path_ + "' has the channels " + all +
                           "; allowed: R, G, B, or Y, or a single channel.");
    }

    std::unique_ptr<Imf::InputFile> file_;
    std::vector<std::string> names_;
    int first_x_ = 0, first_y_ = 0;
    int row_ = 0;
};

} // namespace

std::unique_ptr<ImageReader> open_exr(const std::string& path) { return std::make_unique<ExrReader>(path); }

#else

std::unique_ptr<ImageReader> open_exr(const std::string& path) {
    throw RunError("'" + path +
                   "' is an OpenEXR file, and this program was built without OpenEXR (libopenexr-dev). "
                   "Convert it to .hdr or float TIFF.");
}

#endif

} // namespace specklescope
