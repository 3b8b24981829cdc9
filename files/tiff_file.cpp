// TIFF by libtiff: one page at a time, one band (strip or row of tiles) at a time.
#include "base/error.hpp"
#include "base/memory_budget.hpp"
#include "files/description_text.hpp"
#include "files/image_file.hpp"
#include "files/input_file.hpp"
#include "files/tiff_layout.hpp"

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

namespace {

struct CloseTiff {
    void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};

using Layout = TiffLayout;

class TiffReader final : public ImageReader {
public:
    TiffReader(const std::string& path, const StackChoice& choice) : ImageReader(path), choice_(choice) {
        (void)open_input(path); // fails for anything but a file
        using Options = std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)>;
        const Options options(TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
        if (!options)
            throw std::bad_alloc();
        TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, this);
        TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, nullptr);
        // m: no memory mapping, since a file that shrinks while it is read would end the program.
        tiff_.reset(TIFFOpenExt(path.c_str(), "rm", options.get()));
        if (!tiff_)
            throw RunError("'" + path_ + "' is not a readable TIFF file" + reason() + ".");
    }

    std::optional<Shape> next_page() override {
        if (!begun())
            return std::nullopt;
        const std::optional<std::uint64_t> image = stack_.image(frame_);
        if (!image || !go_to_image(*image))
            return std::nullopt;
        ++frame_;
        return begin_page();
    }

    std::optional<Shape> seek_page(std::uint64_t page) override {
        frame_ = page;
        return next_page();
    }

    Coding coding() const override { return coding_; }
    FileScale scale() const override {
        if (recorded_.ours())
            return ImageReader::scale();
        float x = 0, y = 0;
        std::uint16_t unit = 0;
        if (TIFFGetField(tiff_.get(), TIFFTAG_XRESOLUTION, &x) == 0 ||
            TIFFGetField(tiff_.get(), TIFFTAG_YRESOLUTION, &y) == 0)
            x = y = 0;
        if (TIFFGetField(tiff_.get(), TIFFTAG_RESOLUTIONUNIT, &unit) == 0)
            unit = 0;
        return tiff_scale(first_description_, {x, y, unit});
    }
    StatedFullScale full_scale() const override {
        if (layout_.palette())
            return {.value = layout_.indices ? tiff_largest(layout_) : 255};
        const double largest = tiff_largest(layout_);
        if (layout_.offset != 0)
            return {.value = largest};
        const auto stated = [&](double value, const char* by) -> std::optional<StatedFullScale> {
            const bool of_bits =
                value > 255 && value < largest && std::exp2(std::round(std::log2(value + 1))) == value + 1;
            return of_bits ? std::optional(StatedFullScale{value, by}) : std::nullopt;
        };
        // Some programs write the brightest sample here: only 2^n - 1 is a full scale.
        std::uint16_t most = 0;
        if (TIFFGetField(tiff_.get(), TIFFTAG_MAXSAMPLEVALUE, &most) != 0)
            if (const auto by_tag = stated(most, "its MaxSampleValue"))
                return *by_tag;
        if (const auto by_ome = stated(std::exp2(significant_bits_) - 1, "its SignificantBits"))
            return *by_ome;
        return {.value = largest,
                .by = largest > 255 && largest < 65535 && layout_.format != SAMPLEFORMAT_INT
                          ? "its BitsPerSample"
                          : ""};
    }
    std::string lossy() const override {
        return layout_.compression == COMPRESSION_JPEG || layout_.compression == COMPRESSION_OJPEG ? "JPEG"
                                                                                                   : "";
    }

    void take_rows(HostView to) override {
        for (int y = 0; y < to.shape.height; ++y, ++row_) {
            if (row_ >= band_end_)
                load_band();
            give_row(to.row(y));
        }
    }

    /// Call while the first page is current; the second page shows whether there are previews between pages.
    std::uint64_t pages() override {
        message_.clear();
        const std::uint64_t count = TIFFNumberOfDirectories(tiff_.get());
        if (!message_.empty() || page_ > 1)
            return 0;
        if (count >= 2) {
            const bool previews = TIFFSetDirectory(tiff_.get(), 1) == 0 || is_preview();
            TIFFSetDirectory(tiff_.get(), 0);
            if (page_ > 0)
                read_layout(); // decoding settings are lost with the directory
            if (previews)
                return 0;
        }
        if (!begun() || (planes_ > 1 && (count > 1 || planes_there() < planes_)))
            return 0;
        const std::uint64_t images = std::max(count, planes_);
        if (stack_.plain())
            return images;
        std::uint64_t frames = 0;
        while (stack_.image(frames).value_or(images) < images)
            ++frames;
        return frames;
    }

    const std::string& remark() const override { return remark_; }

