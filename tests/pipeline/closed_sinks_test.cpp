// Frames dropped by a recorder belong to the run, also after it was removed.
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

namespace specklescope::closed_sinks_test {

using test::options;
using test::WatchingSink;

TEST(PipelineSinks, DropsOfClosedSinksStayCounted) {
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

/// A retry adds its own sinks.
TEST(PipelineSinks, SinksOfAFailedStartAreNotOpenedLater) {
    auto source = test::camera_of(100'000'000);
    int tries = 0;
    source->on_open = [&](test::ScriptedSource&) {
        if (++tries <= 2)
            throw RunError("It is not there.");
    };
    Pipeline pipeline(std::move(source), Chain(), options());
    std::vector<std::shared_ptr<WatchingSink>> sinks;
    for (int i = 0; i < 3; ++i) {
        sinks.push_back(std::make_shared<WatchingSink>());
        pipeline.add_sink(sinks.back());
        if (i < 2)
            EXPECT_THROW(pipeline.start(), RunError);
        else
            pipeline.start();
    }
    EXPECT_EQ(pipeline.sinks().size(), 1U);
    pipeline.stop();
    EXPECT_EQ(sinks[0]->opened, 0);
    EXPECT_EQ(sinks[1]->opened, 0);
    EXPECT_EQ(sinks[2]->opened, 1);
}

} // namespace specklescope::closed_sinks_test
