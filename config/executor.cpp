#include "config/executor.hpp"

#include "base/error.hpp"
#include "have_cuda.hpp"
#include "pipeline/executor.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

namespace specklescope {

namespace {

/// Refuses options that an executor on the host cannot have.
void check_choice(const ExecutorChoice& choice) {
    if (choice.device_results && choice.backend == Backend::cpu)
        throw UsageError("memory = device is not possible with backend = cpu; allowed: memory = host, or "
                         "backend = auto or cuda.");
}

/// `why`: a sentence.
[[noreturn]] void refuse_device_results(std::string why) {
    while (why.ends_with('.'))
        why.pop_back();
    throw RunError("memory = device is not possible here: " + why + "; allowed: memory = host.");
}

[[maybe_unused]] constexpr const char* kNoBackend = "This build has no CUDA backend";

} // namespace

#ifdef SPECKLESCOPE_HAVE_CUDA

namespace {

std::unique_ptr<Executor> make_gpus_executor(const ExecutorChoice& choice) {
    const std::string& gpus = choice.gpus;
    if (gpus.empty())
        return make_cuda_executor(0, choice.guest, choice.device_results);
    std::string reason;
    const int count = static_cast<int>(list_gpus(&reason).size());
    if (count == 0)
        throw RunError("--gpus " + gpus + ": no CUDA device can be used: " + reason + ".");
    std::vector<std::unique_ptr<Executor>> members;
    for (const int index : parse_gpus(gpus, count))
        members.push_back(make_cuda_executor(index, choice.guest, choice.device_results));
    return members.size() == 1 ? std::move(members[0]) : make_round_robin_executor(std::move(members));
}

} // namespace

std::unique_ptr<Executor> make_executor(const ExecutorChoice& choice, std::string* note) {
    check_choice(choice);
    if (choice.backend == Backend::cpu)
        return make_host_executor(choice.threads);
    try {
        return make_gpus_executor(choice);
    } catch (const RunError& error) {
        if (choice.device_results)
            refuse_device_results(error.what());
        if (choice.backend == Backend::cuda || !choice.gpus.empty())
            throw;
        if (note)
            *note = std::string(error.what()) + " Running on the CPU.";
    }
    return make_host_executor(choice.threads);
}

#else

std::unique_ptr<Executor> make_executor(const ExecutorChoice& choice, std::string* note) {
    check_choice(choice);
    if (choice.device_results)
        refuse_device_results(kNoBackend);
    if (choice.backend == Backend::cuda || (choice.backend == Backend::automatic && !choice.gpus.empty()))
        throw RunError(std::string(kNoBackend) + ". Use --backend cpu, or build where nvcc is installed.");
    if (note && choice.backend == Backend::automatic)
        *note = std::string(kNoBackend) + ". Running on the CPU.";
    return make_host_executor(choice.threads);
}

#endif

} // namespace specklescope
