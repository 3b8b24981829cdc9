// One stage of the device's chain on one image, for tests; row padding is garbage.
#pragma once

#include "cuda/devices.hpp"
#include "pipeline/convert.hpp"
#include "pipeline/executor.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace specklescope::test {

class CudaStage : public testing::Test {
protected:
    void SetUp() override {
        if (!needs_gpu())
            return;
        executor_ = make_cuda_executor(0);
    }

    template <class T>
    TestImage<T> run_device(const TestImage<T>& image, const std::string& text, double full_scale = 0) {
        auto chain = std::make_shared<Chain>();
        chain->add(text);
        executor_->set_chain(chain, ++version_);
        FrameRing ring(image.shape(), 1, executor_->slot_memory());
        Frame frame = ring.acquire(std::chrono::seconds(10));
        const HostView view = frame.host();
        std::memset(view.data, 0xa5, view.pitch * static_cast<std::size_t>(view.shape.height));
        copy_pixels(image.view(), view);
        frame.info().full_scale = full_scale;
        executor_->submit(std::move(frame), true);
        std::optional<Result> result = executor_->collect(true);
        EXPECT_TRUE(result);
        counts_ = result ? result->counts : PixelCounts();
        const Shape shape = result ? result->image.shape() : image.shape();
        TestImage<T> output(shape.width, shape.height, 5, shape.channels);
        if (result)
            copy_pixels(result->image.host(), output.view());
        return output;
    }

    PixelCounts counts_; ///< of the last result

private:
    std::unique_ptr<Executor> executor_;
    std::uint64_t version_ = 0;
};

/// The same stage on the host.
template <class T>
TestImage<T> run_host_stage(const TestImage<T>& image, const std::string& text, double full_scale = 0) {
    Chain chain;
    chain.add(text);
    const ChainStage& link = chain.stages()[0];
    const std::unique_ptr<HostStage> stage = link.type->make_host(link.params);
    const Shape shape = stage->prepare(image.shape());
    TestImage<T> output(shape.width, shape.height, 5, shape.channels);
    PixelCounts counts;
    FrameInfo info;
    info.full_scale = full_scale;
    stage->run(image.view(), output.view(), {info, counts});
    return output;
}

} // namespace specklescope::test
