// Error of the recursive Gaussian compared with a true one: runs the host's stage on an f32 impulse and step
// and writes the table into docs/gaussian.md, between its two markers.
//   gaussian_errors docs/gaussian.md
#include "stages/gaussian/gaussian.hpp"
#include "tests/support/random.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace specklescope::test {
namespace {

TestImage<float> blur(const TestImage<float>& image, double sigma) {
    Params params(*find_stage("gaussian").table);
    params.set("method", std::string("recursive"));
    params.set("sigma", sigma);
    const std::unique_ptr<HostStage> stage = find_stage("gaussian").make_host(params);
    stage->prepare(image.shape());
    TestImage<float> output(image.shape().width, image.shape().height);
    const FrameInfo info;
    PixelCounts counts;
    stage->run(image.view(), output.view(), {info, counts});
    return output;
}

/// Samples of exp(−i²/2σ²) at −reach … reach, sum 1.
std::vector<double> true_gaussian(double sigma, int reach) {
    GaussianParams params;
    params.sigma = sigma;
    params.method = GaussianParams::Method::direct;
    params.radius = reach;
    return gaussian_taps(params);
}

struct Errors {
    double impulse = 0; ///< largest, relative to the true peak
    double peak = 0;    ///< at the centre, likewise
    double step = 0;    ///< largest, relative to the step
    double width = 0;   ///< root of the response's second moment along an axis, px
};

Errors measure(double sigma) {
    const int reach = static_cast<int>(std::ceil(7 * sigma)) + 32;
    const int side = 2 * reach + 1;
    const std::vector<double> truth = true_gaussian(sigma, reach);
    const auto at = [&](int i) { return truth[static_cast<std::size_t>(i)]; };
    Errors errors;
    TestImage<float> impulse(side, side);
    impulse.at(reach, reach) = 1;
    const TestImage<float> response = blur(impulse, sigma);
    const double peak = at(reach) * at(reach);
    double sum = 0;
    double moment = 0;
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
            const double value = response.at(x, y);
            errors.impulse = std::max(errors.impulse, std::abs(value - at(x) * at(y)) / peak);
            sum += value;
            moment += value * (x - reach) * (x - reach);
        }
    errors.peak = (response.at(reach, reach) - peak) / peak;
    errors.width = std::sqrt(moment / sum);
    TestImage<float> step(side, 64);
    for (int y = 0; y < 64; ++y)
        for (int x = reach; x < side; ++x)
            step.at(x, y) = 1;
    const TestImage<float> edge = blur(step, sigma);
    double expected = 0;
    for (int x = 0; x < side; ++x) {
        expected += at(x);
        errors.step = std::max(errors.step, std::abs(edge.at(x, 32) - expected));
    }
    return errors;
}

std::string table() {
    std::ostringstream text;
    text << "| sigma, px | impulse: largest error, of the true peak | at the peak | step: largest error, of "
            "the "
            "step | width of the response, px |\n|---|---|---|---|---|\n";
    for (const double sigma : {0.5, 1.0, 2.0, 2.5, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0}) {
        const Errors errors = measure(sigma);
        char line[160];
        std::snprintf(line, sizeof line, "| %g | %.1f %% | %+.1f %% | %.2f %% | %.2f |\n", sigma,
                      100 * errors.impulse, 100 * errors.peak, 100 * errors.step, errors.width);
        text << line;
    }
    return text.str();
}

/// Replaces the text between the markers; false if they are missing.
bool put_table(const std::string& path) {
    const std::string begin = "<!-- gaussian_errors -->\n";
    const std::string end = "<!-- /gaussian_errors -->";
    std::stringstream page;
    page << std::ifstream(path).rdbuf();
    std::string text = page.str();
    const std::size_t from = text.find(begin);
    const std::size_t to = text.find(end);
    if (from == std::string::npos || to == std::string::npos)
        return false;
    text.replace(from + begin.size(), to - from - begin.size(), table());
    return static_cast<bool>(std::ofstream(path) << text);
}

} // namespace
} // namespace specklescope::test

int main(int argc, char** argv) {
    if (argc == 1) {
        std::cout << specklescope::test::table();
        return 0;
    }
    if (specklescope::test::put_table(argv[1]))
        return 0;
    std::cerr << argv[1] << " has no place for the table, or cannot be written.\n";
    return 1;
}
