// The simulated scene: vessels and light compared with a second implementation of the drawing rules, and the
// properties of speckle.
#include "sources/synthetic/speckle_field.hpp"
#include "sources/synthetic/synthetic_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <numbers>

namespace specklescope::test::simulated_scene_test {

/// Lengths in units of 1/1024 of the shorter side.
struct Vessel {
    double x, y, towards, radius;
    bool artery;
    int branchings; ///< between the border and this point
};

/// Vessels enter at the borders, the widest are drawn first. Each meanders around its initial direction,
/// becomes thinner, and branches: a branch gets a part of r³ and goes to one side, the vessel keeps the rest
/// and bends to the other. Thin branches end before a vessel of similar or higher speed.
class Scene {
public:
    Scene(int width, int height, std::uint64_t seed)
        : width_(width), height_(height), seed_(random_bits(seed, 77)),
          pixels_a_unit_(std::min(width, height) / 1024.0), across_(width / pixels_a_unit_),
          down_(height / pixels_a_unit_) {
        for (std::vector<double>* map : {&flow, &pulse, &light})
            map->assign(static_cast<std::size_t>(width * height), map == &light ? 1.0 : 0.0);
        constexpr double kUp = -std::numbers::pi / 2, kDown = std::numbers::pi / 2;
        double place = between(0.20, 0.34);
        enter({across_ * place, down_ + 20, kUp + between(0, 0.35), 17, false, 0});
        place = between(0.62, 0.8);
        enter({across_ + 20, down_ * place, std::numbers::pi + between(0.05, 0.4), 0.72 * 17, false, 0});
        place = between(0.60, 0.78);
        enter({across_ * place, -20, kDown + between(-0.1, 0.45), 0.68 * 17, true, 0});
        place = between(0.22, 0.4);
        enter({-20, down_ * place, between(-0.25, 0.3), 0.52 * 17, true, 0});
        for (const bool from_below : {true, false, false}) {
            place = between(0.1, 0.9);
            const double towards = (from_below ? kUp : kDown) + between(-0.4, 0.4);
            const bool artery = !from_below && waiting_.size() == 5;
            enter({place * across_, from_below ? down_ + 20 : -20, towards, between(3, 5), artery, 2});
        }
        while (!waiting_.empty()) {
            auto widest = waiting_.begin();
            for (auto one = waiting_.begin(); one != waiting_.end(); ++one)
                widest = one->radius > widest->radius ? one : widest;
            const Vessel vessel = *widest;
            waiting_.erase(widest);
            draw(vessel);
        }
        for (std::vector<double>* map : {&flow, &pulse, &light})
            spread(*map);
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) { // a beam around a point near the centre
                const double u = (x + 0.5) / width - 0.48, v = (y + 0.5) / height - 0.53;
                light[at(x, y)] *= 0.45 + 0.55 * std::exp(-1.6 * (u * u + v * v));
            }
    }

    std::vector<double> flow, pulse, light;

private:
    double unit() { return random_unit(seed_, thrown_++); }
    double between(double low, double high) { return low + (high - low) * unit(); }
    void enter(const Vessel& vessel) { waiting_.push_back(vessel); }
    std::size_t at(int x, int y) const { return static_cast<std::size_t>(y * width_ + x); }

    double to_next_branch(double radius) {
        const double of_radius = between(9, 20);
        return of_radius * radius + between(14, 36);
    }

    static double speed(const Vessel& vessel) { // on the axis
        return 9000 * std::pow(vessel.radius / 17, 0.62) * (vessel.artery ? 1.15 : 1.0);
    }

    bool ends_at_another(const Vessel& v) const {
        const double reach = v.radius + 3;
        const auto x = static_cast<int>((v.x + std::cos(v.towards) * reach) * pixels_a_unit_);
        const auto y = static_cast<int>((v.y + std::sin(v.towards) * reach) * pixels_a_unit_);
        const bool seen = x >= 0 && y >= 0 && x < width_ && y < height_;
        return v.radius <= 2.6 && seen && flow[at(x, y)] > 0.35 * speed(v);
    }

