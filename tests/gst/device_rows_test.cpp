// Rows in memory that the host cannot read, laid as GStreamer's allocator for CUDA lays them: judged by where
// they lie, and never touched.
#include "gst/cuda_memory.hpp"
#include "gst/owners.hpp"
#include "tests/gst/harness.hpp"

#include <sys/mman.h>

namespace device_rows_test {

using namespace element;
using specklescope::element::kMapReadCuda;
using specklescope::element::MappedVideo;
using specklescope::element::Refusal;

constexpr std::size_t kPitches = 512; // bytes: what cuMemAllocPitch gives multiples of

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// As gstcudamemory.cpp of GStreamer 1.22 lays planes: one pitch for all of them, luma first.
struct Layout {
    GstVideoInfo info{};
    std::size_t pitch = 0, bytes = 0;

    Layout(const std::string& format, int width, int height) {
        gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()),
                                  static_cast<guint>(width), static_cast<guint>(height));
        pitch = rounded(static_cast<std::size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0)), kPitches);
        const auto rows = static_cast<std::size_t>(height), even = rounded(rows, 2);
        bytes = pitch * (format == "RGB" ? rows : format == "I420" ? even * 2 : even + even / 2);
        for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
            GST_VIDEO_INFO_PLANE_STRIDE(&info, plane) = static_cast<gint>(pitch);
            GST_VIDEO_INFO_PLANE_OFFSET(&info, plane) =
                plane == 0 ? 0 : pitch * (rows + (plane - 1) * ((rows + 1) / 2));
        }
    }
};

/// Of a GPU: addresses that nobody may read here, and a copy on the host for who maps it there.
struct DeviceMemory {
    GstMemory base;
    void* device;
    std::uint8_t* staging;
    std::size_t reserved;
    int mapped_there = 0, mapped_here = 0, unmapped = 0;
};

struct DeviceAllocator {
    GstAllocator base;
};

gpointer map_memory(GstMemory* memory, GstMapInfo* info, gsize) {
    auto& device = *reinterpret_cast<DeviceMemory*>(memory);
    constexpr guint kCuda = GST_MAP_FLAG_LAST << 1;
    guint flags = 0; // more than GstMapFlags has in C++
    static_assert(sizeof flags == sizeof info->flags);
    std::memcpy(&flags, &info->flags, sizeof flags);
    if ((flags & kCuda) != 0) {
        ++device.mapped_there;
        return device.device;
    }
    ++device.mapped_here;
    return device.staging;
}

void unmap_memory(GstMemory* memory, GstMapInfo*) { ++reinterpret_cast<DeviceMemory*>(memory)->unmapped; }

void free_memory(GstAllocator*, GstMemory* memory) {
    auto* const device = reinterpret_cast<DeviceMemory*>(memory);
    munmap(device->device, device->reserved);
    delete[] device->staging;
    delete device;
}

