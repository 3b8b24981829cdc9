#include "recording/png_writer.hpp"

#include "base/error.hpp"

#include <png.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace specklescope {

namespace {
/// What the encoder reads: plain values only, because libpng leaves by longjmp.
struct Picture {
    const std::byte* data;
    std::size_t pitch;
    unsigned width, height;
    int bits, color;
    bool shown; ///< coded for a display, not a camera's numbers
    char* description;
};

/// False when libpng gave up: the file could not be written, or there is no memory.
bool encode(png_structp png, png_infop info, std::FILE* file, const Picture& picture) {
    if (setjmp(png_jmpbuf(png))) // NOLINT(cert-err52-cpp): libpng knows no other way to report
        return false;
    png_init_io(png, file);
    png_set_compression_level(png, 3); // a noisy map hardly gets smaller above it
    png_set_IHDR(png, info, picture.width, picture.height, picture.bits, picture.color, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (picture.shown)
        png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    char key[] = "Description";
    png_text text{};
    text.compression = PNG_TEXT_COMPRESSION_NONE;
    text.key = key;
    text.text = picture.description;
    png_set_text(png, info, &text, 1);
    png_write_info(png, info);
    if (picture.bits == 16)
        png_set_swap(png); // PNG is big-endian
    for (unsigned y = 0; y < picture.height; ++y)
        png_write_row(png, reinterpret_cast<png_const_bytep>(picture.data + y * picture.pitch));
    png_write_end(png, info);
    return true;
}

void quiet(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void ignore(png_structp, png_const_charp) {}

bool encode_file(File file, ConstHostView pixels, bool shown, const std::string& description) {
    std::FILE* stream = file.fd() < 0 ? nullptr : ::fdopen(file.fd(), "wb");
    if (!stream)
        return false;
    (void)file.release(); // the stream closes it
    std::string text = description;
    const Shape& shape = pixels.shape;
    const Picture picture{pixels.data,
                          pixels.pitch,
                          static_cast<unsigned>(shape.width),
                          static_cast<unsigned>(shape.height),
                          shape.type == PixelType::u16 ? 16 : 8,
                          shape.channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
                          shown,
                          text.data()};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, quiet, ignore);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    bool well = info && encode(png, info, stream, picture);
    png_destroy_write_struct(&png, &info);
    return std::fclose(stream) == 0 && well;
}

/// Returns the name, numbered if `wanted` is taken.
std::string write_png(ConstHostView pixels, bool shown, const std::string& description,
                      const std::string& wanted) {
    UnnamedFile file(wanted);
    check_made(file, wanted);
    errno = 0;
    if (!encode_file(file.again(), pixels, shown, description))
        throw RunError(write_error(wanted, errno != 0 ? errno : EIO));
    return file.publish();
}

} // namespace

std::string write_picture(const RecordedFrame& frame, const FileTotals& totals, const RecordOptions& options,
                          const StreamInfo& stream) {
    std::string text = describe_file(frame, options, stream, totals);
    text = text.substr(0, text.size() - 1) + ", \"frame\": " + describe_frame(frame) + "}";
    const ConstHostView pixels = frame.pixels.host();
    if (options.what != RecordWhat::processed)
        return write_png(pixels, options.what == RecordWhat::screen, text, options.path);
    const Shape shape{pixels.shape.width, pixels.shape.height, 3, PixelType::u8};
    std::vector<std::byte> colors(shape.bytes());
    const HostView rgb(colors.data(), shape);
    color_picture(frame, options.mapping, rgb);
    return write_png(rgb, true, text, options.path);
}

} // namespace specklescope
