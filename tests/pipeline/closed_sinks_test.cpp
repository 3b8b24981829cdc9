// What recorders dropped belongs to the run, also when they are gone.
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

namespace specklescope {
namespace {

using test::options;
using test::WatchingSink;

TEST(PipelineSinks, WhatTheClosedOnesDroppedIsStillCounted) {
    class Dropping final : public WatchingSink {
    public:
        explicit Dropping(std::uint64_t dropped) : dropped_(dropped) {}
        SinkStatus status() const override {
            SinkStatus status;
            status.dropped = dropped_;
            return status;
        }

    private:
        std::uint64_t dropped_;
    };
    Pipeline pipeline(test::camera_of(100'000'000), Chain(), options());
    pipeline.start();
    const auto first = std::make_shared<Dropping>(3);
    pipeline.add_sink(first);
    pipeline.add_sink(std::make_shared<Dropping>(40));
    EXPECT_EQ(pipeline.stats().drops.recorder, 43U);
    pipeline.remove_sink(first);
    EXPECT_EQ(pipeline.stats().drops.recorder, 43U);
    pipeline.add_sink(std::make_shared<Dropping>(500));
    pipeline.stop();
    EXPECT_EQ(pipeline.stats().drops.recorder, 543U);
    pipeline.start();
    EXPECT_EQ(pipeline.stats().drops.recorder, 0U) << "a new run counts anew";
}

} // namespace
} // namespace specklescope
