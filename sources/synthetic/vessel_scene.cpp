#include "sources/synthetic/synthetic_source.hpp"

#include "base/long_work.hpp"
#include "base/parallel.hpp"
#include "sources/synthetic/speckle_field.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace specklescope {

namespace {

constexpr double kPi = std::numbers::pi;

constexpr double kVesselRate = 9000; ///< 1/s on the axis of the widest vessel: τc 0.11 ms
constexpr double kWidest = 17;       ///< radius in pixels if the shorter side is 1024
constexpr double kThinnest = 0.9;

/// Sequential random numbers for drawing.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : seed_(seed) {}
    double unit() { return random_unit(seed_, count_++); }
    double between(double low, double high) { return low + (high - low) * unit(); }
    double normal() { return static_cast<double>(random_normal(seed_, count_++)); }
    double sign() { return unit() < 0.5 ? -1.0 : 1.0; }

private:
    std::uint64_t seed_;
    std::uint64_t count_ = 0;
};

/// The growing tip of a vessel; lengths in drawing units (the shorter side is 1024).
struct Tip {
    double x = 0, y = 0, angle = 0, radius = 0;
    bool artery = false;
    int generation = 0;
};

class Drawing {
public:
    Drawing(SceneMaps& maps, std::uint64_t seed)
        : maps_(maps), dice_(seed), scale_(std::min(maps.width, maps.height) / 1024.0),
          wide_(maps.width / scale_), high_(maps.height / scale_) {}

    void draw() {
        // Two veins drain to the lower border; arteries enter from above and from the side, as on a rat's
        // cortex.
        grow({wide_ * dice_.between(0.20, 0.34), high_ + 20, -kPi / 2 + dice_.between(0.0, 0.35), kWidest,
              false, 0});
        grow({wide_ + 20, high_ * dice_.between(0.62, 0.8), kPi + dice_.between(0.05, 0.4), 0.72 * kWidest,
              false, 0});
        grow({wide_ * dice_.between(0.60, 0.78), -20, kPi / 2 + dice_.between(-0.1, 0.45), 0.68 * kWidest,
              true, 0});
        grow({-20, high_ * dice_.between(0.22, 0.4), dice_.between(-0.25, 0.3), 0.52 * kWidest, true, 0});
        for (int i = 0; i < 3; ++i) // small ones from the rim
            grow({dice_.between(0.1, 0.9) * wide_, i == 0 ? high_ + 20 : -20.0,
                  (i == 0 ? -kPi / 2 : kPi / 2) + dice_.between(-0.4, 0.4), dice_.between(3.0, 5.0), i == 1,
                  2});
        while (!tips_.empty()) { // the widest first: thin vessels end at wide ones, not the reverse
            const auto widest = std::max_element(
                tips_.begin(), tips_.end(), [](const Tip& a, const Tip& b) { return a.radius < b.radius; });
            const Tip tip = *widest;
            tips_.erase(widest);
            follow(tip);
        }
    }

private:
    void grow(const Tip& tip) { tips_.push_back(tip); }

    double next_fork(double radius) { return dice_.between(9, 20) * radius + dice_.between(14, 36); }

    /// Draws from the tip until the vessel leaves the image, meets another or is too thin.
    void follow(Tip tip) {
        double curvature = 0;
        double to_fork = next_fork(tip.radius);
        double way = 0;
        double side = dice_.sign();
        double home = tip.angle; // vessels meander around their initial direction
        while (tip.radius > kThinnest && inside(tip) && way < 1600) {
            work_goes_on("drawing the simulated vessels");
            const double step = std::max(0.6, 0.22 * tip.radius);
            const double wander = 0.055 / std::sqrt(tip.radius + 2.0);
            curvature += -0.06 * curvature * step + wander * 0.10 * std::sqrt(step) * dice_.normal();
            tip.angle += curvature * step - 0.004 * std::sin(tip.angle - home) * step;
            tip.x += std::cos(tip.angle) * step;
            tip.y += std::sin(tip.angle) * step;
            tip.radius *= 1 - step / (1500 + 30 * tip.radius);
            way += step;
            if (way > 5 * tip.radius + 18 && tip.generation > 0 && blocked(tip))
                return;
            stamp(tip);
            to_fork -= step;
            if (to_fork < 0) {
                home = fork(tip, side);
                side = dice_.unit() < 0.75 ? -side : side;
                to_fork = next_fork(tip.radius);
            }
        }
    }

