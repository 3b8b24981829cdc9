#include "cuda/history_memory.hpp"

namespace specklescope::cuda {

void check_device_history(std::string_view stage, int frames, const HistoryBytes& bytes) {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    check_history(stage, "the GPU", frames, bytes, free);
}

} // namespace specklescope::cuda
