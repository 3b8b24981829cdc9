// Every backend that this machine has, for tests of what a chain computes wherever it runs.
#pragma once

#include "config/executor.hpp"
#include "have_cuda.hpp"
#include "tests/support/random.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace specklescope::test {

/// The host, and the GPU where there is one.
inline std::vector<std::unique_ptr<Executor>> every_executor() {
    std::vector<std::unique_ptr<Executor>> list;
    list.push_back(make_host_executor(2));
#ifdef SPECKLESCOPE_HAVE_CUDA
    if (!list_gpus(nullptr).empty())
        list.push_back(make_executor({.backend = Backend::cuda, .threads = 0, .gpus = ""}, nullptr));
#endif
    return list;
}

/// "speckle:output=contrast2", "average"
inline std::shared_ptr<const Chain> chain_of_stages(const std::vector<std::string>& texts) {
    auto chain = std::make_shared<Chain>();
    for (const std::string& text : texts)
        chain->add(text);
    return chain;
}

/// The result of the last of the frames, which go through one after the other.
template <class T> Result last_result(Executor& executor, const std::vector<std::string>& chain,
                                      const std::vector<TestImage<T>>& frames, const FrameInfo& info = {}) {
    executor.set_chain(chain_of_stages(chain), 1);
    FrameRing ring(frames.front().shape(), 2, executor.slot_memory());
    Result result;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        Frame frame = ring.acquire(std::chrono::seconds(10));
        copy_pixels(frames[i].view(), frame.host());
        frame.info() = info;
        frame.info().sequence = i;
        frame.info().discontinuity = i == 0;
        executor.submit(std::move(frame), true, false);
        result = *executor.collect(true);
    }
    return result;
}

} // namespace specklescope::test
