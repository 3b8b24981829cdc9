// JPEG by libjpeg. Errors use longjmp; libjpeg's warnings (truncated data, bad codes) are errors here.
#include "base/error.hpp"
#include "base/memory_budget.hpp"
#include "files/image_file.hpp"
#include "files/input_file.hpp"

#include <cstdio> // jpeglib.h needs FILE

#include <jerror.h>
#include <jpeglib.h>

#include <array>
#include <csetjmp>
#include <cstdlib>
#include <exception>
#include <limits>

namespace specklescope {

namespace {

struct JpegErrors {
    jpeg_error_mgr manager{}; // first member, so that libjpeg's pointer can be cast to ours
    std::jmp_buf exit{};
    std::array<char, JMSG_LENGTH_MAX> message{};
};

void leave(j_common_ptr jpeg) {
    auto* errors = reinterpret_cast<JpegErrors*>(jpeg->err);
    errors->manager.format_message(jpeg, errors->message.data());
    std::longjmp(errors->exit, 1); // NOLINT(cert-err52-cpp): libjpeg's way out
}

void on_message(j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM)
        leave(jpeg);
}

class JpegReader final : public SingleImageReader {
public:
    explicit JpegReader(const std::string& path) : SingleImageReader(path), file_(open_input(path)) {
        jpeg_.err = jpeg_std_error(&errors_.manager);
        errors_.manager.error_exit = leave;
        errors_.manager.emit_message = on_message;
        try {
            if (!attempt([this] {
                    jpeg_create_decompress(&jpeg_);
                    jpeg_.mem->max_memory_to_use = static_cast<long>(std::min<std::uint64_t>(
                        available_memory() / 4 * 3, std::numeric_limits<long>::max()));
                    jpeg_stdio_src(&jpeg_, file_.get());
                    jpeg_save_markers(&jpeg_, JPEG_APP0 + 1, 0xFFFF); // Exif
                    jpeg_save_markers(&jpeg_, JPEG_APP0 + 2, 0xFFFF); // ICC profile
                    jpeg_read_header(&jpeg_, TRUE);
                }))
                throw RunError("'" + path_ +
                               "' is not a readable JPEG file (libjpeg: " + errors_.message.data() + ").");
            set_shape();
            check_progressive();
            shape_ = begin_oriented(shape_, orientation());
            watch_.progress.progress_monitor = Watch::look;
            watch_.reader = this;
            jpeg_.progress = &watch_.progress;
            read_coding();
        } catch (...) {
            jpeg_destroy_decompress(&jpeg_);
            throw;
        }
    }
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;
    ~JpegReader() override { jpeg_destroy_decompress(&jpeg_); }

    void take_rows(HostView to) override {
        const bool good = attempt([this, &to] {
            if (!started_) // for a progressive file this reads everything
                jpeg_start_decompress(&jpeg_);
            started_ = true;
            for (int y = 0; y < to.shape.height; ++y, ++row_) {
                auto* row = reinterpret_cast<JSAMPROW>(to.row(y));
                jpeg_read_scanlines(&jpeg_, &row, 1);
            }
        });
        if (watch_.cancelled)
            std::rethrow_exception(watch_.cancelled);
        if (!good)
            throw RunError("'" + path_ + "' is damaged or cut short at row " + std::to_string(row_) + " of " +
                           std::to_string(jpeg_.image_height) + " (libjpeg: " + errors_.message.data() +
                           ").");
    }

    Coding coding() const override { return coding_; }
    std::string lossy() const override { return "JPEG"; }

private:
    /// False if libjpeg failed; errors_.message contains the reason.
    template <class F> bool attempt(F&& work) {
        if (setjmp(errors_.exit) != 0) // NOLINT(cert-err52-cpp)
            return false;
        work();
        return true;
    }

    /// libjpeg calls this for each row of blocks; cancelling uses its error exit, since exceptions must not
    /// pass through it.
    struct Watch {
        jpeg_progress_mgr progress{}; // first member, so that libjpeg's pointer can be cast to ours
        const JpegReader* reader = nullptr;
        std::exception_ptr cancelled{};

        static void look(j_common_ptr jpeg) {
            auto* self = reinterpret_cast<Watch*>(jpeg->progress);
            if (!self->ends())
                return;
            std::longjmp(reinterpret_cast<JpegErrors*>(jpeg->err)->exit, 1); // NOLINT(cert-err52-cpp)
        }
        bool ends() {
            try {
                reader->goes_on();
                return false;
            } catch (...) {
                cancelled = std::current_exception();
                return true;
            }
        }
    };

    /// Files that are not coded row by row are stored completely, as coefficients.
    void check_progressive() {
        if (jpeg_has_multiple_scans(&jpeg_) == 0)
            return;
        check_shape(shape_, "'" + path_ + "'");
        check_memory(shape_.samples() * sizeof(JCOEF), "'" + path_ + "', progressive,",
                     "store it as baseline JPEG");
    }

    void set_shape() {
        const bool grey = jpeg_.jpeg_color_space == JCS_GRAYSCALE;
        if (!grey && jpeg_.jpeg_color_space != JCS_YCbCr && jpeg_.jpeg_color_space != JCS_RGB)
            throw RunError("'" + path_ + "' is a JPEG file with " + std::to_string(jpeg_.num_components) +
                           " components (CMYK or unknown); allowed: grey, YCbCr, RGB.");
        jpeg_.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
        shape_ = {static_cast<int>(jpeg_.image_width), static_cast<int>(jpeg_.image_height), grey ? 1 : 3,
                  PixelType::u8};
    }

    /// Orientation in Exif, 1…8; 1 if there is none.
    unsigned orientation() const {
        for (const jpeg_marker_struct* marker = jpeg_.marker_list; marker; marker = marker->next)
            if (marker->marker == JPEG_APP0 + 1)
                if (const unsigned stated = orientation_of_exif(marker->data, marker->data_length);
                    stated > 0)
                    return stated;
        return 1;
    }

    /// A profile has priority over Exif; otherwise JPEG images are sRGB.
    void read_coding() {
        JOCTET* profile = nullptr;
        unsigned bytes = 0;
        if (attempt([&] { // the output buffer is ours
                if (jpeg_read_icc_profile(&jpeg_, &profile, &bytes) == FALSE)
                    profile = nullptr;
            }) &&
            profile) {
            const std::unique_ptr<JOCTET, decltype(&std::free)> own(profile, std::free);
            if (std::optional<Coding> coding = coding_of_icc(profile, bytes)) {
                coding_ = *coding;
                return;
            }
        }
        for (const jpeg_marker_struct* marker = jpeg_.marker_list; marker; marker = marker->next)
            if (marker->marker == JPEG_APP0 + 1)
                if (std::optional<Coding> coding = coding_of_exif(marker->data, marker->data_length)) {
                    coding_ = *coding;
                    return;
                }
    }

    InputFile file_;
    jpeg_decompress_struct jpeg_{};
    Watch watch_;
    JpegErrors errors_;
    Coding coding_ = assumed_srgb("as is usual for JPEG");
    bool started_ = false;
    int row_ = 0;
};

} // namespace

std::unique_ptr<ImageReader> open_jpeg(const std::string& path) { return std::make_unique<JpegReader>(path); }

} // namespace specklescope
