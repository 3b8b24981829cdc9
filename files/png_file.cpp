// PNG by libpng. Errors use longjmp; there are no destructors between setjmp and the call.
#include "base/error.hpp"
#include "base/memory_budget.hpp"
#include "files/image_file.hpp"
#include "files/input_file.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <vector>

namespace specklescope {

namespace {

class PngReader final : public SingleImageReader {
public:
    explicit PngReader(const std::string& path) : SingleImageReader(path), file_(open_input(path)) {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
        info_ = png_ ? png_create_info_struct(png_) : nullptr;
        if (!info_) {
            png_destroy_read_struct(&png_, nullptr, nullptr);
            throw RunError("'" + path_ + "' cannot be read: libpng does not start.");
        }
        try {
            if (!attempt([this] { read_header(); }))
                refuse_header();
            // libpng allocates a row next; a tall image of normal width may still be cut into frames.
            Shape claimed{static_cast<int>(png_get_image_width(png_, info_)),
                          static_cast<int>(png_get_image_height(png_, info_)), 1, PixelType::u8};
            if (claimed.width <= kMaxSide)
                claimed.height = 1;
            check_shape(claimed, "'" + path_ + "'");
            if (!attempt([this] { prepare_rows(); }))
                refuse_header();
            read_coding();
            shape_ = begin_oriented(shape_, orientation());
            remark_animation();
        } catch (...) {
            png_destroy_read_struct(&png_, &info_, nullptr);
            throw;
        }
    }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;
    ~PngReader() override { png_destroy_read_struct(&png_, &info_, nullptr); }

    void take_rows(HostView to) override {
        if (interlaced_)
            return copy_interlaced(to);
        if (!attempt([this, &to] {
                for (int y = 0; y < to.shape.height; ++y, ++row_)
                    png_read_row(png_, reinterpret_cast<png_bytep>(to.row(y)), nullptr);
            }))
            refuse();
    }

    /// In the order of priority in the standard (PNG, third edition, 4.3); without any of these, 8-bit colour
    /// is taken as a display image.
    Coding coding() const override {
        if (recorded_.ours() && recorded_.raw())
            return {
                .transfer = {}, .light = Light::counts, .by = "its recording", .why = {}, .recorded = true};
        if (!profile_.empty())
            if (std::optional<Coding> coding = coding_of_icc(profile_.data(), profile_.size()))
                return *coding;
        if (srgb_)
            return {.transfer = {.kind = Transfer::Kind::srgb, .name = {}, .curve = {}},
                    .light = Light::decoded,
                    .by = "its sRGB chunk"};
        if (gamma_ > 0)
            if (std::optional<Coding> coding = coding_of_gamma(gamma_))
                return *coding;
        if (!profile_.empty())
            return assumed_srgb("its ICC profile has no tone curves");
        return shape_.channels == 3 && shape_.type == PixelType::u8
                   ? assumed_srgb("as is usual for 8-bit colour PNG")
                   : assumed_linear();
    }

private:
    static void on_error(png_structp png, png_const_charp text) {
        auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
        self->message_ = text;
        png_longjmp(png, 1);
    }
    /// Damaged colour profiles and similar problems are ignored. A chunk larger than
    /// png_set_chunk_malloc_max() is an error, since libpng would warn and then allocate it.
    static void on_warning(png_structp png, png_const_charp text) {
        if (std::strstr(text, "chunk data is too large"))
            on_error(png, text);
    }

    /// False if libpng failed; message_ contains the reason.
    template <class F> bool attempt(F&& work) {
        if (setjmp(png_jmpbuf(png_)) != 0) // NOLINT(cert-err52-cpp): libpng's way out
            return false;
        work();
        return true;
    }

