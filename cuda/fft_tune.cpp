#include "cuda/fft_tune.hpp"

#include "cuda/convolve/convolution_launch.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

namespace specklescope::cuda {

namespace {

/// Under this many points a transform costs little more than its launches (a guess), and is not measured.
constexpr double kSmallTransform = 512 * 512;
/// Candidates of more points than this many times the fewest are not tried; a guess.
constexpr double kMostPoints = 2;

double measure(const FftShape& shape) {
    const FftPlan forward(shape, CUFFT_R2C);
    const FftPlan backward(shape, CUFFT_C2R);
    const Buffer data(shape.bytes(), device_memory());
    const Buffer work(std::max<std::size_t>(1, std::max(forward.work_bytes(), backward.work_bytes())),
                      device_memory());
    forward.set_work_area(work.as<void>());
    backward.set_work_area(work.as<void>());
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // frames still in flight would be measured too
    const Stream stream;
    const Event start;
    const Event end;
    check(cudaMemsetAsync(data.as<void>(), 0, shape.bytes(), stream.get()), "cudaMemsetAsync");
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 4; ++i) { // the first warms up
        start.record(stream);
        forward.forward(data.as<void>(), stream.get());
        multiply(shape, data.as<float2>(), data.as<float2>(), 1, stream.get());
        backward.backward(data.as<void>(), stream.get());
        end.record(stream);
        end.synchronize();
        if (i > 0)
            least = std::min(least, end.ms_since(start));
    }
    return least;
}

/// Milliseconds of a forward transform, a product and a backward transform on the current device: the least
/// of three, measured once for the process; infinite where there is no memory to measure in.
double measured_ms(const FftShape& shape) {
    static std::mutex mutex;
    static std::map<std::tuple<int, int, int, int>, double> known;
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    const std::tuple key{device, shape.width, shape.height, shape.batch};
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(key); found != known.end())
        return found->second;
    double ms = std::numeric_limits<double>::infinity();
    try {
        ms = measure(shape);
    } catch (const RunError&) { // no room now: no reason never to ask again
        return ms;
    }
    known.emplace(key, ms);
    return ms;
}

} // namespace

ConvolutionGeometry tuned(const ConvolutionGeometry& geometry, int batch, std::size_t bytes) {
    const double points = static_cast<double>(geometry.x.fft) * geometry.y.fft;
    if (points * geometry.tiles() < kSmallTransform)
        return geometry;
    const std::vector<int> widths = candidate_sizes(geometry.x, geometry.border);
    const std::vector<int> heights = candidate_sizes(geometry.y, geometry.border);
    const double fewest = static_cast<double>(widths.front()) * heights.front();
    double least = std::numeric_limits<double>::infinity();
    if (!geometry.whole())
        least = geometry.tiles() * measured_ms({geometry.x.fft, geometry.y.fft, batch});
    ConvolutionGeometry best = geometry;
    for (const int width : widths)
        for (const int height : heights) {
            const FftShape shape{width, height, batch};
            if (static_cast<double>(width) * height > kMostPoints * fewest || shape.bytes() > bytes ||
                !shape.possible())
                continue;
            if (const double ms = measured_ms(shape); ms < least) {
                least = ms;
                best.x = whole_axis(geometry.x, width, geometry.border);
                best.y = whole_axis(geometry.y, height, geometry.border);
            }
        }
    return best;
}

} // namespace specklescope::cuda
