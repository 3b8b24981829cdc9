#include "gst/cuda_memory.hpp"

#include "gst/cuda_library.hpp"
#include "gst/formats.hpp"

#include <map>
#include <mutex>

namespace specklescope::element {

namespace {

constexpr int kContextOf = 1; // CU_POINTER_ATTRIBUTE_CONTEXT of cuda.h

/// Primary context of a GPU. CUDA's runtime, and so the library, uses this context.
struct Primary {
    CudaContext context = nullptr; ///< null: not available
    gpointer wrapped = nullptr;    ///< GstCudaContext; null: not available
};

/// Kept forever, as the runtime does: other elements may hold memory of this context longer than ours live.
const Primary& primary_of(int gpu) {
    static std::mutex lock;
    static std::map<int, Primary> known;
    const std::scoped_lock locked(lock);
    const auto [place, is_new] = known.try_emplace(gpu);
    Primary& primary = place->second;
    if (is_new && cuda_library().retain_primary(&primary.context, gpu) == 0)
        primary.wrapped = cuda_library().context_new_wrapped(primary.context, gpu);
    return primary;
}

CudaAddress address_of(const void* data) {
    return static_cast<CudaAddress>(reinterpret_cast<std::uintptr_t>(data));
}

/// Null if the memory has no context known to CUDA; the library then checks the address.
CudaContext owner_of(const void* data) {
    CudaContext owner = nullptr;
    return cuda_library().attribute(static_cast<void*>(&owner), kContextOf, address_of(data)) == 0 ? owner
                                                                                                   : nullptr;
}

/// Ordered after all work of both contexts.
void copy_between(void* to, CudaContext its, const void* from, CudaContext whose, std::size_t bytes) {
    const CudaLibrary& cuda = cuda_library();
    int status = cuda.push(its);
    if (status == 0) {
        status = cuda.copy_peer(address_of(to), its, address_of(from), whose, bytes);
        CudaContext before = nullptr;
        cuda.pop(&before);
    }
    if (status != 0)
        throw Refusal(
            SPECKLESCOPE_RUN_ERROR,
            "A frame lies in another context of CUDA and could not be copied from there (CUDA's error " +
                std::to_string(status) + "); put cudadownload in front of the element.");
}

} // namespace

int gpu_of(const std::string& options) {
    auto settings = sized<specklescope_settings>();
    settings.options = options.c_str();
    specklescope_chain* made = nullptr;
    if (specklescope_chain_create("", &settings, &made) != SPECKLESCOPE_OK)
        return -1;
    return gpu_of(ChainHandle(made).get());
}

bool answer_context(GstElement* element, GstQuery* query, const std::string& options) {
    const gchar* type = nullptr;
    if (!gst_query_parse_context_type(query, &type) || g_strcmp0(type, "gst.cuda.context") != 0 ||
        !cuda_library())
        return false;
    const int gpu = gpu_of(options);
    return gpu >= 0 && primary_of(gpu).wrapped &&
           cuda_library().handle_context_query(element, query, primary_of(gpu).wrapped) != FALSE;
}

void CudaFrames::check(GstBuffer* buffer) {
    for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
        GstMemory* const memory = gst_buffer_peek_memory(buffer, i);
        if (!cuda_library().is_cuda_memory(memory))
            throw Refusal(SPECKLESCOPE_RUN_ERROR,
                          "A buffer lies in other memory than CUDAMemory, which its caps "
                          "say; look at the element that made it.");
        if (cuda_library().memory_sync)
            cuda_library().memory_sync(memory);
    }
    if (!gst_buffer_get_video_meta(buffer)) // the allocator chooses the pitch
        throw Refusal(SPECKLESCOPE_RUN_ERROR,
                      "A buffer in CUDAMemory has no GstVideoMeta, which says how its rows "
                      "lie; look at the element that made it.");
}

specklescope_image CudaFrames::image(EditedChain& chain, const MappedVideo& video,
                                     const specklescope_image& of) {
    specklescope_image image = of;
    image.data = video.row(0);
    image.pitch = static_cast<std::size_t>(video.pitch());
    image.memory = SPECKLESCOPE_DEVICE;
    image.stream = nullptr; // the default stream, which waits for GStreamer's streams
    const CudaContext ours = primary_of(gpu_).context, theirs = owner_of(image.data);
    if (!theirs || !ours || theirs == ours)
        return image;
    const std::size_t row_bytes = frame_bytes(of) / static_cast<std::size_t>(of.height);
    const auto words = static_cast<std::int32_t>((image.pitch + 3) / 4);
    if (!copied_ || copy_.width != words || copy_.height != of.height) {
        copied_.reset();
        copy_ = sized<specklescope_image>();
        copy_.width = words;
        copy_.height = of.height;
        copy_.type = SPECKLESCOPE_F32; // copies bytes in groups of four
        copied_ = chain.memory(copy_);
    }
    copy_between(copy_.data, ours, image.data, theirs,
                 image.pitch * static_cast<std::size_t>(of.height - 1) + row_bytes);
    image.data = copy_.data;
    return image;
}

} // namespace specklescope::element