    void draw(Vessel v) {
        double branch_in = to_next_branch(v.radius), bend = 0, come = 0, home = v.towards;
        double side = unit() < 0.5 ? -1 : 1;
        const auto here = [&] {
            return v.x > -60 && v.y > -60 && v.x < across_ + 60 && v.y < down_ + 60 && v.radius > 0.9;
        };
        while (here() && come < 1600) {
            const double step = std::max(0.6, 0.22 * v.radius);
            const double push = static_cast<double>(random_normal(seed_, thrown_++));
            bend += 0.055 / std::sqrt(v.radius + 2.0) * 0.10 * std::sqrt(step) * push - 0.06 * bend * step;
            v.towards += bend * step - 0.004 * std::sin(v.towards - home) * step;
            v.x += step * std::cos(v.towards);
            v.y += step * std::sin(v.towards);
            v.radius -= v.radius * step / (1500 + 30 * v.radius);
            come += step;
            if (v.branchings > 0 && come > 5 * v.radius + 18 && ends_at_another(v))
                return;
            fill(v);
            branch_in -= step;
            if (branch_in >= 0)
                continue;
            const bool large = unit() < 0.25;
            const double part = large ? between(0.35, 0.5) : between(0.06, 0.3);
            Vessel branch = v;
            branch.radius *= std::cbrt(part); // Murray: both r³ add up to the previous one
            branch.branchings += 1;
            branch.towards += side * (between(0.55, 1.15) - 0.35 * part);
            v.radius *= std::cbrt(1 - part);
            home = v.towards -= side * 0.45 * part;
            if (branch.radius > 0.9)
                enter(branch);
            if (unit() < 0.75)
                side = -side;
            branch_in = to_next_branch(v.radius);
        }
    }

    /// The parabolic profile of a round vessel seen from above; deeper is darker.
    void fill(const Vessel& v) {
        const double radius = std::max(v.radius * pixels_a_unit_, 0.7);
        for (int y = 0; y < height_; ++y) {
            const double dy = y - v.y * pixels_a_unit_;
            if (std::abs(dy) >= radius)
                continue;
            for (int x = 0; x < width_; ++x) {
                const double dx = x - v.x * pixels_a_unit_;
                const double inside = 1 - (dx * dx + dy * dy) / (radius * radius);
                if (inside <= 0)
                    continue;
                const double fast = speed(v) * std::pow(inside, 0.8);
                double& there = flow[at(x, y)];
                if (fast <= there)
                    continue;
                there = fast;
                pulse[at(x, y)] = v.artery ? 0.5 : 0.22;
                const double depth = std::min(1.0, radius / (17 * pixels_a_unit_)) * inside;
                light[at(x, y)] = std::min(light[at(x, y)], 1 - 0.30 * depth);
            }
        }
    }

    /// Spread to neighbours, ¼ ½ ¼ along either axis; beyond the border the edge is repeated.
    void spread(std::vector<double>& map) const {
        constexpr std::array<double, 3> kPart = {0.25, 0.5, 0.25};
        std::vector<double> result(map.size(), 0.0);
        for (int y = 0; y < height_; ++y)
            for (int x = 0; x < width_; ++x)
                for (int j = -1; j <= 1; ++j)
                    for (int i = -1; i <= 1; ++i)
                        result[at(x, y)] +=
                            kPart[static_cast<std::size_t>(i + 1)] * kPart[static_cast<std::size_t>(j + 1)] *
                            map[at(std::clamp(x + i, 0, width_ - 1), std::clamp(y + j, 0, height_ - 1))];
        map = std::move(result);
    }

    int width_, height_;
    std::uint64_t seed_, thrown_ = 0;
    double pixels_a_unit_, across_, down_;
    std::list<Vessel> waiting_;
};

