// Sums over values of a part of a region, with every instruction set, compared with long double.
#include "pipeline/regions/region_sums.hpp"

#include "tests/support/instruction_sets.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace specklescope::region_sums_test {

class RegionSumsTest : public test::EveryInstructionSet {};

/// Every length around the vector length, so that every lane is the last one once.
TEST_P(RegionSumsTest, MatchLongDoubleForEveryLength) {
    std::mt19937_64 random = test::test_random(0x4E69);
    std::normal_distribution<double> value(3, 1);
    for (std::size_t count = 0; count < 150; ++count) {
        SCOPED_TRACE(count);
        std::vector<float> values(count), valid;
        std::size_t infinite = 0;
        long double inverses = 0, sum = 0, squares = 0;
        for (float& v : values) {
            const auto kind = random() % 9;
            v = static_cast<float>(kind == 0   ? NAN
                                   : kind == 1 ? INFINITY
                                   : kind == 2 ? -INFINITY
                                               : std::abs(value(random)) + 0.1);
            infinite += std::isinf(v) ? 1 : 0;
            if (std::isfinite(v)) {
                valid.push_back(v);
                sum += v;
                inverses += 1 / static_cast<long double>(v);
            }
        }
        const RegionSums sums = sums_of(values.data(), count, true);
        EXPECT_EQ(sums.valid, valid.size());
        EXPECT_EQ(sums.infinite, infinite);
        EXPECT_EQ(sums.undefined, count - infinite - valid.size());
        EXPECT_EQ(sums.saturated, 0U);
        EXPECT_NEAR(sums.inverses, static_cast<double>(inverses), 1e-6 * static_cast<double>(inverses));
        EXPECT_EQ(sums_of(values.data(), count, false).inverses, 0.0);
        if (valid.empty())
            continue;
        const long double mean = sum / static_cast<long double>(valid.size());
        for (const float v : valid)
            squares += (v - mean) * (v - mean);
        EXPECT_EQ(sums.min, *std::min_element(valid.begin(), valid.end()));
        EXPECT_EQ(sums.max, *std::max_element(valid.begin(), valid.end()));
        EXPECT_NEAR(sums.mean, static_cast<double>(mean), 1e-12);
        EXPECT_NEAR(sums.squares, static_cast<double>(squares), 1e-12 * static_cast<double>(squares) + 1e-24);
    }
}

INSTANTIATE_TEST_SUITE_P(, RegionSumsTest, test::instruction_sets(), test::instruction_set_name);

} // namespace specklescope::region_sums_test
