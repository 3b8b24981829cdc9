// Frames uploaded to a GPU before the element.
#pragma once

#include "tests/gst/harness.hpp"

#include <dlfcn.h>

namespace element {

/// The same functions as the element's, loaded separately for the test.
struct Cuda {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NODELETE);
    void* gst = dlopen("libgstcuda-1.0.so.0", RTLD_NOW | RTLD_NODELETE);
    template <class Function> Function* find(void* in, const char* name) const {
        return in ? reinterpret_cast<Function*>(dlsym(in, name)) : nullptr;
    }
    int gpus() const {
        int count = 0;
        auto* const init = find<int(unsigned)>(driver, "cuInit");
        auto* const ask = find<int(int*)>(driver, "cuDeviceGetCount");
        return init && ask && init(0) == 0 && ask(&count) == 0 ? count : 0;
    }
    /// Null: no context.
    void* context_of(const void* data) const {
        void* context = nullptr;
        constexpr int kContextOf = 1;
        const int status = find<int(void*, int, unsigned long long)>(driver, "cuPointerGetAttribute")(
            static_cast<void*>(&context), kContextOf,
            static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(data)));
        return status == 0 ? context : nullptr;
    }
    void* primary() const {
        static void* const kept = [&] {
            void* context = nullptr;
            EXPECT_EQ(find<int(void**, int)>(driver, "cuDevicePrimaryCtxRetain")(&context, 0), 0);
            return context;
        }();
        return kept;
    }
};

inline const Cuda& cuda() {
    static const Cuda found;
    return found;
}

inline bool required() {
    const char* said = std::getenv("SPECKLESCOPE_REQUIRE_GPU"); // NOLINT(concurrency-mt-unsafe)
    return said && std::string(said) == "1";
}

/// Record of the buffers that reach the element.
struct Seen {
    int on_gpu = 0, in_primary = 0, frames = 0;
};

inline GstPadProbeReturn look(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
    auto& seen = *static_cast<Seen*>(data);
    GstCaps* const caps = gst_pad_get_current_caps(pad);
    ++seen.frames;
    if (gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory")) {
        ++seen.on_gpu;
        guint flags = GST_MAP_FLAG_LAST; // GST_MAP_READ_CUDA
        flags = flags << 1 | GST_MAP_READ;
        GstMapInfo map;
        GstMemory* const memory = gst_buffer_peek_memory(gst_pad_probe_info_get_buffer(info), 0);
        if (gst_memory_map(memory, &map, static_cast<GstMapFlags>(flags))) {
            seen.in_primary += cuda().context_of(map.data) == cuda().primary();
            gst_memory_unmap(memory, &map);
        }
    }
    gst_caps_unref(caps);
    return GST_PAD_PROBE_OK;
}

/// cudaupload followed by the element: random images as input on the host.
class Uploaded {
public:
    Uploaded(const std::string& properties, const std::string& format, int width, int height,
             const std::string& more = ",colorimetry=1:4:0:0", bool own_context = false)
        : format_(format), harness_(gst_harness_new_empty()), bus_(gst_bus_new()) {
        GstElement* const bin = gst_parse_bin_from_description(
            ("cudaupload name=up ! video/x-raw(memory:CUDAMemory) ! specklescope name=it " + properties)
                .c_str(),
            TRUE, nullptr);
        EXPECT_NE(bin, nullptr);
        GstElement* const up = gst_bin_get_by_name(GST_BIN(bin), "up");
        if (own_context) {
            auto* const made = cuda().find<gpointer(guint)>(cuda().gst, "gst_cuda_context_new")(0);
            GstContext* const context =
                cuda().find<GstContext*(gpointer)>(cuda().gst, "gst_context_new_cuda_context")(made);
            gst_element_set_context(up, context);
            gst_context_unref(context);
            gst_object_unref(made);
        }
        gst_element_set_bus(bin, bus_);
        static GstStaticPadTemplate before =
            GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
        static GstStaticPadTemplate behind =
            GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
        gst_harness_add_element_full(harness_, bin, &before, "sink", &behind, "src");
        gst_harness_play(harness_);
        gst_object_unref(up);
        gst_object_unref(bin);
        probe(look);
        size(width, height, more);
    }
    ~Uploaded() {
        gst_element_set_bus(harness_->element, nullptr);
        gst_harness_teardown(harness_);
        gst_object_unref(bus_);
    }
    Uploaded(const Uploaded&) = delete;
    Uploaded& operator=(const Uploaded&) = delete;

