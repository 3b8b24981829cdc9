// Lines of the device's recursive Gaussian in blocks and segments, combined without a GPU like in the
// kernels, compared with the direct filter.
#include <gtest/gtest.h>

#include "cuda/gaussian/gaussian_blocks.hpp"
#include "tests/stages/gaussian/gaussian_oracle.hpp"

#include <array>

namespace specklescope::test::gaussian_blocks_test {

using State = std::array<double, 3>;

State applied(const cuda::Matrix3& a, const State& s, const State& more) {
    State result = more;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            result[i] += a.m[i][j] * s[j];
    return result;
}

State weighted(const float (&weights)[3][cuda::kBlockSamples], const double* samples, int count) {
    State sums{};
    for (std::size_t c = 0; c < 3; ++c)
        for (int i = 0; i < count; ++i)
            sums[c] += static_cast<double>(weights[c][i]) * samples[i];
    return sums;
}

struct BlockStates {
    State forward, backward, mirrored;
};

/// Replaces each block's contribution with the state before it (backward: after it).
void scan(const cuda::LineFilter& filter, const std::vector<double>& line, std::vector<BlockStates>& blocks) {
    const auto last = [&](std::size_t block) { return block + 1 == blocks.size() ? 1 : 0; };
    State before{};
    if (filter.border == Border::replicate)
        before[0] = line.front();
    if (filter.border == Border::wrap || filter.border == Border::reflect) {
        State period{};
        for (std::size_t b = 0; b < blocks.size(); ++b)
            period = applied(filter.power[last(b)], period, blocks[b].forward);
        if (filter.border == Border::reflect) {
            State back{};
            for (std::size_t b = blocks.size(); b-- > 0;)
                back = applied(filter.power[last(b)], back, blocks[b].mirrored);
            period = applied(filter.line, period, back);
        }
        before = applied(filter.begin, period, {});
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const State adds = blocks[b].forward;
        blocks[b].forward = before;
        before = applied(filter.power[last(b)], before, adds);
    }
    const auto back = [&](std::size_t b, const State& s) {
        return applied(filter.power[last(b)], s,
                       applied(filter.through[last(b)], blocks[b].forward, blocks[b].backward));
    };
    State behind{};
    if (filter.border == Border::wrap) {
        for (std::size_t b = blocks.size(); b-- > 0;)
            behind = back(b, behind);
        behind = applied(filter.backward_start, behind, {});
    } else {
        const double end = filter.border == Border::replicate ? line.back() : 0;
        behind = applied(filter.backward_start, {before[0] - end, before[1], before[2]}, {end, 0, 0});
    }
    for (std::size_t b = blocks.size(); b-- > 0;) {
        const State next = back(b, behind);
        blocks[b].backward = behind;
        behind = next;
    }
}

std::vector<double> line_in_blocks(std::vector<double> line, double sigma, Border border) {
    const auto size = static_cast<int>(line.size());
    const RecursiveGaussian exact = recursive_gaussian(sigma);
    const cuda::LineFilter filter = cuda::make_line_filter(exact, size, border);
    std::vector<BlockStates> blocks(static_cast<std::size_t>(filter.blocks));
    const auto count = [&](int b) { return std::min(cuda::kBlockSamples, size - b * cuda::kBlockSamples); };
    for (int b = 0; b < filter.blocks; ++b) {
        const cuda::BlockWeights& weights = filter.weights[b + 1 == filter.blocks ? 1 : 0];
        const double* samples = &line[static_cast<std::size_t>(b * cuda::kBlockSamples)];
        blocks[static_cast<std::size_t>(b)] = {weighted(weights.forward, samples, count(b)),
                                               weighted(weights.backward, samples, count(b)),
                                               weighted(weights.mirrored, samples, count(b))};
    }
    scan(filter, line, blocks);
    for (int b = 0; b < filter.blocks; ++b) {
        double* samples = &line[static_cast<std::size_t>(b * cuda::kBlockSamples)];
        const auto step = [&](State& s, double x) {
            s[2] = exact.gain * (x - s[0]) - exact.slope * s[1] + exact.curve * s[2];
            s[1] += s[2];
            return s[0] += s[1];
        };
        BlockStates s = blocks[static_cast<std::size_t>(b)];
        for (int i = 0; i < count(b); ++i)
            samples[i] = step(s.forward, samples[i]);
        for (int i = count(b); i-- > 0;)
            samples[i] = step(s.backward, samples[i]);
    }
    return line;
}

TEST(GaussianBlocks, MatchTheDirectFilter) {
    auto random = test_random(1);
    std::uniform_real_distribution<double> value(0, 1);
    for (const double sigma : {0.5, 1.0, 2.5, 3.0, 10.0, 57.0, 200.0})
        for (const int size : {1, 2, 3, 31, 32, 33, 64, 100, 517})
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap, Border::zero}) {
                std::vector<double> line(static_cast<std::size_t>(size));
                for (double& sample : line)
                    sample = value(random);
                const std::vector<double> got = line_in_blocks(line, sigma, border);
                const std::vector<double> want = oracle_recursive_line(line, sigma, border);
                double worst = 0;
                for (std::size_t i = 0; i < line.size(); ++i)
                    worst = std::max(worst, std::abs(got[i] - want[i]));
                EXPECT_LE(worst, 5e-7)
                    << "sigma " << sigma << " size " << size << " border " << static_cast<int>(border);
            }
}

