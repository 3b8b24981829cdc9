// The element in a GstHarness, and the same frames through the library.
#pragma once

#include "tests/library/client.hpp"

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

namespace element {

using Bytes = std::vector<std::uint8_t>;

/// An image packed in memory, samples in native byte order.
struct Picture {
    int width = 0, height = 0, channels = 1;
    bool wide = false; ///< 16 bits
    Bytes bytes;

    std::size_t row_bytes() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels) * (wide ? 2U : 1U);
    }
};

/// "GRAY8", "GRAY16_LE", "GRAY16_BE" or "RGB".
inline Picture random_picture(const std::string& format, int width, int height, std::mt19937& random) {
    Picture made{width, height, format == "RGB" ? 3 : 1, format.starts_with("GRAY16"), {}};
    made.bytes.resize(made.row_bytes() * static_cast<std::size_t>(height));
    for (std::uint8_t& byte : made.bytes)
        byte = static_cast<std::uint8_t>(random());
    return made;
}

inline unsigned random_seed() {
    static const unsigned seed = [] {
        const char* given = std::getenv("SPECKLESCOPE_TEST_SEED");
        const unsigned value = given ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
        std::printf("SPECKLESCOPE_TEST_SEED=%u\n", value);
        return value;
    }();
    return seed;
}

inline std::string caps_of(const std::string& format, int width, int height) {
    return "video/x-raw,format=" + format + ",width=" + std::to_string(width) +
           ",height=" + std::to_string(height) + ",framerate=25/1";
}

/// Without meta: rows aligned to 4 bytes, as in caps. With `gap`: this many bytes between rows and before
/// the first, with a GstVideoMeta.
inline GstBuffer* buffer_of(const Picture& picture, const std::string& format, int gap = -1) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()),
                              static_cast<guint>(picture.width), static_cast<guint>(picture.height));
    std::size_t pitch = static_cast<std::size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0)), before = 0;
    if (gap >= 0) {
        before = static_cast<std::size_t>(gap);
        pitch = picture.row_bytes() + before;
    }
    GstBuffer* buffer =
        gst_buffer_new_allocate(nullptr, before + pitch * static_cast<std::size_t>(picture.height), nullptr);
    gst_buffer_memset(buffer, 0, 0xA5, gst_buffer_get_size(buffer));
    Bytes row(picture.row_bytes());
    for (int y = 0; y < picture.height; ++y) {
        std::memcpy(row.data(), picture.bytes.data() + row.size() * static_cast<std::size_t>(y), row.size());
        if (format == "GRAY16_BE")
            for (std::size_t i = 0; i < row.size(); i += 2)
                std::swap(row[i], row[i + 1]);
        gst_buffer_fill(buffer, before + pitch * static_cast<std::size_t>(y), row.data(), row.size());
    }
    if (gap >= 0) {
        gsize offsets[GST_VIDEO_MAX_PLANES] = {before};
        gint strides[GST_VIDEO_MAX_PLANES] = {static_cast<gint>(pitch)};
        gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                       static_cast<guint>(picture.width), static_cast<guint>(picture.height),
                                       1, offsets, strides);
    }
    return buffer;
}

inline Bytes bytes_of(GstBuffer* buffer) {
    Bytes made(gst_buffer_get_size(buffer));
    gst_buffer_extract(buffer, 0, made.data(), made.size());
    return made;
}

/// Rows of a buffer in the layout of its caps, without padding.
inline Bytes packed(GstBuffer* buffer, const char* format, int width, int height) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(format), static_cast<guint>(width),
                              static_cast<guint>(height));
    const std::size_t row = static_cast<std::size_t>(width * GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0));
    Bytes all = bytes_of(buffer), made;
    EXPECT_EQ(all.size(), GST_VIDEO_INFO_SIZE(&info));
    for (int y = 0; y < height; ++y) {
        const auto begin = all.begin() + y * GST_VIDEO_INFO_PLANE_STRIDE(&info, 0);
        made.insert(made.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
    }
    return made;
}

/// Results of the chain for these frames in sequence, by the library.
inline std::vector<Bytes> by_library(specklescope_chain* chain, std::vector<Picture>& pictures,
                                     specklescope_image* shape = nullptr) {
    std::vector<Bytes> results;
    for (Picture& picture : pictures) {
        auto in = client::sized<specklescope_image>(), out = client::sized<specklescope_image>();
        in.data = picture.bytes.data();
        in.width = picture.width;
        in.height = picture.height;
        in.channels = picture.channels;
        in.type = picture.wide ? SPECKLESCOPE_U16 : SPECKLESCOPE_U8;
        EXPECT_EQ(specklescope_chain_output(chain, &in, &out), SPECKLESCOPE_OK) << specklescope_last_error();
        Bytes made(out.pitch * static_cast<std::size_t>(out.height));
        out.data = made.data();
        EXPECT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, nullptr), SPECKLESCOPE_OK)
            << specklescope_last_error();
        if (shape)
            *shape = out;
        results.push_back(std::move(made));
    }
    return results;
}

