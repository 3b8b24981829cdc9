// Chooses the executor: host, one GPU or several GPUs.
#pragma once

#include "pipeline/executor.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

enum class Backend : std::uint8_t { automatic, cpu, cuda };
struct ExecutorChoice {
    Backend backend = Backend::automatic;
    int threads = 0;  ///< of the host; 0: all cores
    std::string gpus; ///< "": the first; "all", "0,2": frames are distributed to them in turn
    /// Runs in threads of a host program, whose current device must not change.
    bool guest = false;
    /// Every result is in separate GPU memory (Result::memory). Refused without a GPU.
    bool device_results = false;
};
/// automatic falls back to the host and stores the reason in `note` (may be null). cuda, a choice of GPUs,
/// and results on a GPU throw RunError with the reason. Throws UsageError if results on a GPU are requested
/// from the CPU.
std::unique_ptr<Executor> make_executor(const ExecutorChoice& choice, std::string* note);

} // namespace specklescope