GType allocator_type() {
    static const GType type = [] {
        GTypeInfo info{};
        info.class_size = sizeof(GstAllocatorClass);
        info.class_init = [](gpointer klass, gpointer) {
            static_cast<GstAllocatorClass*>(klass)->free = free_memory;
        };
        info.instance_size = sizeof(DeviceAllocator);
        info.instance_init = [](GTypeInstance* instance, gpointer) {
            auto* const allocator = reinterpret_cast<GstAllocator*>(instance);
            allocator->mem_type = "TestDeviceMemory";
            allocator->mem_map_full = map_memory;
            allocator->mem_unmap_full = unmap_memory;
            GST_OBJECT_FLAG_SET(instance, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
        };
        return g_type_register_static(GST_TYPE_ALLOCATOR, "TestDeviceAllocator", &info, GTypeFlags{});
    }();
    return type;
}

/// A buffer in such memory with a GstVideoMeta as `layout` says, of which the memory has `bytes`.
class OnDevice {
public:
    OnDevice(const Layout& layout, std::size_t bytes) : buffer_(gst_buffer_new()) {
        static auto* const allocator =
            static_cast<GstAllocator*>(gst_object_ref_sink(g_object_new(allocator_type(), nullptr)));
        memory_ = std::make_unique<DeviceMemory>().release();
        memory_->reserved = rounded(bytes, 4096);
        memory_->device = mmap(nullptr, memory_->reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(memory_->device, MAP_FAILED);
        memory_->staging = std::make_unique<std::uint8_t[]>(bytes).release();
        gst_memory_init(&memory_->base, GST_MEMORY_FLAG_NO_SHARE, allocator, nullptr, bytes, 0, 0, bytes);
        gst_buffer_append_memory(buffer_, &memory_->base);
        gst_buffer_add_video_meta_full(
            buffer_, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&layout.info),
            static_cast<guint>(layout.info.width), static_cast<guint>(layout.info.height),
            GST_VIDEO_INFO_N_PLANES(&layout.info), const_cast<gsize*>(layout.info.offset),
            const_cast<gint*>(layout.info.stride));
    }
    ~OnDevice() { gst_buffer_unref(buffer_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    GstBuffer* buffer() const { return buffer_; }
    DeviceMemory& memory() const { return *memory_; }

private:
    GstBuffer* buffer_;
    DeviceMemory* memory_;
};

/// Of the stream's caps, which know nothing of the pitch.
GstVideoInfo caps_info(const std::string& format, int width, int height) {
    GstVideoInfo info{};
    gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()), static_cast<guint>(width),
                              static_cast<guint>(height));
    return info;
}

class RowsOfADevice : public testing::TestWithParam<const char*> {
protected:
    const std::string format = GetParam();
    std::mt19937 random{random_seed() + 61};
};

TEST_P(RowsOfADevice, LieWhereTheMetaSays) {
    for (const auto& [width, height] : {std::pair{1, 1},
                                        {1, 2},
                                        {2, 1},
                                        {17, 13},
                                        {150, 62},
                                        {512, 3},
                                        {1920, 1080},
                                        {16384, 1},
                                        {1, 4097}}) {
        SCOPED_TRACE(std::to_string(width) + "×" + std::to_string(height));
        const Layout layout(format, width, height);
        const OnDevice frame(layout, layout.bytes);
        const GstVideoInfo info = caps_info(format, width, height);
        const auto planes = static_cast<int>(GST_VIDEO_INFO_N_PLANES(&info));
        {
            const MappedVideo video(frame.buffer(), info, kMapReadCuda, "that came in");
            EXPECT_EQ(static_cast<void*>(video.row(0)), frame.memory().device);
            EXPECT_EQ(static_cast<std::size_t>(video.pitch()), layout.pitch);
        }
        EXPECT_EQ(frame.memory().mapped_there, planes);
        EXPECT_EQ(frame.memory().mapped_here, 0);
        EXPECT_EQ(frame.memory().unmapped, planes);
        // For a chain on the host it comes down, rows as far apart.
        const MappedVideo video(frame.buffer(), info, GST_MAP_READ, "that came in");
        EXPECT_EQ(static_cast<void*>(video.row(0)), static_cast<void*>(frame.memory().staging));
        EXPECT_EQ(static_cast<std::size_t>(video.pitch()), layout.pitch);
        EXPECT_EQ(frame.memory().mapped_here, planes);
    }
}

TEST_P(RowsOfADevice, ThatLieBehindTheEndAreRefused) {
    for (const auto& [width, height] : {std::pair{17, 13}, {150, 62}}) {
        const Layout layout(format, width, height);
        const GstVideoInfo info = caps_info(format, width, height);
        const auto row = static_cast<std::size_t>(width * GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0));
        const std::size_t least = layout.pitch * static_cast<std::size_t>(height - 1) + row;
        for (const guint flags : {kMapReadCuda, guint{GST_MAP_READ}}) {
            const OnDevice small(layout, least - 1);
            EXPECT_THROW(MappedVideo(small.buffer(), info, flags, "that came in"), Refusal);
            EXPECT_EQ(small.memory().mapped_there + small.memory().mapped_here, small.memory().unmapped);
            if (GST_VIDEO_INFO_N_PLANES(&info) > 1)
                continue; // the others are mapped with it
            const OnDevice enough(layout, least);
            const MappedVideo video(enough.buffer(), info, flags, "that came in");
            EXPECT_EQ(static_cast<std::size_t>(video.pitch()), layout.pitch);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, RowsOfADevice, testing::Values("RGB", "NV12", "I420", "P016_LE"),
                         [](const auto& of) { return std::string(of.param); });

} // namespace device_rows_test
