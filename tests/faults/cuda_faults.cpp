// Failing calls of CUDA's runtime. The runtime is linked statically, so preloading does not reach it. The
// linker's --wrap replaces each call in this program. The replacement queries tests/faults/faults.cpp, which
// is preloaded, whether this call must fail. As in CUDA, cudaGetLastError() then returns the same error.
// Calls of cuFFT to the driver are not covered.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <utility>

namespace {

bool fails() {
    static const auto asked =
        reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "specklescope_cuda_call_fails"));
    return asked && asked() != 0;
}

thread_local cudaError_t last = cudaSuccess;

cudaError_t failure(cudaError_t error) { return last = error; }

/// Fails without any effect.
template <class Call, class... Args> cudaError_t instead(cudaError_t error, Call* real, Args... args) {
    return fails() ? failure(error) : real(args...);
}
/// Fails, but frees the resource all the same, so that it does not leak.
template <class Call, class... Args> cudaError_t after(Call* real, Args... args) {
    const cudaError_t status = real(args...);
    return fails() ? failure(cudaErrorLaunchFailure) : status;
}

} // namespace

// NOLINTBEGIN: names that the linker asks for
extern "C" {

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t); // what <<<>>> calls

decltype(cudaGetLastError) __real_cudaGetLastError;
decltype(cudaPeekAtLastError) __real_cudaPeekAtLastError;
decltype(cudaGetDeviceCount) __real_cudaGetDeviceCount;
decltype(cudaGetDeviceProperties) __real_cudaGetDeviceProperties;
decltype(cudaSetDevice) __real_cudaSetDevice;
decltype(cudaGetDevice) __real_cudaGetDevice;
decltype(cudaDeviceGetAttribute) __real_cudaDeviceGetAttribute;
decltype(cudaMemGetInfo) __real_cudaMemGetInfo;
decltype(cudaMalloc) __real_cudaMalloc;
decltype(cudaHostAlloc) __real_cudaHostAlloc;
decltype(cudaFree) __real_cudaFree;
decltype(cudaFreeHost) __real_cudaFreeHost;
decltype(cudaMemset) __real_cudaMemset;
decltype(cudaMemsetAsync) __real_cudaMemsetAsync;
decltype(cudaMemcpy) __real_cudaMemcpy;
decltype(cudaMemcpyAsync) __real_cudaMemcpyAsync;
decltype(cudaMemcpy2DAsync) __real_cudaMemcpy2DAsync;
decltype(cudaStreamCreateWithFlags) __real_cudaStreamCreateWithFlags;
decltype(cudaStreamDestroy) __real_cudaStreamDestroy;
decltype(cudaStreamSynchronize) __real_cudaStreamSynchronize;
decltype(cudaStreamWaitEvent) __real_cudaStreamWaitEvent;
decltype(cudaEventCreateWithFlags) __real_cudaEventCreateWithFlags;
decltype(cudaEventDestroy) __real_cudaEventDestroy;
decltype(cudaEventRecord) __real_cudaEventRecord;
decltype(cudaEventQuery) __real_cudaEventQuery;
decltype(cudaEventSynchronize) __real_cudaEventSynchronize;
decltype(cudaEventElapsedTime) __real_cudaEventElapsedTime;
decltype(cudaFuncSetAttribute) __real_cudaFuncSetAttribute;
decltype(cudaFuncGetAttributes) __real_cudaFuncGetAttributes;
decltype(cudaLaunchKernel) __real_cudaLaunchKernel;
decltype(cudaLaunchKernelExC) __real_cudaLaunchKernelExC;
decltype(__cudaLaunchKernel) __real___cudaLaunchKernel;

cudaError_t __wrap_cudaGetLastError() {
    const cudaError_t real = __real_cudaGetLastError();
    const cudaError_t ours = std::exchange(last, cudaSuccess);
    return ours != cudaSuccess ? ours : real;
}
cudaError_t __wrap_cudaPeekAtLastError() { return last != cudaSuccess ? last : __real_cudaPeekAtLastError(); }