    void read_header() {
        png_init_io(png_, file_.get());
        // check_shape() limits the size. Only the chunks for read_coding() are kept: a kB of compressed text
        // can expand to GB.
        png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        png_set_chunk_malloc_max(png_, kMostOfAChunk);
        png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1); // also those known to libpng
        png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_AS_DEFAULT, kChunksOfCoding.data(),
                                    static_cast<int>(kChunksOfCoding.size() / kBytesOfAName));
        png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_ALWAYS, kAnimation.data(), 1);
        png_read_info(png_, info_);
    }

    void prepare_rows() {
        const int depth = png_get_bit_depth(png_, info_);
        const int color = png_get_color_type(png_, info_);
        if (color == PNG_COLOR_TYPE_PALETTE)
            png_set_palette_to_rgb(png_);
        if (color == PNG_COLOR_TYPE_GRAY && depth < 8)
            png_set_expand_gray_1_2_4_to_8(png_);
        const bool grey_palette = is_grey_palette();
        if (grey_palette)
            png_set_rgb_to_gray_fixed(png_, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT,
                                      PNG_RGB_TO_GRAY_DEFAULT);
        png_set_strip_alpha(png_); // also from a palette's transparency
        if (depth == 16 && std::endian::native == std::endian::little)
            png_set_swap(png_);
        interlaced_ = png_set_interlace_handling(png_) > 1;
        png_read_update_info(png_, info_);
        shape_.width = static_cast<int>(png_get_image_width(png_, info_));
        shape_.height = static_cast<int>(png_get_image_height(png_, info_));
        shape_.channels = (color & PNG_COLOR_MASK_COLOR) != 0 && !grey_palette ? 3 : 1;
        shape_.type = depth == 16 ? PixelType::u16 : PixelType::u8;
        if (png_get_rowbytes(png_, info_) != shape_.row_bytes())
            png_error(png_, "unexpected row size");
    }

    bool is_grey_palette() const {
        png_colorp colors = nullptr;
        int count = 0;
        if (png_get_PLTE(png_, info_, &colors, &count) == 0 ||
            png_get_color_type(png_, info_) != PNG_COLOR_TYPE_PALETTE)
            return false;
        return std::all_of(colors, colors + count, [](const png_color& color) {
            return color.red == color.green && color.green == color.blue;
        });
    }

    /// The libpng functions called here do not use longjmp: they return data already read.
    void read_coding() {
        png_charp name = nullptr;
        int compression = 0;
        png_bytep profile = nullptr;
        png_uint_32 bytes = 0;
        if (png_get_iCCP(png_, info_, &name, &compression, &profile, &bytes) != 0)
            profile_.assign(profile, profile + bytes);
        int intent = 0;
        srgb_ = png_get_sRGB(png_, info_, &intent) != 0;
        double exponent = 0;
        if (png_get_gAMA(png_, info_, &exponent) != 0)
            gamma_ = exponent;
        png_textp texts = nullptr;
        int count = 0;
        png_get_text(png_, info_, &texts, &count);
        for (int i = 0; i < count; ++i)
            if (std::string_view(texts[i].key) == "Description") {
                description_ = texts[i].text;
                recorded_.begin(description_);
            }
    }

    void remark_animation() {
        png_unknown_chunkp chunks = nullptr;
        const int count = png_get_unknown_chunks(png_, info_, &chunks);
        for (int i = 0; i < count; ++i)
            if (std::memcmp(chunks[i].name, kAnimation.data(), kBytesOfAName) == 0)
                remarks_.emplace_back(
                    "is an animation (APNG); one image is read. Save its images as files or as a TIFF");
    }

    /// Orientation in its eXIf chunk, 1…8, an Exif block without the leading word; 1 if there is none.
    unsigned orientation() const {
        png_bytep exif = nullptr;
        png_uint_32 bytes = 0;
        if (png_get_eXIf_1(png_, info_, &bytes, &exif) == 0)
            return 1;
        constexpr std::string_view kBegin("Exif\0\0", 6);
        std::vector<unsigned char> block(kBegin.begin(), kBegin.end());
        block.insert(block.end(), exif, exif + bytes);
        return std::max(1U, orientation_of_exif(block.data(), block.size()));
    }

    /// Seven passes over the whole image: rows are complete only after the last pass.
    void copy_interlaced(HostView to) {
        if (whole_.empty()) {
            check_shape(stored_, "'" + path_ + "'");
            check_memory(stored_.bytes(), "'" + path_ + "', interlaced,", "store it without interlacing");
            whole_.resize(stored_.bytes());
            rows_.resize(static_cast<std::size_t>(stored_.height));
            for (std::size_t y = 0; y < rows_.size(); ++y)
                rows_[y] = whole_.data() + y * stored_.row_bytes();
            const std::size_t at_once = std::max<std::size_t>(1, kBytesAtOnce / stored_.row_bytes());
            for (int pass = 0; pass < 7; ++pass)
                for (std::size_t y = 0; y < rows_.size(); y += at_once) {
                    goes_on();
                    const auto rows = static_cast<png_uint_32>(std::min(at_once, rows_.size() - y));
                    if (!attempt([&] { png_read_rows(png_, rows_.data() + y, nullptr, rows); }))
                        refuse();
                }
        }
        const auto first = static_cast<std::size_t>(row_) * stored_.row_bytes();
        copy_pixels({reinterpret_cast<const std::byte*>(whole_.data()) + first, to.shape}, to);
        row_ += to.shape.height;
    }

    /// Chunk names, each with its 0. Texts are uncompressed, as in recordings.
    static constexpr std::size_t kBytesOfAName = 5;
    static constexpr auto kChunksOfCoding =
        std::to_array<png_byte>({'g', 'A', 'M', 'A', 0, 's', 'R', 'G', 'B', 0, //
                                 'i', 'C', 'C', 'P', 0, 't', 'E', 'X', 't', 0, //
                                 'e', 'X', 'I', 'f', 0});
    static constexpr auto kAnimation = std::to_array<png_byte>({'a', 'c', 'T', 'L', 0});
    static constexpr png_alloc_size_t kMostOfAChunk = png_alloc_size_t{8} << 20;

    [[noreturn]] void refuse_header() const {
        throw RunError("'" + path_ + "' is not a readable PNG file (libpng: " + message_ + ").");
    }

    [[noreturn]] void refuse() const {
        throw RunError("'" + path_ + "' is damaged or cut short at row " + std::to_string(row_) + " of " +
                       std::to_string(stored_.height) + " (libpng: " + message_ + ").");
    }

    InputFile file_;
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
    std::string message_;
    std::vector<png_byte> profile_;
    bool srgb_ = false;
    double gamma_ = 0; ///< 0: not given
    bool interlaced_ = false;
    int row_ = 0;
    std::vector<png_byte> whole_;
    std::vector<png_bytep> rows_;
};

} // namespace

std::unique_ptr<ImageReader> open_png(const std::string& path) { return std::make_unique<PngReader>(path); }

} // namespace specklescope
