#include "gst/formats.hpp"

#include "gst/cuda_library.hpp"
#include "gst/cuda_memory.hpp"
#include "gst/tensors.hpp"

#include <array>
#include <bit>

namespace specklescope::element {

static_assert(std::endian::native == std::endian::little, "caps name the byte order of numbers");

namespace {

constexpr const char* kMedia = "application/x-specklescope";
constexpr const char* kRates = "framerate = (fraction) [ 0/1, 2147483647/1 ]";

std::string sizes() {
    return std::string("width = (int) [ 1, 65536 ], height = (int) [ 1, 65536 ], ") + kRates;
}

/// Names of pixel types as in the source raw:, by type and channels.
constexpr std::array<std::array<const char*, 2>, 3> kNumbers{
    {{"gray8", "rgb8"}, {"gray16le", "rgb16le"}, {"gray32f", "rgb32f"}}};
constexpr std::array<std::size_t, 3> kSampleBytes{1, 2, 4};

const char* numbers_name(const specklescope_image& image) {
    return kNumbers.at(static_cast<std::size_t>(image.type)).at(image.channels == 3 ? 1 : 0);
}

const char* video_name(Sent sent) {
    switch (sent) {
    case Sent::rgba:
        return "RGBA";
    case Sent::rgb:
        return "RGB";
    case Sent::levels:
        return "GRAY16_LE";
    default:
        return "GRAY8";
    }
}

bool fits(Sent sent, const specklescope_image& made) {
    return made.channels == 1 || (sent != Sent::levels && sent != Sent::grey);
}

void copy_field(const GstStructure* from, GstStructure* to, const char* name) {
    if (const GValue* value = gst_structure_get_value(from, name))
        gst_structure_set_value(to, name, value);
}

GstStructure* structure_of(Sent sent, const specklescope_image& made) {
    if (sent == Sent::tensors)
        return tensors_of(made);
    const bool numbers = sent == Sent::numbers;
    return gst_structure_new(numbers ? kMedia : "video/x-raw", "format", G_TYPE_STRING,
                             numbers ? numbers_name(made) : video_name(sent), "width", G_TYPE_INT, made.width,
                             "height", G_TYPE_INT, made.height, nullptr);
}

Owned<GstCaps> exactly(Sent sent, const specklescope_image& made, const GstStructure* input) {
    GstStructure* structure = structure_of(sent, made);
    if (sent == Sent::tensors) // tensors require a rate
        gst_structure_set(structure, "framerate", GST_TYPE_FRACTION, 0, 1, nullptr);
    copy_field(input, structure, "framerate");
    if (is_picture(sent))
        copy_field(input, structure, "pixel-aspect-ratio");
    return Owned<GstCaps>(gst_caps_new_full(structure, nullptr));
}

std::optional<specklescope_image> numbers_shape(const GstStructure* structure) {
    const gchar* const format = gst_structure_get_string(structure, "format");
    auto image = sized<specklescope_image>();
    if (!format || !gst_structure_has_name(structure, kMedia) ||
        !gst_structure_get_int(structure, "width", &image.width) ||
        !gst_structure_get_int(structure, "height", &image.height))
        return std::nullopt;
    for (std::int32_t type = 0; type < 3; ++type)
        for (const std::int32_t channels : {1, 3}) {
            image.type = type;
            image.channels = channels;
            if (std::string(format) == numbers_name(image))
                return image;
        }
    return std::nullopt;
}

void copy_sizes(const GstStructure* from, GstStructure* to) {
    copy_field(from, to, "width");
    copy_field(from, to, "height");
    if (const auto size = size_of_tensors(from))
        gst_structure_set(to, "width", G_TYPE_INT, size->first, "height", G_TYPE_INT, size->second, nullptr);
}

} // namespace

Owned<GstCaps> sink_template() {
    std::string text =
        std::string("video/x-raw, format = (string) { GRAY8, GRAY16_LE, GRAY16_BE, RGB }, ") + sizes();
    if (cuda_library()) // CUDAMemory has no single-plane grey format
        text += std::string("; video/x-raw(") + kCudaMemory +
                "), format = (string) { RGB, NV12, I420, P016_LE }, " + sizes();
    return Owned<GstCaps>(gst_caps_from_string(text.c_str()));
}

Owned<GstCaps> source_template() {
    std::string names;
    for (const auto& of_type : {kNumbers[2], kNumbers[1], kNumbers[0]})
        for (const char* name : of_type)
            names += (names.empty() ? "" : ", ") + std::string(name);
    return Owned<GstCaps>(
        gst_caps_from_string((std::string(kMedia) + ", format = (string) { " + names + " }, " + sizes() +
                              "; " + tensors_template() + ", " + kRates +
                              "; video/x-raw, format = (string) { RGBA, RGB, GRAY16_LE, GRAY8 }, " + sizes())
                                 .c_str()));
}

std::optional<InputFormat> input_format(const GstCaps* caps) {
    InputFormat format;
    if (!gst_video_info_from_caps(&format.info, caps))
        return std::nullopt;
    format.image = sized<specklescope_image>();
    format.image.width = GST_VIDEO_INFO_WIDTH(&format.info);
    format.image.height = GST_VIDEO_INFO_HEIGHT(&format.info);
    format.image.channels = 1;
    format.cuda = gst_caps_features_contains(gst_caps_get_features(caps, 0), kCudaMemory) != FALSE;
    switch (GST_VIDEO_INFO_FORMAT(&format.info)) {
    case GST_VIDEO_FORMAT_GRAY8:
        format.image.type = SPECKLESCOPE_U8;
        break;
    case GST_VIDEO_FORMAT_RGB:
        format.image.type = SPECKLESCOPE_U8;
        format.image.channels = 3;
        break;
    case GST_VIDEO_FORMAT_GRAY16_BE:
        format.swap = true;
        [[fallthrough]];
    case GST_VIDEO_FORMAT_GRAY16_LE:
        format.image.type = SPECKLESCOPE_U16;
        break;
    case GST_VIDEO_FORMAT_NV12:
    case GST_VIDEO_FORMAT_I420:
        format.luma = true;
        format.image.type = SPECKLESCOPE_U8;
        break;
    case GST_VIDEO_FORMAT_P016_LE:
        format.luma = true;
        format.image.type = SPECKLESCOPE_U16;
        break;
    default:
        return std::nullopt;
    }
    if (format.luma && !format.cuda)
        return std::nullopt;
    return format;
}

std::optional<OutputFormat> output_format(const GstCaps* caps) {
    OutputFormat format;
    const GstStructure* const structure = gst_caps_get_structure(caps, 0);
    if (const auto shape = numbers_shape(structure)) {
        format.bytes = frame_bytes(*shape);
        return format;
    }
    if (const auto shape = shape_of_tensors(structure)) {
        format.sent = Sent::tensors;
        format.bytes = frame_bytes(*shape);
        return format;
    }
    if (!gst_video_info_from_caps(&format.info, caps))
        return std::nullopt;
    format.bytes = GST_VIDEO_INFO_SIZE(&format.info);
    for (const Sent sent : {Sent::rgba, Sent::rgb, Sent::levels, Sent::grey})
        if (std::string(GST_VIDEO_INFO_NAME(&format.info)) == video_name(sent)) {
            format.sent = sent;
            return format;
        }
    return std::nullopt;
}

std::size_t frame_bytes(const specklescope_image& image) {
    return static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) *
           static_cast<std::size_t>(image.channels) * kSampleBytes.at(static_cast<std::size_t>(image.type));
}

