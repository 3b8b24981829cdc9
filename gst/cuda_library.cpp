#include "gst/cuda_library.hpp"

#include "gst/library.hpp"

#include <dlfcn.h>

namespace specklescope::element {

namespace {

constexpr const char* kGstCuda = "libgstcuda-1.0.so.0";
constexpr const char* kDriver = "libcuda.so.1";

bool library_has_cuda() {
    std::size_t stages = 0;
    check(specklescope_stage_count(&stages));
    for (std::size_t i = 0; i < stages; ++i) {
        auto stage = sized<specklescope_stage_info>();
        check(specklescope_stage_describe(i, &stage));
        if (stage.on_device)
            return true;
    }
    return false;
}

/// Never unloaded: GStreamer's types and CUDA's state cannot be removed either.
void* open(const char* name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }

template <class Function> bool find(void* in, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(in, name));
    return function != nullptr;
}

bool find_all(void* gst_cuda, void* driver, CudaLibrary& made) {
    find(gst_cuda, "gst_cuda_memory_sync", made.memory_sync);
    return find(gst_cuda, "gst_cuda_context_new_wrapped", made.context_new_wrapped) &&
           find(gst_cuda, "gst_cuda_handle_context_query", made.handle_context_query) &&
           find(gst_cuda, "gst_is_cuda_memory", made.is_cuda_memory) &&
           find(driver, "cuDevicePrimaryCtxRetain", made.retain_primary) &&
           find(driver, "cuCtxPushCurrent_v2", made.push) && find(driver, "cuCtxPopCurrent_v2", made.pop) &&
           find(driver, "cuPointerGetAttribute", made.attribute) &&
           find(driver, "cuMemcpyPeer", made.copy_peer);
}

CudaLibrary look() {
    CudaLibrary made;
    const auto without = [&](const std::string& why) {
        made.missing = why;
        return made;
    };
    if (!library_has_cuda())
        return without("libspecklescope was built without CUDA");
    void* const driver = open(kDriver);
    if (!driver)
        return without(std::string(kDriver) + " is not there");
    void* const gst_cuda = open(kGstCuda);
    if (!gst_cuda)
        return without(std::string(kGstCuda) + " is not there");
    int (*init)(unsigned) = nullptr;
    int (*count)(int*) = nullptr;
    gboolean (*load)() = nullptr;
    void (*memory_init)() = nullptr;
    if (!find(driver, "cuInit", init) || !find(driver, "cuDeviceGetCount", count) ||
        !find(gst_cuda, "gst_cuda_load_library", load) ||
        !find(gst_cuda, "gst_cuda_memory_init_once", memory_init) || !find_all(gst_cuda, driver, made))
        return without(std::string(kDriver) + " or " + kGstCuda + " lacks a function");
    int gpus = 0;
    if (init(0) != 0 || count(&gpus) != 0 || gpus == 0 || !load())
        return without("there is no GPU");
    memory_init();
    return made;
}

} // namespace

const CudaLibrary& cuda_library() {
    static const CudaLibrary library = look();
    return library;
}

} // namespace specklescope::element