    /// Adds a branch on one side; returns the new direction of the main vessel.
    double fork(Tip& tip, double side) {
        const double share =
            dice_.unit() < 0.25 ? dice_.between(0.35, 0.5) : dice_.between(0.06, 0.3); // of r³
        Tip branch = tip;
        branch.radius = tip.radius * std::cbrt(share);
        branch.generation = tip.generation + 1;
        branch.angle += side * (dice_.between(0.55, 1.15) - 0.35 * share);
        tip.radius *= std::cbrt(1 - share);
        tip.angle -= side * 0.45 * share;
        if (branch.radius > kThinnest)
            grow(branch);
        return tip.angle;
    }

    bool inside(const Tip& tip) const {
        return tip.x > -60 && tip.y > -60 && tip.x < wide_ + 60 && tip.y < high_ + 60;
    }

    /// True if a vessel that is at least as fast is just ahead; wide vessels pass over it instead.
    bool blocked(const Tip& tip) const {
        const double ahead = tip.radius + 3;
        const int x = static_cast<int>((tip.x + std::cos(tip.angle) * ahead) * scale_);
        const int y = static_cast<int>((tip.y + std::sin(tip.angle) * ahead) * scale_);
        if (tip.radius > 2.6 || x < 0 || y < 0 || x >= maps_.width || y >= maps_.height)
            return false;
        return maps_.flow[index(x, y)] > 0.35 * axis_rate(tip);
    }

    static double axis_rate(const Tip& tip) {
        return kVesselRate * std::pow(tip.radius / kWidest, 0.62) * (tip.artery ? 1.15 : 1.0);
    }

    std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(maps_.width) +
               static_cast<std::size_t>(x);
    }

    /// Draws a disc of the vessel's cross-section: parabolic, faster where vessels overlap.
    void stamp(const Tip& tip) {
        const double radius = std::max(tip.radius * scale_, 0.7);
        const double cx = tip.x * scale_;
        const double cy = tip.y * scale_;
        const auto rate = axis_rate(tip);
        const int x1 = std::min(maps_.width - 1, static_cast<int>(std::ceil(cx + radius)));
        const int y1 = std::min(maps_.height - 1, static_cast<int>(std::ceil(cy + radius)));
        for (int y = std::max(0, static_cast<int>(cy - radius)); y <= y1; ++y)
            for (int x = std::max(0, static_cast<int>(cx - radius)); x <= x1; ++x) {
                const double d2 = ((x - cx) * (x - cx) + (y - cy) * (y - cy)) / (radius * radius);
                if (d2 >= 1)
                    continue;
                const auto value = static_cast<float>(rate * std::pow(1 - d2, 0.8));
                if (value <= maps_.flow[index(x, y)])
                    continue;
                maps_.flow[index(x, y)] = value;
                maps_.pulse[index(x, y)] = tip.artery ? 0.5F : 0.22F;
                // Deeper vessels absorb more.
                const auto dark =
                    static_cast<float>(1 - 0.30 * std::min(1.0, radius / (kWidest * scale_)) * (1 - d2));
                maps_.brightness[index(x, y)] = std::min(maps_.brightness[index(x, y)], dark);
            }
    }

    SceneMaps& maps_;
    Dice dice_;
    double scale_, wide_, high_;
    std::vector<Tip> tips_;
};

SceneMaps empty_maps(int width, int height) {
    SceneMaps maps;
    maps.width = width;
    maps.height = height;
    const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    for (auto* map : {&maps.still, &maps.flow, &maps.pulse, &maps.brightness}) {
        fill_up(*map, pixels, map == &maps.brightness ? 1.0F : 0.0F, "making room for the simulated scene");
    }
    return maps;
}

void for_rows(int height, const auto& each) {
    const int slots = parallel_threads();
    const int bands = band_count(height, slots, 16);
    for_bands(height, bands, slots, [&](Band rows, int) {
        for (int y = rows.begin; y < rows.end; ++y) {
            work_goes_on("drawing the simulated vessels", static_cast<double>(y) / height);
            each(y);
        }
    });
}

