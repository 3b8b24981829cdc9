#include "cuda/upload.hpp"

namespace specklescope::cuda {

Buffer uploaded(const std::vector<float>& values) {
    const std::size_t bytes = values.size() * sizeof(float);
    Buffer buffer(bytes, device_memory());
    check(cudaMemcpy(buffer.as<void>(), values.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    return buffer;
}

} // namespace specklescope::cuda