/// The element with a pad on each side, playing, and a bus.
class Harness {
public:
    explicit Harness(const std::string& properties)
        : harness_(gst_harness_new_parse(("specklescope options=backend=cpu " + properties).c_str())),
          element_(gst_harness_find_element(harness_, "specklescope")), bus_(gst_bus_new()) {
        gst_element_set_bus(harness_->element, bus_);
    }
    ~Harness() {
        gst_element_set_bus(harness_->element, nullptr);
        gst_object_unref(bus_);
        gst_object_unref(element_);
        gst_harness_teardown(harness_);
    }
    Harness(const Harness&) = delete;
    Harness& operator=(const Harness&) = delete;

    GstHarness* get() const { return harness_; }
    GstElement* element() const { return element_; }
    void caps(const std::string& format, int width, int height) {
        gst_harness_set_src_caps_str(harness_, caps_of(format, width, height).c_str());
        format_ = format;
    }
    void wanted(const std::string& caps) { gst_harness_set_sink_caps_str(harness_, caps.c_str()); }

    GstFlowReturn push(const Picture& picture, int gap = -1) {
        GstBuffer* buffer = buffer_of(picture, format_, gap);
        GST_BUFFER_PTS(buffer) = 40 * GST_MSECOND * pushed_++;
        return gst_harness_push(harness_, buffer);
    }
    /// The result, available after the push; null otherwise. The caller owns it.
    GstBuffer* result(const Picture& picture, int gap = -1) {
        EXPECT_EQ(push(picture, gap), GST_FLOW_OK) << message(GST_MESSAGE_ERROR);
        return gst_harness_try_pull(harness_);
    }
    Bytes through(const Picture& picture, int gap = -1) {
        GstBuffer* made = result(picture, gap);
        if (!made) {
            ADD_FAILURE() << "no result";
            return {};
        }
        const Bytes bytes = bytes_of(made);
        gst_buffer_unref(made);
        return bytes;
    }
    std::string output_caps() const {
        GstCaps* caps = gst_pad_get_current_caps(harness_->sinkpad);
        gchar* text = caps ? gst_caps_to_string(caps) : g_strdup("");
        const std::string made = text;
        g_free(text);
        gst_clear_caps(&caps);
        return made;
    }
    /// Text of the next message of this type; "" if there is none. Other messages stay queued.
    std::string message(GstMessageType type) {
        constexpr auto kTold =
            static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_INFO);
        while (GstMessage* message = gst_bus_pop_filtered(bus_, kTold)) {
            GError* error = nullptr;
            (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR ? gst_message_parse_error
             : GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING
                 ? gst_message_parse_warning
                 : gst_message_parse_info)(message, &error, nullptr);
            told_.emplace_back(GST_MESSAGE_TYPE(message), error->message);
            g_error_free(error);
            gst_message_unref(message);
        }
        const auto next =
            std::find_if(told_.begin(), told_.end(), [&](const auto& one) { return one.first == type; });
        if (next == told_.end())
            return "";
        const std::string sentence = next->second;
        told_.erase(next);
        return sentence;
    }

private:
    GstHarness* harness_;
    GstElement* element_;
    GstBus* bus_;
    std::vector<std::pair<GstMessageType, std::string>> told_;
    std::string format_;
    GstClockTime pushed_ = 0;
};

/// A field of the SpecklescopeResult meta.
template <class T> T fact(GstBuffer* buffer, const char* name) {
    GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, "SpecklescopeResult");
    if (!meta) {
        ADD_FAILURE() << "there is no meta";
        return {};
    }
    GstStructure* structure = gst_custom_meta_get_structure(meta);
    T value{};
    bool found = false;
    if constexpr (std::is_same_v<T, double>)
        found = gst_structure_get_double(structure, name, &value);
    else if constexpr (std::is_same_v<T, bool>) {
        gboolean said = FALSE;
        found = gst_structure_get_boolean(structure, name, &said);
        value = said != FALSE;
    } else if constexpr (std::is_same_v<T, gint64>)
        found = gst_structure_get_int64(structure, name, &value);
    else if constexpr (std::is_same_v<T, int>)
        found = gst_structure_get_int(structure, name, &value);
    else if constexpr (std::is_same_v<T, guint64>)
        found = gst_structure_get_uint64(structure, name, &value);
    else if (const gchar* text = gst_structure_get_string(structure, name)) {
        value = text;
        found = true;
    }
    EXPECT_TRUE(found) << name;
    return value;
}

inline std::vector<std::string> stage_names() {
    std::vector<std::string> names;
    std::size_t count = 0;
    EXPECT_EQ(specklescope_stage_count(&count), SPECKLESCOPE_OK);
    for (std::size_t i = 0; i < count; ++i) {
        auto stage = client::sized<specklescope_stage_info>();
        EXPECT_EQ(specklescope_stage_describe(i, &stage), SPECKLESCOPE_OK);
        names.emplace_back(stage.name);
    }
    return names;
}

/// The stage at its defaults, after the stages that it requires.
inline std::string default_chain(const std::string& stage) {
    return stage == "flow" || stage == "mesi" ? "speckle:output=contrast2 | " + stage : stage;
}

} // namespace element