    void size(int width, int height, const std::string& more) {
        gst_harness_set_src_caps_str(
            harness_, (caps_of(format_, width, height) + (format_ == "RGB" ? "" : more)).c_str());
        gst_video_info_set_format(&info_, gst_video_format_from_string(format_.c_str()),
                                  static_cast<guint>(width), static_cast<guint>(height));
    }
    void set(const char* property, const char* value) {
        GstElement* const it = gst_bin_get_by_name(GST_BIN(harness_->element), "it");
        g_object_set(it, property, value, nullptr);
        gst_object_unref(it);
    }
    void wanted(const char* caps) { gst_harness_set_sink_caps_str(harness_, caps); }
    /// `picture` becomes the first plane; the others have random bytes, which must be ignored.
    GstFlowReturn push(const Picture& picture, std::mt19937& random) {
        GstBuffer* const buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info_), nullptr);
        Bytes all(GST_VIDEO_INFO_SIZE(&info_));
        for (std::uint8_t& byte : all)
            byte = static_cast<std::uint8_t>(random());
        for (int y = 0; y < picture.height; ++y)
            std::memcpy(all.data() + GST_VIDEO_INFO_PLANE_STRIDE(&info_, 0) * static_cast<std::size_t>(y),
                        picture.bytes.data() + picture.row_bytes() * static_cast<std::size_t>(y),
                        picture.row_bytes());
        gst_buffer_fill(buffer, 0, all.data(), all.size());
        GST_BUFFER_PTS(buffer) = 40 * GST_MSECOND * pushed_++;
        return gst_harness_push(harness_, buffer);
    }
    Bytes through(const Picture& picture, std::mt19937& random) {
        EXPECT_EQ(push(picture, random), GST_FLOW_OK) << said(GST_MESSAGE_ERROR);
        GstBuffer* const made = gst_harness_try_pull(harness_);
        if (!made) {
            ADD_FAILURE() << "no result";
            return {};
        }
        const Bytes bytes = bytes_of(made);
        gst_buffer_unref(made);
        return bytes;
    }
    /// Installs a probe before the element.
    void probe(GstPadProbeCallback callback) {
        GstElement* const it = gst_bin_get_by_name(GST_BIN(harness_->element), "it");
        GstPad* const pad = gst_element_get_static_pad(it, "sink");
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, &seen, nullptr);
        gst_object_unref(pad);
        gst_object_unref(it);
    }
    std::string said(GstMessageType type) {
        constexpr auto kTold = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
        while (GstMessage* const message = gst_bus_pop_filtered(bus_, kTold)) {
            const bool wrong = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
            GError* error = nullptr;
            (wrong ? gst_message_parse_error : gst_message_parse_warning)(message, &error, nullptr);
            (wrong ? errors_ : warnings_) += std::string(error->message) + "\n";
            g_error_free(error);
            gst_message_unref(message);
        }
        return std::exchange(type == GST_MESSAGE_ERROR ? errors_ : warnings_, "");
    }

    Seen seen;

private:
    std::string format_;
    GstHarness* harness_;
    GstBus* bus_;
    GstVideoInfo info_{};
    std::string errors_, warnings_;
    GstClockTime pushed_ = 0;
};

inline Picture first_plane(const std::string& format, int width, int height, std::mt19937& random) {
    return random_picture(format == "RGB"       ? "RGB"
                          : format == "P016_LE" ? "GRAY16_LE"
                                                : "GRAY8",
                          width, height, random);
}

class CudaMemory : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        GstElementFactory* const upload = gst_element_factory_find("cudaupload");
        const std::string why = cuda().gpus() == 0 ? "no GPU" : !upload ? "no cudaupload" : "";
        if (upload)
            gst_object_unref(upload);
        if (why.empty())
            return;
        if (required())
            FAIL() << "SPECKLESCOPE_REQUIRE_GPU=1, but there is " << why;
        GTEST_SKIP() << why;
    }
    /// Compares frames of one stream through both.
    void same(Uploaded& uploaded, const char* chain, const char* options, int width, int height,
              int frames = 4) {
        const client::Chain library(chain, options);
        std::vector<Picture> pictures;
        for (int i = 0; i < frames; ++i)
            pictures.push_back(first_plane(GetParam(), width, height, random));
        const std::vector<Bytes> expected = by_library(library, pictures);
        for (std::size_t i = 0; i < pictures.size(); ++i)
            EXPECT_EQ(uploaded.through(pictures[i], random), expected[i]) << chain << ", frame " << i;
    }
    std::mt19937 random{random_seed() + 7};
};

} // namespace element
