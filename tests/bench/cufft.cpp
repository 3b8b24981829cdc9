#include "tests/bench/cufft.hpp"

#include <dlfcn.h>

#include <spdlog/spdlog.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace specklescope::cuda {

namespace {

constexpr std::array kNames = {"libcufft.so.12", "libcufft.so.11", "libcufft.so"};

/// Folders of CUDA toolkits, "" for the dynamic linker's search path.
std::vector<std::string> folders() {
    std::vector<std::string> list = {""};
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
        if (const char* root = std::getenv(variable); root && *root)
            list.push_back(std::string(root) + "/lib64/");
    list.emplace_back("/usr/local/cuda/lib64/");
    return list;
}

/// Never closed: plans of static objects may outlive it.
void* open_library() {
    for (const std::string& folder : folders())
        for (const char* name : kNames)
            if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL))
                return library;
    throw RunError(
        "libcufft.so.12 cannot be loaded here; install libcufft of CUDA 12 or 13, or set CUDA_PATH to "
        "the toolkit's folder.");
}

template <class F> void find(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (!function)
        throw RunError(std::string("The cuFFT library found here has no ") + name +
                       "; install libcufft of CUDA 12 or 13.");
}

Cufft load() {
    void* const library = open_library();
    Cufft found;
    find(library, "cufftCreate", found.create);
    find(library, "cufftDestroy", found.destroy);
    find(library, "cufftSetAutoAllocation", found.set_auto_allocation);
    find(library, "cufftMakePlanMany", found.make_plan_many);
    find(library, "cufftSetWorkArea", found.set_work_area);
    find(library, "cufftSetStream", found.set_stream);
    find(library, "cufftExecR2C", found.exec_r2c);
    find(library, "cufftExecC2R", found.exec_c2r);
    find(library, "cufftExecC2C", found.exec_c2c);
    return found;
}

} // namespace

const Cufft& cufft() {
    static const Cufft library = load(); // retried after a failure
    return library;
}

void check(cufftResult status, const char* call) {
    if (status == CUFFT_SUCCESS)
        return;
    static_cast<void>(cudaGetLastError());
    if (status == CUFFT_ALLOC_FAILED)
        throw RunError(std::string("The GPU has no room for a Fourier transform (") + call +
                       "); use a smaller image, or less memory for the stage.");
    throw RunError(std::string("The GPU failed in ") + call + ": cuFFT's code " +
                   std::to_string(static_cast<int>(status)) + ".");
}

FftPlan::FftPlan(const FftShape& shape, cufftType type) {
    const bool forward = type == CUFFT_R2C;
    std::array<int, 2> size{shape.height, shape.width};
    std::array<int, 2> in{shape.height, forward ? shape.real_pitch() : shape.columns()};
    std::array<int, 2> out{shape.height, forward ? shape.columns() : shape.real_pitch()};
    const Cufft& library = cufft();
    check(library.create(&plan_), "cufftCreate");
    made_ = true;
    cufftResult status = library.set_auto_allocation(plan_, 0);
    if (status == CUFFT_SUCCESS)
        status = library.make_plan_many(plan_, 2, size.data(), in.data(), 1, in[0] * in[1], out.data(), 1,
                                        out[0] * out[1], type, shape.batch, &work_bytes_);
    if (status != CUFFT_SUCCESS) { // no destructor runs for a constructor that throws
        static_cast<void>(library.destroy(plan_));
        made_ = false;
        check(status, "cufftMakePlanMany");
    }
}

FftPlan::~FftPlan() {
    if (!made_)
        return;
    if (const cufftResult status = cufft().destroy(plan_); status != CUFFT_SUCCESS)
        spdlog::error("The GPU failed in cufftDestroy: cuFFT's code {}", static_cast<int>(status));
}

void FftPlan::set_work_area(void* memory) const {
    check(cufft().set_work_area(plan_, memory), "cufftSetWorkArea");
}

void FftPlan::forward(void* data, cudaStream_t stream) const {
    check(cufft().set_stream(plan_, stream), "cufftSetStream");
    check(cufft().exec_r2c(plan_, static_cast<cufftReal*>(data), static_cast<cufftComplex*>(data)),
          "cufftExecR2C");
}

void FftPlan::backward(void* data, cudaStream_t stream) const {
    check(cufft().set_stream(plan_, stream), "cufftSetStream");
    check(cufft().exec_c2r(plan_, static_cast<cufftComplex*>(data), static_cast<cufftReal*>(data)),
          "cufftExecC2R");
}

} // namespace specklescope::cuda
