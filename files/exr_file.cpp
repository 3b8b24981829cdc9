// OpenEXR by its library: R, G and B, or one channel, in half, float or whole numbers.
#include "base/error.hpp"
#include "base/memory_budget.hpp"
#include "files/exr_header.hpp"
#include "files/image_file.hpp"
#include "have_exr.hpp"

#ifdef SPECKLESCOPE_HAVE_EXR
#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfInputFile.h>
#include <ImfStringAttribute.h>

#include <algorithm>
#include <array>
#include <vector>
#endif

namespace specklescope {

#ifdef SPECKLESCOPE_HAVE_EXR

namespace {

constexpr int kMaxTile = 8192; ///< a side

/// Rows that the library holds decoded at once: those coded together, and the next ones (OpenEXR, Technical
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

/// Bytes, of all channels of the file: they are decoded together.
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
            // What claims more is refused by the library before it makes room.
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

    /// Colour is light of a scene; a single channel may be anything.
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
                           "; allowed: R, G, B, or Y, or one alone.");
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