TEST(GaussianBlocks, SegmentsCoverTheLine) {
    for (const int size : {1, 32, 33, 64, 65, 512, 513, 545, 1040, 3840, 65536}) {
        const cuda::LineFilter filter =
            cuda::make_line_filter(recursive_gaussian(150), size, Border::replicate);
        ASSERT_LE(filter.segments, cuda::kLineSegments);
        EXPECT_EQ(filter.segment_begin(0), 0);
        EXPECT_EQ(filter.segment_begin(filter.segments), filter.blocks - 1);
        for (int i = 0; i < filter.segments; ++i)
            EXPECT_GT(filter.segment_begin(i + 1), filter.segment_begin(i)) << size;
        for (int i = 1; i < filter.segments; ++i)
            EXPECT_EQ(filter.segment_begin(i + 1) - filter.segment_begin(i), filter.segment_blocks) << size;
        for (int i = filter.segments; i <= cuda::kLineSegments; ++i)
            EXPECT_EQ(filter.segment_begin(i), filter.blocks - 1) << size;
        for (std::size_t unit = 0; unit < 3; ++unit) {
            State start{};
            start[unit] = 1;
            State by_blocks = start;
            for (int i = 0; i < filter.blocks; ++i)
                by_blocks = applied(filter.power[i + 1 == filter.blocks ? 1 : 0], by_blocks, {});
            State by_segments = applied(filter.first_segment, start, {});
            for (int power = 0; power < cuda::kSegmentPowers; ++power)
                if ((std::max(filter.segments - 1, 0) >> power) % 2 != 0)
                    by_segments = applied(filter.segment[power], by_segments, {});
            by_segments = applied(filter.power[1], by_segments, {});
            for (std::size_t c = 0; c < 3; ++c) {
                EXPECT_NEAR(by_segments[c], filter.line.m[c][unit], 1e-8) << size;
                EXPECT_NEAR(by_blocks[c], filter.line.m[c][unit], 1e-8) << size;
            }
        }
    }
}

TEST(GaussianBlocks, KeepAConstant) {
    for (const double sigma : {0.5, 2.0, 30.0, 200.0})
        for (const int size : {1, 33, 1000})
            for (const Border border : {Border::replicate, Border::reflect, Border::wrap})
                for (const double sample :
                     line_in_blocks(std::vector<double>(static_cast<std::size_t>(size), 0.75), sigma, border))
                    ASSERT_NEAR(sample, 0.75, 3e-7)
                        << sigma << " " << size << " " << static_cast<int>(border);
}

} // namespace specklescope::test::gaussian_blocks_test