// Rounding may move a pixel across a vessel's edge and change its neighbourhood slightly.
TEST(VesselScene, IsDrawnByItsRules) {
    for (const auto& [width, height, seed] :
         {std::array{160, 128, 0}, {150, 190, 4096}, {420, 60, 5}, {61, 300, 12}}) {
        const SceneMaps maps = vessel_scene(width, height, static_cast<std::uint64_t>(seed));
        const Scene scene(width, height, static_cast<std::uint64_t>(seed));
        std::size_t vessel = 0, flow = 0, pulse = 0, light = 0;
        for (std::size_t i = 0; i < scene.flow.size(); ++i) {
            vessel += scene.flow[i] > 1000 ? 1U : 0U;
            flow += std::abs(static_cast<double>(maps.flow[i]) - scene.flow[i]) > 1 ? 1U : 0U;
            pulse += std::abs(static_cast<double>(maps.pulse[i]) - scene.pulse[i]) > 1e-4 ? 1U : 0U;
            light += std::abs(static_cast<double>(maps.brightness[i]) - scene.light[i]) > 1e-5 ? 1U : 0U;
        }
        const std::size_t some = scene.flow.size() / 1000;
        EXPECT_GT(vessel, scene.flow.size() / 20) << width << "×" << height;
        EXPECT_LE(flow, some) << width << "×" << height;
        EXPECT_LE(pulse, some) << width << "×" << height;
        EXPECT_LE(light, some) << width << "×" << height;
    }
}

/// The taps make white noise correlate as 2^{−2d²/speckle²}, at any size.
TEST(SpeckleOptics, TheFieldHasTheCorrelationOfItsSize) {
    for (const double speckle : {1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0}) {
        const SpeckleOptics optics(speckle);
        const std::vector<float>& taps = optics.taps();
        for (std::size_t apart = 0; apart < taps.size(); ++apart) {
            double sum = 0;
            for (std::size_t i = apart; i < taps.size(); ++i)
                sum += static_cast<double>(taps[i]) * static_cast<double>(taps[i - apart]);
            const double lag = static_cast<double>(apart) / speckle;
            EXPECT_NEAR(sum, std::exp2(-2 * lag * lag), 1e-3) << speckle << " px, " << apart;
        }
    }
}

/// Averages over all shifts of a pattern are exact, so that no scene has a systematic error of its own.
TEST(SpeckleBank, PatternsHaveExactMoments) {
    const SpeckleBank bank(64, 48, SpeckleOptics(2), 5);
    const double n = static_cast<double>(bank.width()) * bank.height();
    for (int k = 0; k < SpeckleBank::kLooks; ++k) {
        double mean = 0, square = 0, cube = 0;
        for (int y = 0; y < bank.height(); ++y)
            for (int x = 0; x < bank.width(); ++x) {
                const double d = static_cast<double>(bank.looks(k, y)[x]) - 1;
                mean += d / n;
                square += d * d / n;
                cube += d * d * d / n;
            }
        const double count = std::pow(4, k);
        EXPECT_NEAR(mean, 0, 1e-4) << k;
        EXPECT_NEAR(square * count, 1, 1e-3) << k;
        EXPECT_NEAR(cube * count * count, 2, 5e-3) << k;
    }
    for (int field = 0; field < SpeckleBank::kFields; ++field) {
        double mean = 0, square = 0;
        for (int y = 0; y < bank.height(); ++y)
            for (int x = 0; x < bank.width(); ++x) {
                const double re = static_cast<double>(bank.real(field, y)[x]);
                const double im = static_cast<double>(bank.imaginary(field, y)[x]);
                mean += (re * re + im * im) / n;
                square += std::pow(re * re + im * im, 2) / n;
            }
        EXPECT_NEAR(mean, 1, 1e-4) << field;
        EXPECT_NEAR(square, 2, 5e-3) << field;
    }
}

} // namespace specklescope::test::simulated_scene_test
