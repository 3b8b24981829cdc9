// Plans of the transforms in shared memory, executed on the host.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "cuda/convolve/fft_line.hpp"
#include "tests/support/random.hpp"

#include <complex>
#include <numbers>
#include <set>

namespace specklescope::test::fft_line_test {

using Complex = std::complex<double>;

Complex root(double turns) { return std::polar(1.0, -2 * std::numbers::pi * turns); }

/// The passes by definition, in float64: butterflies of pass p over points m apart, then twiddles for their
/// place in the block.
std::vector<Complex> forward(const cuda::LinePlan& plan, std::vector<Complex> x) {
    for (int p = 0; p < plan.passes; ++p) {
        const cuda::LinePass& pass = plan.pass[p];
        for (int t = 0; t < pass.butterflies; ++t) {
            const int block = t / pass.m;
            const int offset = t % pass.m;
            const auto at = [&](int k) -> Complex& {
                return x[static_cast<std::size_t>(block * pass.m * pass.radix + offset + k * pass.m)];
            };
            std::vector<Complex> result(static_cast<std::size_t>(pass.radix));
            for (int k = 0; k < pass.radix; ++k) {
                for (int j = 0; j < pass.radix; ++j)
                    result[static_cast<std::size_t>(k)] +=
                        at(j) * root(static_cast<double>(j) * k / pass.radix);
                result[static_cast<std::size_t>(k)] *=
                    root(static_cast<double>(offset) * k / (pass.radix * pass.m));
            }
            for (int k = 0; k < pass.radix; ++k)
                at(k) = result[static_cast<std::size_t>(k)];
        }
    }
    return x;
}

constexpr int kSizes[] = {1,  2,  3,  4,  5,  6,   7,   8,   9,   10,  12,  14,  15,
                          16, 18, 49, 63, 96, 125, 256, 343, 360, 405, 480, 512, 686};

TEST(FftLine, PassesMatchTheTransformInTheStatedOrder) {
    auto random = test_random(71);
    std::uniform_real_distribution<double> value(-1, 1);
    for (const int n : kSizes) {
        const cuda::LinePlan plan = cuda::line_plan(n);
        const std::vector<std::uint16_t> order = cuda::line_order(plan);
        std::vector<Complex> x(static_cast<std::size_t>(n));
        for (Complex& point : x)
            point = {value(random), value(random)};
        const std::vector<Complex> got = forward(plan, x);
        for (int f = 0; f < n; ++f) {
            Complex sum = 0;
            for (int j = 0; j < n; ++j)
                sum += x[static_cast<std::size_t>(j)] * root(static_cast<double>(f) * j / n);
            ASSERT_LT(std::abs(got[order[static_cast<std::size_t>(f)]] - sum), 1e-9)
                << n << " frequency " << f;
        }
    }
}

TEST(FftLine, EveryPointHasItsOwnPlaceAndButterfliesAreEvenlySpaced) {
    for (const int n :
         {2, 30, 512, 735, 1120, 2048, 2240, 2304, 4096, 4608, 4800, 5000, 9600, 15552, 32768 - 368}) {
        const cuda::LinePlan plan = cuda::line_plan(n);
        std::set<int> places;
        for (int i = 0; i < n; ++i)
            places.insert(plan.place(i));
        EXPECT_EQ(static_cast<int>(places.size()), n);
        EXPECT_EQ(*places.rbegin(), plan.room() - 1);
        EXPECT_LE(plan.room(), n + n / 4);
        int product = 1;
        for (int p = 0; p < plan.passes; ++p) {
            const cuda::LinePass& pass = plan.pass[p];
            product *= pass.radix;
            ASSERT_EQ(pass.butterflies * pass.radix, n);
            for (int t = 0; t < pass.butterflies; ++t) {
                if (pass.m > 1) {
                    ASSERT_EQ(cuda::divided(t, pass.reciprocal), t / pass.m);
                }
                const int base = t / pass.m * pass.m * pass.radix + t % pass.m;
                for (int k = 0; k < pass.radix; ++k)
                    ASSERT_EQ(plan.place(base + k * pass.m), plan.place(base) + k * pass.stride)
                        << n << " pass " << p << " butterfly " << t;
            }
        }
        EXPECT_EQ(product, n);
    }
}

TEST(FftLine, RootsAreRoundedOnce) {
    const std::vector<float> roots = cuda::line_roots(2240);
    for (std::size_t j = 0; j < 2240; ++j) {
        const Complex truth = root(static_cast<double>(j) / 2240);
        EXPECT_NEAR(static_cast<double>(roots[2 * j]), truth.real(), 6e-8);
        EXPECT_NEAR(static_cast<double>(roots[2 * j + 1]), truth.imag(), 6e-8);
    }
}

TEST(FftLine, OtherLengthsAreRefused) {
    for (const int n : {0, -4, 11, 26, 2 * 4099, cuda::kLongestLine + 1})
        EXPECT_THROW(static_cast<void>(cuda::line_plan(n)), UsageError) << n;
}

} // namespace specklescope::test::fft_line_test