std::size_t frame_bytes(const GstCaps* caps) {
    const GstStructure* const structure = gst_caps_get_structure(caps, 0);
    if (const auto shape = numbers_shape(structure))
        return frame_bytes(*shape);
    if (const auto shape = shape_of_tensors(structure))
        return frame_bytes(*shape);
    GstVideoInfo info;
    return gst_video_info_from_caps(&info, caps) ? GST_VIDEO_INFO_SIZE(&info) : 0;
}

Owned<GstCaps> other_side(GstPadDirection from, const GstCaps* caps, bool in_place) {
    const Owned<GstCaps> all = from == GST_PAD_SINK ? source_template() : sink_template();
    Owned<GstCaps> made(gst_caps_new_empty());
    for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
        const GstStructure* given = gst_caps_get_structure(caps, i);
        Owned<GstCaps> here(gst_caps_copy(all.get()));
        for (guint k = 0; k < gst_caps_get_size(here.get()); ++k) {
            GstStructure* structure = gst_caps_get_structure(here.get(), k);
            copy_field(given, structure, "framerate");
            if (in_place && !gst_structure_has_name(structure, kTensors)) {
                copy_sizes(given, structure);
                if (!gst_structure_has_name(structure, kMedia))
                    copy_field(given, structure, "pixel-aspect-ratio");
            }
        }
        made.reset(gst_caps_merge(made.release(), here.release()));
    }
    return made;
}

Owned<GstCaps> caps_of_result(const specklescope_image& made, const GstCaps* input, const GstCaps* taken) {
    for (const Sent sent : {Sent::numbers, Sent::tensors, Sent::rgba, Sent::rgb, Sent::levels, Sent::grey}) {
        if (!fits(sent, made))
            continue;
        const Owned<GstCaps> one = exactly(sent, made, gst_caps_get_structure(input, 0));
        Owned<GstCaps> both(
            gst_caps_intersect_full(one.get(), const_cast<GstCaps*>(taken), GST_CAPS_INTERSECT_FIRST));
        if (!gst_caps_is_empty(both.get()))
            return Owned<GstCaps>(gst_caps_fixate(both.release()));
    }
    return Owned<GstCaps>(gst_caps_new_empty());
}

Owned<GstCaps> caps_of_numbers(const specklescope_image& made, const GstVideoInfo& input) {
    GstStructure* structure = structure_of(Sent::numbers, made);
    gst_structure_set(structure, "framerate", GST_TYPE_FRACTION, GST_VIDEO_INFO_FPS_N(&input),
                      GST_VIDEO_INFO_FPS_D(&input), nullptr);
    return Owned<GstCaps>(gst_caps_new_full(structure, nullptr));
}

std::string words_of(const specklescope_image& image) {
    return std::to_string(image.width) + "×" + std::to_string(image.height) + " pixels, " +
           numbers_name(image);
}

} // namespace specklescope::element
