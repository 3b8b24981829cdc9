// Results of a chain on the backend given to a test.
#pragma once

#include "config/executor.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope::test {

/// Tests of a suite derived from this run on the host and on the GPU, instantiated with
/// testing::Values("cpu", "cuda").
class OnBackend : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (GetParam() == "cpu")
            executor = make_host_executor(2);
        else if (needs_gpu())
            executor = make_executor({.backend = Backend::cuda, .threads = 0, .gpus = ""}, nullptr);
    }
    std::unique_ptr<Executor> executor;
};
inline std::string backend_name(const testing::TestParamInfo<std::string>& tested) { return tested.param; }

/// Simulates a device: computes each frame on the host at submit, and keeps its result until collect.
class StandIn : public Executor {
public:
    std::string backend() const override { return "cuda"; }
    std::string device_name() const override { return "stand-in"; }
    std::shared_ptr<SlotMemory> slot_memory() const override { return host_->slot_memory(); }
    void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) override {
        host_->set_chain(std::move(chain), version);
    }
    void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) override {
        host_->set_regions(std::move(regions), version);
    }
    std::optional<Shape> output() const override { return host_->output(); }
    void prepare(const Shape& input, bool want_host) override { host_->prepare(input, want_host); }
    void submit(Frame frame, bool want_host, bool again) override {
        host_->submit(std::move(frame), want_host, again);
        done_.push_back(*host_->collect(true));
    }
    std::optional<Result> collect(bool) override {
        if (done_.empty())
            return std::nullopt;
        Result result = std::move(done_.front());
        done_.pop_front();
        return result;
    }
    int in_flight() const override { return static_cast<int>(done_.size()); }
    int capacity() const override { return 3; }
    bool wait_slot(std::chrono::milliseconds timeout) override { return host_->wait_slot(timeout); }

protected:
    std::deque<Result> done_;

private:
    std::unique_ptr<Executor> host_ = make_host_executor(1);
};

/// "speckle:output=contrast2", "average"
inline std::shared_ptr<const Chain> chain_of_stages(const std::vector<std::string>& texts) {
    auto chain = std::make_shared<Chain>();
    for (const std::string& text : texts)
        chain->add(text);
    return chain;
}

/// Runs the frames one after the other; returns the last result.
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
