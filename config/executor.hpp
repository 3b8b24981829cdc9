// Which executor: the host's, one GPU's, several GPUs'.
#pragma once

#include "pipeline/executor.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

enum class Backend : std::uint8_t { automatic, cpu, cuda };
struct ExecutorChoice {
    Backend backend = Backend::automatic;
    int threads = 0;  ///< of the host; 0: all cores
    std::string gpus; ///< "": the first; "all", "0,2": frames go to them in turn
    /// It works in threads of somebody else's program, whose current device stays as it is.
    bool guest = false;
    /// Every result lies in memory of a GPU of its own (Result::memory). Without a GPU it is refused.
    bool device_results = false;
};
/// automatic falls back to the host and says why in `note` (may be null); cuda, a choice of GPUs, and results
/// there throw RunError with the reason. Throws UsageError where the CPU is to give results on a GPU.
std::unique_ptr<Executor> make_executor(const ExecutorChoice& choice, std::string* note);

} // namespace specklescope
