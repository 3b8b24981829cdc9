// Formats of one image: PNG, Radiance and OpenEXR. A file appears completely or not at all.
#include "base/error.hpp"
#include "base/log.hpp"
#include "have_exr.hpp"
#include "recording/record_file.hpp"

#include <png.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

#ifdef SPECKLESCOPE_HAVE_EXR
#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfOutputFile.h>
#include <ImfStringAttribute.h>
#endif

namespace specklescope {

namespace {
/// Input of the encoder: plain values only, because libpng leaves by longjmp.
struct Picture {
    const std::byte* data;
    std::size_t pitch;
    unsigned width, height;
    int bits, color;
    bool shown; ///< colours for a display, not camera values
    char* description;
};

/// False if libpng failed: the file could not be written, or there is no memory.
bool encode(png_structp png, png_infop info, std::FILE* file, const Picture& picture) {
    if (setjmp(png_jmpbuf(png))) // NOLINT(cert-err52-cpp): libpng knows no other way to report
        return false;
    png_init_io(png, file);
    png_set_compression_level(png, 3); // higher levels hardly shrink noisy maps
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

namespace {

std::string description(const RecordedFrame& frame, const FileTotals& totals, const RecordOptions& options,
                        const StreamInfo& stream) {
    const std::string file = describe_file(frame, options, stream, totals);
    return file.substr(0, file.size() - 1) + ", \"frame\": " + describe_frame(frame) + "}";
}

/// Line in a Radiance header, whose length readers limit: if it is too long, the note or the whole
/// description is omitted.
std::string header_line(const RecordedFrame& frame, const FileTotals& totals, const RecordOptions& options,
                        const StreamInfo& stream) {
    constexpr std::size_t kMost = 65000; // of 65536, which open_hdr() takes
    std::string text = description(frame, totals, options, stream);
    if (text.size() <= kMost)
        return "SPECKLESCOPE=" + text + "\n";
    RecordOptions shorter = options;
    shorter.limits.note.clear();
    shorter.limits.subject.clear();
    text = description(frame, totals, shorter, stream);
    const bool fits = text.size() <= kMost;
    run_log().warn("{} cannot store {}: a Radiance header line has at most {} bytes. Record an .exr instead.",
                   options.path, fits ? "the note and the subject" : "its description", kMost);
    return fits ? "SPECKLESCOPE=" + text + "\n" : "";
}

/// Calls write(file) and gives the file its name; if that throws, no file remains.
template <class F> std::string whole(const std::string& wanted, F&& write) {
    UnnamedFile file(wanted);
    check_made(file, wanted);
    write(file.file());
    return file.publish();
}

/// The largest channel's mantissa is 128…255.
std::array<char, 4> rgbe(const std::array<float, 3>& light) {
    float most = 0;
    for (const float v : light)
        most = std::max(most, std::isfinite(v) ? v : 0.0F);
    if (!(most > 1e-32F))
        return {};
    constexpr float kMost = 0x1.fep126F; // the largest encodable value
    int exponent = 0;
    (void)std::frexp(std::min(most, kMost), &exponent);
    std::array<char, 4> pixel{};
    for (std::size_t c = 0; c < 3; ++c) {
        const float v = std::isfinite(light[c]) && light[c] > 0 ? std::min(light[c], kMost) : 0.0F;
        pixel[c] =
            static_cast<char>(static_cast<unsigned char>(std::ldexp(static_cast<double>(v), 8 - exponent)));
    }
    pixel[3] = static_cast<char>(static_cast<unsigned char>(exponent + 128));
    return pixel;
}

} // namespace

std::string write_hdr_picture(const RecordedFrame& frame, const FileTotals& totals,
                              const RecordOptions& options, const StreamInfo& stream) {
    const ConstHostView pixels = frame.pixels.host();
    const View<const float> view = pixels.as<float>();
    std::string bytes = "#?RADIANCE\nSOFTWARE=Specklescope " SPECKLESCOPE_VERSION "\n" +
                        header_line(frame, totals, options, stream) + "FORMAT=32-bit_rle_rgbe\n\n-Y " +
                        std::to_string(view.height) + " +X " + std::to_string(view.width) + "\n";
    constexpr int kLeast = 8, kMost = 0x7fff; // sizes for which a row is stored as four planes
    const bool planes = view.width >= kLeast && view.width <= kMost;
    std::vector<std::array<char, 4>> row(static_cast<std::size_t>(view.width));
    for (int y = 0; y < view.height; ++y) {
        const float* in = view.row(y);
        for (std::array<char, 4>& pixel : row) {
            pixel = view.channels == 3 ? rgbe({in[0], in[1], in[2]}) : rgbe({in[0], in[0], in[0]});
            in += view.channels;
        }
        if (!planes) {
            for (const std::array<char, 4>& pixel : row)
                bytes.append(pixel.data(), pixel.size());
            continue;
        }
        bytes += {2, 2, static_cast<char>(view.width >> 8), static_cast<char>(view.width & 0xff)};
        for (std::size_t part = 0; part < 4; ++part)
            for (std::size_t x = 0; x < row.size();) {
                std::size_t run = 1;
                while (run < 127 && x + run < row.size() && row[x + run][part] == row[x][part])
                    ++run;
                if (run > 2) {
                    bytes += {static_cast<char>(128 + run), row[x][part]};
                    x += run;
                    continue;
                }
                const std::size_t first = x; // unencoded samples, up to the next run
                const auto run_at = [&](std::size_t i) {
                    return i + 2 < row.size() && row[i][part] == row[i + 1][part] &&
                           row[i][part] == row[i + 2][part];
                };
                while (x < row.size() && x - first < 128 && !run_at(x))
                    ++x;
                bytes += static_cast<char>(x - first);
                for (std::size_t i = first; i < x; ++i)
                    bytes += row[i][part];
            }
    }
    return whole(options.path, [&](const File& file) {
        if (const int error = file.write_at(0, bytes.data(), bytes.size()); error != 0)
            throw RunError(write_error(options.path, error));
    });
}

#ifdef SPECKLESCOPE_HAVE_EXR

namespace {

/// Output file for OpenEXR. The library finishes its file in a destructor that ignores errors; error()
/// returns them.
class Out final : public Imf::OStream {
public:
    Out(const File& file, const std::string& name) : OStream(name.c_str()), file_(file), name_(name) {}
    void write(const char* data, int bytes) override {
        error_ = error_ != 0 ? error_ : file_.write_at(at_, data, static_cast<std::size_t>(bytes));
        if (error_ != 0)
            throw RunError(write_error(name_, error_));
        at_ += static_cast<std::uint64_t>(bytes);
    }
    std::uint64_t tellp() override { return at_; }
    void seekp(std::uint64_t to) override { at_ = to; }
    int error() const { return error_; }

private:
    const File& file_;
    std::string name_;
    std::uint64_t at_ = 0;
    int error_ = 0;
};

} // namespace

void check_exr(RecordWhat) {}

std::string write_exr_picture(const RecordedFrame& frame, const FileTotals& totals,
                              const RecordOptions& options, const StreamInfo& stream) {
    const ConstHostView pixels = frame.pixels.host();
    const Shape& shape = pixels.shape;
    Imf::Header header(shape.width, shape.height);
    header.compression() = Imf::ZIP_COMPRESSION;
    header.insert("specklescope", Imf::StringAttribute(description(frame, totals, options, stream)));
    const std::vector<const char*> names =
        shape.channels == 3 ? std::vector<const char*>{"R", "G", "B"} : std::vector<const char*>{"Y"};
    Imf::FrameBuffer buffer;
    for (std::size_t c = 0; c < names.size(); ++c) {
        header.channels().insert(names[c], Imf::Channel(Imf::FLOAT));
        // The library only reads from it.
        auto* const base = const_cast<std::byte*>(pixels.data) + c * sizeof(float); // NOLINT
        buffer.insert(names[c], Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(base),
                                           names.size() * sizeof(float), pixels.pitch));
    }
    return whole(options.path, [&](const File& file) {
        Out out(file, options.path);
        try {
            Imf::OutputFile exr(out, header);
            exr.setFrameBuffer(buffer);
            exr.writePixels(shape.height);
        } catch (const Error&) {
            throw;
        } catch (const std::exception& error) {
            throw RunError("Recording into " + options.path + " stopped: OpenEXR: " + error.what() + ".");
        }
        if (out.error() != 0)
            throw RunError(write_error(options.path, out.error()));
    });
}

#else

void check_exr(RecordWhat) {
    throw RunError("This program was built without OpenEXR (libopenexr-dev). Record light as .tiff or .hdr.");
}

std::string write_exr_picture(const RecordedFrame&, const FileTotals&, const RecordOptions& options,
                              const StreamInfo&) {
    check_exr(options.what);
    return "";
}

#endif

} // namespace specklescope
