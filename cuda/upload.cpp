#include "cuda/upload.hpp"

namespace specklescope::cuda {

Buffer uploaded(const void* values, std::size_t bytes) {
    if (bytes == 0)
        return {};
    Buffer buffer(bytes, device_memory());
    check(cudaMemcpy(buffer.as<void>(), values, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    return buffer;
}

} // namespace specklescope::cuda
