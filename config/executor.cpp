#include "config/executor.hpp"

#include "base/error.hpp"
#include "have_cuda.hpp"
#include "pipeline/round_robin_executor.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

namespace specklescope {

#ifdef SPECKLESCOPE_HAVE_CUDA

namespace {

std::unique_ptr<Executor> make_gpus_executor(const std::string& gpus, bool guest) {
    if (gpus.empty())
        return make_cuda_executor(0, guest);
    std::string reason;
    const int count = static_cast<int>(list_gpus(&reason).size());
    if (count == 0)
        throw RunError("--gpus " + gpus + ": no CUDA device can be used: " + reason + ".");
    std::vector<std::unique_ptr<Executor>> members;
    for (const int index : parse_gpus(gpus, count))
        members.push_back(make_cuda_executor(index, guest));
    return members.size() == 1 ? std::move(members[0]) : make_round_robin_executor(std::move(members));
}

} // namespace

std::unique_ptr<Executor> make_executor(const ExecutorChoice& choice, std::string* note) {
    if (choice.backend == Backend::cpu)
        return make_host_executor(choice.threads);
    try {
        return make_gpus_executor(choice.gpus, choice.guest);
    } catch (const RunError& error) {
        if (choice.backend == Backend::cuda || !choice.gpus.empty())
            throw;
        if (note)
            *note = std::string(error.what()) + " Running on the CPU.";
    }
    return make_host_executor(choice.threads);
}

#else

std::unique_ptr<Executor> make_executor(const ExecutorChoice& choice, std::string* note) {
    if (choice.backend == Backend::cuda || (choice.backend == Backend::automatic && !choice.gpus.empty()))
        throw RunError(
            "This build has no CUDA backend; use --backend cpu, or build where nvcc is installed.");
    if (note && choice.backend == Backend::automatic)
        *note = "This build has no CUDA backend. Running on the CPU.";
    return make_host_executor(choice.threads);
}

#endif

} // namespace specklescope