private:
    /// A directory of the file that is no preview.
    struct Directory {
        tdir_t number = 0;
        std::uint64_t first = 0; ///< its first image
    };

    /// Reads the first directory; false if there is none.
    bool begun() { return !directories_.empty() || next_directory(); }

    /// The next directory that is no preview; false after the last.
    bool next_directory() {
        do {
            if (page_ > 0 && TIFFLastDirectory(tiff_.get()) != 0)
                return false;
            message_.clear();
            if (page_ > 0 && TIFFReadDirectory(tiff_.get()) == 0)
                throw RunError("'" + path_ + "' is damaged or cut short after page " + std::to_string(page_) +
                               reason() + ".");
            ++page_;
        } while (is_preview());
        if (directories_.empty())
            read_stack();
        const std::uint64_t first = directories_.empty() ? 0 : image_ - plane_ + planes_;
        const auto here = static_cast<tdir_t>(page_ - 1);
        if (directories_.empty() || directories_.back().number < here)
            directories_.push_back({here, first});
        enter(first);
        return true;
    }

    /// Starts the current directory with this image.
    void enter(std::uint64_t first) {
        image_ = first;
        plane_ = 0;
        planes_ = count_planes();
    }

    bool go_to_image(std::uint64_t image) {
        if (image < image_) {
            std::size_t at = directories_.size() - 1;
            while (directories_[at].first > image)
                --at;
            message_.clear();
            if (TIFFSetDirectory(tiff_.get(), directories_[at].number) == 0)
                throw RunError("'" + path_ + "' cannot be read at page " +
                               std::to_string(directories_[at].number + 1) + reason() + ".");
            page_ = std::uint64_t{directories_[at].number} + 1;
            enter(directories_[at].first);
        }
        while (image - image_ + plane_ >= planes_) {
            goes_on();
            if (!next_directory())
                return false;
        }
        plane_ += image - image_;
        image_ = image;
        return true;
    }

    void read_stack() {
        first_description_ = text_of_page();
        imagej_ = imagej_values(first_description_);
        RecordedText text;
        if (text.begin(first_description_)) // one image per directory, one channel
            return;
        constexpr std::uint32_t kLsmInfo = 34412;
        std::uint32_t bytes = 0;
        const char* lsm = nullptr;
        if (TIFFGetField(tiff_.get(), kLsmInfo, &bytes, &lsm) != 0)
            stack_ = TiffStack::of_lsm({lsm, bytes}, input_size(path_));
        else
            stack_ = TiffStack(first_description_, input_size(path_),
                               tag<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1));
        stack_.choose(choice_, path_);
        remark_ = stack_.remark();
    }

    /// Number of consecutive images in the current directory: ImageDepth, a MetaMorph stack, or a file with
    /// one directory whose description states more, as written by ImageJ beyond 4 GB.
    std::uint64_t count_planes() {
        constexpr std::uint32_t kMetaMorphPlanes = 33629;
        std::uint64_t planes = tag<std::uint32_t>(TIFFTAG_IMAGEDEPTH, 1);
        std::uint32_t count = 0;
        void* values = nullptr;
        if (planes <= 1 && TIFFGetField(tiff_.get(), kMetaMorphPlanes, &count, &values) != 0)
            planes = count;
        const bool by_text = planes <= 1 && directories_.size() == 1 && TIFFLastDirectory(tiff_.get()) != 0;
        if (by_text)
            planes = stack_.images();
        if (planes <= 1)
            return 1;
        read_layout();
        const bool lie_together =
            layout_.compression == COMPRESSION_NONE && !layout_.tiled && !layout_.separate();
        if (!lie_together && by_text) { // extracted from a stack by a program that kept the description
            remark_ = "'" + path_ + "' claims " + std::to_string(planes) + " images (" + stack_.by() +
                      ") and holds one. That one is read.";
            return 1;
        }
        if (!lie_together)
            throw RunError(where() + " claims " + std::to_string(planes) +
                           " images in one directory, which are read uncompressed, in strips and with their "
                           "channels together only. Save it with one directory for each image.");
        return planes;
    }

    std::uint64_t plane_bytes() const { return layout_.bytes_for(layout_.width) * layout_.height; }
    std::uint64_t plane_offset() const {
        std::uint64_t* offsets = nullptr;
        return TIFFGetField(tiff_.get(), TIFFTAG_STRIPOFFSETS, &offsets) != 0 && offsets ? *offsets : 0;
    }
    /// Planes that fit into the size of the file.
    std::uint64_t planes_there() const {
        const std::uint64_t size = input_size(path_), begin = plane_offset();
        return size > begin ? (size - begin) / plane_bytes() : 0;
    }

    Shape begin_page() {
        remarks_.clear();
        loss_ = {};
        read_layout();
        if (plane_ > 0 && plane_ >= planes_there())
            throw RunError("'" + path_ + "' claims " + std::to_string(planes_) +
                           " images and is long enough for " + std::to_string(planes_there()) +
                           "; it is damaged or cut short.");
        read_description();
        if (!recorded_.ours()) {
            recorded_.state_time(stack_.stated_times() ? stack_.time_ns(image_) : date_ns(date()));
            recorded_.state_exposure(exposure_ms());
        }
        coding_ = read_coding();
        row_ = band_begin_ = band_end_ = 0;
        remark_palette();
        remark_samples();
        return begin_oriented(shape(), layout_.orientation);
    }

    static int on_error(TIFF*, void* self, const char*, const char* format, va_list arguments) {
        std::array<char, 512> text{};
        (void)std::vsnprintf(text.data(), text.size(), format, arguments);
        auto& message = static_cast<TiffReader*>(self)->message_;
        if (message.empty()) // the first one is the cause
            message = text.data();
        return 1;
    }
    static int on_warning(TIFF*, void*, const char*, const char*, va_list) {
        return 1;
    } // unknown tags and similar

    /// Each page of our recordings has JSON; the first describes the file.
    void read_description() {
        description_ = text_of_page();
        if (page_ == 1) {
            recorded_.begin(description_);
            significant_bits_ = ome_significant_bits(description_);
        } else
            recorded_.next(description_);
    }

    std::string text_of_page() const {
        char* text = nullptr;
        const bool any = TIFFGetField(tiff_.get(), TIFFTAG_IMAGEDESCRIPTION, &text) != 0 && text;
        return any ? text : "";
    }

    /// Exposure of the current image, from OME-XML or Micro-Manager's tag.
    std::optional<double> exposure_ms() const {
        if (const auto stated = stack_.exposure_ms(image_))
            return stated;
        constexpr std::uint32_t kMicroManager = 51123;
        std::uint32_t bytes = 0;
        const char* json = nullptr;
        if (TIFFGetField(tiff_.get(), kMicroManager, &bytes, &json) == 0 || !json)
            return std::nullopt;
        return micro_manager_exposure({json, strnlen(json, bytes)});
    }

    std::string date() const {
        char* text = nullptr;
        return TIFFGetField(tiff_.get(), TIFFTAG_DATETIME, &text) != 0 && text ? text : "";
    }

    /// Floats are light, and colour is light of a scene. For integers a profile, a table or an Exif folder
    /// may state more.
    Coding read_coding() {
        if (recorded_.ours())
            return recorded_coding();
        if (layout_.format == SAMPLEFORMAT_IEEEFP)
            return layout_.channels == 3 ? assumed_linear(Light::radiance) : assumed_linear();
        std::uint32_t bytes = 0;
        void* profile = nullptr;
        if (TIFFGetField(tiff_.get(), TIFFTAG_ICCPROFILE, &bytes, &profile) != 0)
            if (std::optional<Coding> coding = coding_of_icc(profile, bytes))
                return *coding;
        std::array<const std::uint16_t*, 3> tables{};
        if (layout_.bits >= 8 &&
            TIFFGetField(tiff_.get(), TIFFTAG_TRANSFERFUNCTION, &tables[0], &tables[1], &tables[2]) != 0) {
            std::vector<std::vector<std::uint16_t>> light;
            for (const std::uint16_t* table : tables)
                if (table)
                    light.emplace_back(table, table + (std::size_t{1} << layout_.bits));
            if (std::optional<Coding> coding = coding_of_tables(std::move(light)))
                return *coding;
        }
        if (std::optional<Coding> coding = coding_of_color_space(color_space()))
            return *coding;
        return assumed_linear();
    }

    /// From the Exif folder of the page; 0: not stated. libtiff moves there and back.
    unsigned color_space() {
        std::uint64_t offset = 0;
        if (TIFFGetField(tiff_.get(), TIFFTAG_EXIFIFD, &offset) == 0)
            return 0;
        const tdir_t here = TIFFCurrentDirectory(tiff_.get());
        std::uint16_t value = 0;
        if (TIFFReadEXIFDirectory(tiff_.get(), offset) == 0 ||
            TIFFGetField(tiff_.get(), EXIFTAG_COLORSPACE, &value) == 0)
            value = 0;
        message_.clear(); // errors there do not concern the pixels
        if (TIFFSetDirectory(tiff_.get(), here) == 0)
            throw RunError(where() + " cannot be found again after its Exif directory" + reason() + ".");
        read_layout(); // settings for decoding were lost with the directory
        return value;
    }

    std::string reason() const {
        std::string text = message_;
        text.resize(std::min(text.find('\n'), text.size())); // the first line is the reason
        while (!text.empty() && (text.back() == '.' || text.back() == ' '))
            text.pop_back();
        return text.empty() ? "" : " (libtiff: " + text + ")";
    }

    template <class T> T tag(std::uint32_t name, T otherwise) const {
        T value = otherwise;
        return TIFFGetFieldDefaulted(tiff_.get(), name, &value) != 0 ? value : otherwise;
    }

    bool is_preview() const {
        return (tag<std::uint32_t>(TIFFTAG_SUBFILETYPE, 0) & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
    }

    std::string where() const { return "'" + path_ + "', page " + std::to_string(page_) + ","; }

    Shape shape() const {
        constexpr std::uint32_t most = std::numeric_limits<int>::max();
        return {static_cast<int>(std::min(layout_.width, most)),
                static_cast<int>(std::min(layout_.height, most)), layout_.channels, tiff_pixel_type(layout_)};
    }

    void read_layout() {
        Layout l;
        l.width = tag<std::uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
        l.height = tag<std::uint32_t>(TIFFTAG_IMAGELENGTH, 0);
        l.bits = tag<std::uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
        l.samples = tag<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
        l.format = tag<std::uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
        l.planar = tag<std::uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
        l.compression = tag<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
        l.photometric = tag<std::uint16_t>(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        l.tiled = TIFFIsTiled(tiff_.get()) != 0;
        check_tiff_kind(l, where());
        l.orientation = tag<std::uint16_t>(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
        if (l.palette())
            read_palette(l);
        const bool color =
            l.photometric == PHOTOMETRIC_RGB || (l.palette() && !l.indices) || l.ycbcr() || l.samples == 3;
        l.channels = color ? 3 : 1;
        if (l.ycbcr())
            TIFFSetField(tiff_.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        if ((l.bits == 8 || l.bits == 16) && l.samples == 1 && l.photometric == PHOTOMETRIC_MINISBLACK &&
            (l.format == SAMPLEFORMAT_UINT || l.format == SAMPLEFORMAT_VOID))
            l.offset = imagej_.offset;
        l.band_rows = tag<std::uint32_t>(l.tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, 0);
        l.tile_width = l.tiled ? tag<std::uint32_t>(TIFFTAG_TILEWIDTH, 0) : l.width;
        layout_ = l;
        check_band();
    }

    void read_palette(Layout& l) {
        palette_.colours = tiff_palette(tiff_.get(), l);
        if (palette_.colours.empty())
            throw RunError(where() + " has a palette image without its palette.");
        if (page_ == 1)
            by_imagej_ = text_of_page().starts_with("ImageJ=");
        const bool stack = page_ > 1 || TIFFLastDirectory(tiff_.get()) == 0;
        palette_.grey_ramp = l.bits == 8;
        for (std::size_t i = 0; i < palette_.colours.size(); ++i)
            palette_.grey_ramp =
                palette_.grey_ramp && std::to_integer<std::size_t>(palette_.colours[i]) == i / 3;
        l.indices = palette_.grey_ramp || by_imagej_ || (stack && is_colour_scale(palette_.colours));
    }

    void remark_palette() {
        if (!layout_.palette() || palette_.grey_ramp)
            return;
        if (layout_.indices)
            remarks_.emplace_back(
                "has a palette that colours grey data: its values are taken, not their colours");
        else if (is_colour_scale(palette_.colours))
            remarks_.emplace_back("is taken as a picture in the colours of its palette; if they only colour "
                                  "grey data, save it as grey");
    }

    /// Adds a remark about extra samples of a pixel that are dropped, except transparency.
    void remark_samples() {
        if (layout_.offset != 0)
            remarks_.push_back("has values that ImageJ shows with " +
                               std::to_string(std::llround(layout_.offset)) +
                               " added to the stored values: they are read as signed samples");
        else if (imagej_.calibrated)
            remarks_.emplace_back(
                "has a calibration by ImageJ, which is not applied: its stored values are used");
        if (layout_.photometric == PHOTOMETRIC_MINISWHITE && layout_.format != SAMPLEFORMAT_IEEEFP &&
            layout_.bits > 1)
            remarks_.emplace_back("states that 0 is white: its values are turned round");
        if (layout_.samples == 3 && layout_.photometric != PHOTOMETRIC_RGB && !layout_.ycbcr())
            remarks_.emplace_back("has 3 samples per pixel, which are read as red, green and blue");
        std::uint16_t count = 0;
        const std::uint16_t* kinds = nullptr;
        const bool transparent = TIFFGetField(tiff_.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) != 0 &&
                                 count == 1 && *kinds != EXTRASAMPLE_UNSPECIFIED;
        if (layout_.samples > layout_.channels && !layout_.palette() && !transparent)
            remarks_.push_back(
                "has " + std::to_string(layout_.samples) + " samples a pixel: only the first " +
                (layout_.channels == 1 ? "is" : "3 are") + " read. Save the others as images of their own");
    }

    /// A band is allocated: its size must be plausible, and an uncompressed page must be in the file.
    void check_band() const {
        const Layout& l = layout_;
        Shape band = shape();
        if (band.width > kMaxSide || band.height == 0)
            check_shape(band,
                        // contains the claimed size; a tall page of normal width may still be cut into frames
                        where());
        band.height = static_cast<int>(std::min<std::uint32_t>(
            l.tiled ? l.band_rows : std::min(l.band_rows, l.height), std::numeric_limits<int>::max()));
        band.width = static_cast<int>(
            std::min<std::uint32_t>(std::max(l.width, l.tile_width), std::numeric_limits<int>::max()));
        check_shape(band, where() + (l.tiled ? " a row of tiles" : " a strip"));
        const std::uint64_t decoded = static_cast<std::uint64_t>(band.width) *
                                      static_cast<std::uint64_t>(band.height) * l.samples *
                                      ((l.bits + 7U) / 8U);
        check_memory(decoded, where() + (l.tiled ? " a row of tiles" : " a strip"),
                     "store it in smaller pieces");
        const std::uint64_t all = static_cast<std::uint64_t>(l.width) * l.height * l.samples * l.bits / 8;
        const std::uint64_t size = input_size(path_);
        if (l.compression == COMPRESSION_NONE && size > 0 && size < all)
            throw RunError(where() + " claims " + std::to_string(all) +
                           " bytes of pixels, and the file has only " + std::to_string(size) +
                           "; it is damaged or cut short.");
    }

    std::size_t planes() const { return layout_.separate() ? static_cast<std::size_t>(layout_.channels) : 1; }

    [[noreturn]] void refuse() const {
        throw RunError("'" + path_ + "' is damaged or cut short in page " + std::to_string(page_) +
                       " at row " + std::to_string(row_) + " of " + std::to_string(layout_.height) +
                       reason() + ".");
    }

    /// Decodes the band that starts at row_ into band_, plane by plane.
    void load_band() {
        message_.clear();
        band_begin_ = row_;
        const std::uint32_t left = layout_.height - row_;
        band_end_ = row_ + std::min(left, layout_.band_rows);
        if (plane_ > 0)
            load_plane();
        else if (layout_.tiled)
            load_tiles();
        else
            load_strips();
        if (tiff_converts(layout_))
            convert_band();
    }

    /// Converts samples of the file to the type of shape().
    void convert_band() {
        const std::size_t across = (static_cast<std::size_t>(layout_.width) + layout_.tile_width - 1) /
                                   layout_.tile_width * layout_.tile_width;
        const std::size_t samples = across * layout_.together(), row = samples * pixel_bytes(shape().type);
        const std::size_t rows = band_.size() / stride_;
        const std::vector<std::byte> packed = std::exchange(band_, std::vector<std::byte>(rows * row));
        for (std::size_t y = 0; y < rows; ++y)
            convert_tiff_row(layout_, packed.data() + y * stride_, samples, band_.data() + y * row, loss_);
        stride_ = row;
        for (const std::string& remark : loss_.remarks(layout_))
            if (std::find(remarks_.begin(), remarks_.end(), remark) == remarks_.end())
                remarks_.push_back(remark);
    }

    void load_strips() {
        stride_ = layout_.bytes_for(layout_.width);
        const std::size_t bytes = stride_ * (band_end_ - band_begin_);
        band_.resize(bytes * planes());
        for (std::size_t plane = 0; plane < planes(); ++plane) {
            const std::uint32_t strip =
                TIFFComputeStrip(tiff_.get(), row_, static_cast<std::uint16_t>(plane));
            const tmsize_t got = TIFFReadEncodedStrip(tiff_.get(), strip, band_.data() + plane * bytes,
                                                      static_cast<tmsize_t>(bytes));
            if (got != static_cast<tmsize_t>(bytes))
                refuse();
        }
    }

    /// For an image without own strips, whose rows follow those of the images before it.
    void load_plane() {
        stride_ = layout_.bytes_for(layout_.width);
        band_.resize(stride_ * (band_end_ - band_begin_));
        const InputFile file = open_input(path_);
        const std::uint64_t at = plane_offset() + plane_ * plane_bytes() + stride_ * row_;
        if (fseeko(file.get(), static_cast<off_t>(at), SEEK_SET) != 0 ||
            std::fread(band_.data(), 1, band_.size(), file.get()) != band_.size())
            refuse();
        const auto count = static_cast<tmsize_t>(band_.size() / std::max<std::size_t>(1, layout_.bits / 8));
        void* samples = band_.data();
        switch (TIFFIsByteSwapped(tiff_.get()) != 0 ? layout_.bits : 8) {
        case 16:
            return TIFFSwabArrayOfShort(static_cast<std::uint16_t*>(samples), count);
        case 24:
            return TIFFSwabArrayOfTriples(static_cast<std::uint8_t*>(samples), count);
        case 32:
            return TIFFSwabArrayOfLong(static_cast<std::uint32_t*>(samples), count);
        case 64:
            return TIFFSwabArrayOfLong8(static_cast<std::uint64_t*>(samples), count);
        default:
            return;
        }
    }

    void load_tiles() {
        const std::size_t across =
            (static_cast<std::size_t>(layout_.width) + layout_.tile_width - 1) / layout_.tile_width;
        const std::size_t row = layout_.bytes_for(layout_.tile_width);
        const std::size_t rows = layout_.band_rows;
        stride_ = across * row;
        band_.resize(stride_ * rows * planes());
        tile_.resize(row * rows);
        for (std::size_t plane = 0; plane < planes(); ++plane)
            for (std::size_t i = 0; i < across; ++i) {
                const auto x = static_cast<std::uint32_t>(i * layout_.tile_width);
                const std::uint32_t tile =
                    TIFFComputeTile(tiff_.get(), x, row_, 0, static_cast<std::uint16_t>(plane));
                const tmsize_t got =
                    TIFFReadEncodedTile(tiff_.get(), tile, tile_.data(), static_cast<tmsize_t>(tile_.size()));
                if (got != static_cast<tmsize_t>(tile_.size()))
                    refuse();
                for (std::size_t y = 0; y < rows; ++y)
                    std::memcpy(band_.data() + (plane * rows + y) * stride_ + i * row, tile_.data() + y * row,
                                row);
            }
    }

    /// Copies row row_ of the band: selects channels, applies palette and "white is zero".
    void give_row(std::byte* to) const {
        const std::size_t offset = (row_ - band_begin_) * stride_;
        const std::byte* from = band_.data() + offset;
        if (layout_.palette() && !layout_.indices)
            return give_palette(from, to);
        if (!layout_.separate() && layout_.samples == layout_.channels)
            std::memcpy(to, from, shape().row_bytes());
        else
            give_samples(offset, to);
        if (layout_.photometric == PHOTOMETRIC_MINISWHITE && layout_.format != SAMPLEFORMAT_IEEEFP)
            invert_tiff_row(layout_, to, static_cast<std::size_t>(layout_.width) * layout_.channels);
    }

    void give_samples(std::size_t offset, std::byte* to) const {
        const std::size_t size = pixel_bytes(shape().type);
        const auto channels = static_cast<std::size_t>(layout_.channels);
        const std::size_t plane_bytes = band_.size() / planes();
        for (std::size_t c = 0; c < channels; ++c) {
            const std::byte* from = band_.data() + offset + (layout_.separate() ? c * plane_bytes : c * size);
            for (std::size_t x = 0; x < layout_.width; ++x)
                std::memcpy(to + (x * channels + c) * size, from + x * layout_.together() * size, size);
        }
    }

    void give_palette(const std::byte* from, std::byte* to) const {
        for (std::size_t x = 0; x < layout_.width; ++x)
            std::memcpy(to + 3 * x, palette_.colours.data() + 3 * std::to_integer<std::size_t>(from[x]), 3);
    }

    /// first error of libtiff; declared before tiff_, which may report errors when closed
    std::string message_;
    std::unique_ptr<TIFF, CloseTiff> tiff_;
    Layout layout_;
    Coding coding_;
    int significant_bits_ = 0; ///< from OME-XML on the first page; 0: not stated
    struct Palette {
        std::vector<std::byte> colours;
        bool grey_ramp = false;
    };
    Palette palette_; ///< of the page
    bool by_imagej_ = false;
    TiffLoss loss_;                        ///< of the page, as far as read
    std::uint64_t page_ = 0;               ///< directories up to the current one, including previews
    std::vector<Directory> directories_;   ///< those seen so far
    std::uint64_t image_ = 0;              ///< the current one, counted through the file
    std::uint64_t plane_ = 0, planes_ = 1; ///< the current one in its directory, and the number there
    std::uint64_t frame_ = 0;              ///< the next page to return
    StackChoice choice_;
    TiffStack stack_;
    std::string first_description_, remark_;
    ImagejValues imagej_;
    std::uint32_t row_ = 0, band_begin_ = 0, band_end_ = 0;
    std::size_t stride_ = 0;
    std::vector<std::byte> band_, tile_;
};

} // namespace

std::unique_ptr<ImageReader> open_tiff(const std::string& path, const StackChoice& choice) {
    return std::make_unique<TiffReader>(path, choice);
}

} // namespace specklescope