cudaError_t __wrap_cudaGetDeviceCount(int* count) {
    return instead(cudaErrorNoDevice, __real_cudaGetDeviceCount, count);
}
cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* found, int device) {
    return instead(cudaErrorInvalidDevice, __real_cudaGetDeviceProperties, found, device);
}
cudaError_t __wrap_cudaSetDevice(int device) {
    return instead(cudaErrorDevicesUnavailable, __real_cudaSetDevice, device);
}
cudaError_t __wrap_cudaGetDevice(int* device) {
    return instead(cudaErrorDevicesUnavailable, __real_cudaGetDevice, device);
}
cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return instead(cudaErrorInvalidDevice, __real_cudaDeviceGetAttribute, value, attribute, device);
}
cudaError_t __wrap_cudaMemGetInfo(size_t* free, size_t* total) {
    return instead(cudaErrorLaunchFailure, __real_cudaMemGetInfo, free, total);
}
cudaError_t __wrap_cudaMalloc(void** memory, size_t bytes) {
    return instead(cudaErrorMemoryAllocation, __real_cudaMalloc, memory, bytes);
}
cudaError_t __wrap_cudaHostAlloc(void** memory, size_t bytes, unsigned flags) {
    return instead(cudaErrorMemoryAllocation, __real_cudaHostAlloc, memory, bytes, flags);
}
cudaError_t __wrap_cudaFree(void* memory) { return after(__real_cudaFree, memory); }
cudaError_t __wrap_cudaFreeHost(void* memory) { return after(__real_cudaFreeHost, memory); }
cudaError_t __wrap_cudaMemset(void* to, int value, size_t bytes) {
    return instead(cudaErrorLaunchFailure, __real_cudaMemset, to, value, bytes);
}
cudaError_t __wrap_cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
    return instead(cudaErrorLaunchFailure, __real_cudaMemsetAsync, to, value, bytes, stream);
}
cudaError_t __wrap_cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return instead(cudaErrorLaunchFailure, __real_cudaMemcpy, to, from, bytes, kind);
}
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
    return instead(cudaErrorLaunchFailure, __real_cudaMemcpyAsync, to, from, bytes, kind, stream);
}
cudaError_t __wrap_cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return instead(cudaErrorLaunchFailure, __real_cudaMemcpy2DAsync, to, to_pitch, from, from_pitch, width,
                   height, kind, stream);
}
cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return instead(cudaErrorMemoryAllocation, __real_cudaStreamCreateWithFlags, stream, flags);
}
cudaError_t __wrap_cudaStreamDestroy(cudaStream_t stream) { return after(__real_cudaStreamDestroy, stream); }
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) {
    return after(__real_cudaStreamSynchronize, stream);
}
cudaError_t __wrap_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    return instead(cudaErrorLaunchFailure, __real_cudaStreamWaitEvent, stream, event, flags);
}
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return instead(cudaErrorMemoryAllocation, __real_cudaEventCreateWithFlags, event, flags);
}
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event) { return after(__real_cudaEventDestroy, event); }
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return instead(cudaErrorLaunchFailure, __real_cudaEventRecord, event, stream);
}
cudaError_t __wrap_cudaEventQuery(cudaEvent_t event) {
    return instead(cudaErrorLaunchFailure, __real_cudaEventQuery, event);
}
cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t event) {
    return after(__real_cudaEventSynchronize, event);
}
cudaError_t __wrap_cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
    return instead(cudaErrorLaunchFailure, __real_cudaEventElapsedTime, ms, begin, end);
}
cudaError_t __wrap_cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    return instead(cudaErrorInvalidDeviceFunction, __real_cudaFuncSetAttribute, kernel, attribute, value);
}
cudaError_t __wrap_cudaFuncGetAttributes(cudaFuncAttributes* found, const void* kernel) {
    return instead(cudaErrorInvalidDeviceFunction, __real_cudaFuncGetAttributes, found, kernel);
}
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** args, size_t shared,
                                    cudaStream_t stream) {
    return instead(cudaErrorLaunchFailure, __real_cudaLaunchKernel, kernel, grid, block, args, shared,
                   stream);
}
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** args) {
    return instead(cudaErrorLaunchFailure, __real_cudaLaunchKernelExC, config, kernel, args);
}
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared,
                                      cudaStream_t stream) {
    return instead(cudaErrorLaunchFailure, __real___cudaLaunchKernel, kernel, grid, block, args, shared,
                   stream);
}

} // extern "C"
// NOLINTEND
