// A pipeline that plays a FilmSource, with a watching sink.
#pragma once

#include "tests/support/film_source.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace specklescope::test {

inline constexpr std::uint64_t kLong = 1'000'000'000;

struct Film {
    explicit Film(std::uint64_t frames, const std::string& chain = "",
                  const PipelineOptions& with = options()) {
        auto made = std::make_unique<FilmSource>(frames);
        source = made.get();
        pipeline = std::make_unique<Pipeline>(std::move(made), chain_of(chain), with);
        pipeline->add_sink(sink);
    }
    /// Waits for this frame to be delivered after `before` others.
    bool comes(std::uint64_t frame, std::size_t before = 0) const {
        return eventually([&] {
            const auto seen = sink->seen();
            return std::any_of(seen.begin() + static_cast<std::ptrdiff_t>(std::min(before, seen.size())),
                               seen.end(), [&](const auto& s) { return s.index == frame; });
        });
    }
    void expect_accounts() const {
        const StatsSnapshot s = pipeline->stats();
        EXPECT_EQ(s.frames.acquired, s.frames.processed + s.drops.failed + s.frames.passed_over);
        const auto seen = sink->seen();
        EXPECT_EQ(s.frames.processed, seen.size());
        for (std::size_t i = 0; i < seen.size(); ++i) {
            EXPECT_EQ(seen[i].sequence, i) << "a number that is missing would be a drop";
            EXPECT_TRUE(seen[i].raw_intact);
        }
    }
    FilmSource* source = nullptr;
    std::shared_ptr<WatchingSink> sink = std::make_shared<WatchingSink>();
    std::unique_ptr<Pipeline> pipeline;
};

} // namespace specklescope::test