/// [1 2 1]/4 along both axes: light spreads in tissue, so that edges are not sharp.
void soften(std::vector<float>& map, int width, int height) {
    const std::vector<float> from = map;
    const auto at = [&](int x, int y) {
        x = std::clamp(x, 0, width - 1);
        y = std::clamp(y, 0, height - 1);
        return from[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                    static_cast<std::size_t>(x)];
    };
    for_rows(height, [&](int y) {
        for (int x = 0; x < width; ++x) {
            const auto column = [&](int i) { return at(i, y - 1) + 2 * at(i, y) + at(i, y + 1); };
            map[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
                (column(x - 1) + 2 * column(x) + column(x + 1)) / 16;
        }
    });
}

/// Slow variation of the tissue's perfusion: a sum of a few waves, about ±1.
double tissue_wave(double u, double v) {
    return 0.45 * std::sin(5.1 * u + 2.3 * v + 0.4) + 0.35 * std::sin(-3.7 * u + 6.9 * v + 2.0) +
           0.2 * std::sin(12.7 * u + 9.1 * v + 1.1);
}

} // namespace

SceneMaps vessel_scene(int width, int height, std::uint64_t seed) {
    SceneMaps maps = empty_maps(width, height);
    Drawing(maps, random_bits(seed, 77)).draw();
    for (auto* map : {&maps.flow, &maps.pulse, &maps.brightness})
        soften(*map, width, height);
    for_rows(height, [&](int y) {
        for (int x = 0; x < width; ++x) {
            const std::size_t i =
                static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
            const double u = (x + 0.5) / width;
            const double v = (y + 0.5) / height;
            maps.still[i] = static_cast<float>(kTissueRate * (1 + 0.25 * tissue_wave(u, v)));
            // A laser beam expanded to fill the image.
            const double r2 = (u - 0.48) * (u - 0.48) + (v - 0.53) * (v - 0.53);
            maps.brightness[i] *= static_cast<float>(0.45 + 0.55 * std::exp(-1.6 * r2));
        }
    });
    return maps;
}

SceneMaps uniform_scene(int width, int height, double rate, double pulse) {
    SceneMaps maps = empty_maps(width, height);
    auto& map = pulse > 0 ? maps.flow : maps.still;
    std::fill(map.begin(), map.end(), static_cast<float>(rate));
    std::fill(maps.pulse.begin(), maps.pulse.end(), static_cast<float>(pulse));
    return maps;
}

SceneMaps straight_scene(int width, int height, double rate, double pulse, double vessel_px) {
    SceneMaps maps = uniform_scene(width, height, 0.1 * rate, 0);
    std::fill(maps.pulse.begin(), maps.pulse.end(), static_cast<float>(pulse));
    for_rows(height, [&](int y) {
        for (int x = 0; x < width; ++x) {
            // Vessels span 2 … 3, 6 … 7, … widths from the left border.
            const double from = std::fmod(x / vessel_px, 4.0);
            const double covered = std::min(from + 1 / vessel_px, 3.0) - std::max(from, 2.0);
            const double part = std::clamp(covered * vessel_px, 0.0, 1.0);
            maps.flow[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x)] = static_cast<float>(0.9 * rate * part);
        }
    });
    return maps;
}

double pulse_wave(double phase) {
    const auto wave = [phase](double centre, double width) {
        const double d = phase - centre - std::round(phase - centre);
        return std::exp(-0.5 * d * d / (width * width));
    };
    // Two Gaussians with area √(2π)·width, minus their mean.
    constexpr double kMean = 2.5066283 * (1.15 * 0.085 + 0.45 * 0.11);
    return 1.15 * wave(0.2, 0.085) + 0.45 * wave(0.52, 0.11) - kMean;
}

void scene_rates(const SceneMaps& scene, double phase, std::vector<float>& rates) {
    fill_up(rates, scene.still.size(), 0.0F, "exposing the simulated scene");
    const auto wave = static_cast<float>(pulse_wave(phase));
    constexpr std::size_t kLook = std::size_t{1} << 20;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        if (i % kLook == 0)
            work_goes_on("exposing the simulated scene");
        rates[i] = scene.still[i] + scene.flow[i] * (1 + scene.pulse[i] * wave);
    }
}

} // namespace specklescope
