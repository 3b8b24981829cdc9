#include "bench/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

namespace specklescope::bench {

namespace {

/// Stages that are not listed are measured with their defaults.
const std::map<std::string_view, std::vector<std::string>>& variants() {
    static const std::map<std::string_view, std::vector<std::string>> table = {
        {"speckle", {"radius=2", "radius=3", "radius=7", "radius=15"}},
        {"gaussian",
         {"method=binomial5", "method=direct,sigma=1", "method=direct,sigma=10", "method=recursive,sigma=10",
          "method=recursive,sigma=100", "method=fft,sigma=10"}},
        {"convolve", {"kernel=disk,radius=15", "kernel=disk,radius=127"}},
        {"equalize", {"bins=256", "bins=4096"}},
        {"average", {"frames=25", "kind=exponential"}},
        {"sum", {"frames=8", "frames=1+2+4+8"}},
        {"flow", {"input=contrast2"}},
        {"mesi", {"input=contrast2", "input=contrast2,fit=noise,beta=0.5"}},
        {"temporal", {"frames=25"}},
        {"spatiotemporal", {"frames=25"}},
        {"background", {"black=100,dark=none"}},
        {"downsample", {"factor=2"}},
        {"rotate90", {"turns=1"}},
        {"flip", {"direction=horizontal"}},
        {"crop", {"x=16,y=16"}},
    };
    return table;
}

constexpr std::array<std::pair<int, int>, 4> kSizes = {
    {{1392, 1040}, {1920, 1080}, {3840, 2160}, {7680, 4320}}};

void add_cases(const StageType& stage, const std::string& work, std::vector<KernelCase>& cases) {
    for (const auto& [width, height] : kSizes) {
        for (const PixelType type : stage.types)
            cases.push_back({work, {width, height, 1, type}});
        if (std::find(stage.channels.begin(), stage.channels.end(), 3) != stage.channels.end())
            cases.push_back({work, {width, height, 3, PixelType::u8}});
    }
}

/// Quantiles of the exponential distribution, in steps of 2⁻¹⁴: a look-up instead of a logarithm per pixel.
const std::vector<std::uint16_t>& intensities() {
    static const std::vector<std::uint16_t> table = [] {
        constexpr int kSteps = 1 << 14;
        constexpr double kMean = 400; // one sample in 28 000 is at full scale
        std::vector<std::uint16_t> values(kSteps);
        for (int i = 0; i < kSteps; ++i)
            values[static_cast<std::size_t>(i)] =
                static_cast<std::uint16_t>(std::min(4095.0, -kMean * std::log(1 - (i + 0.5) / kSteps)));
        return values;
    }();
    return table;
}

void fill(const Frame& frame, std::mt19937_64& random) {
    const Shape& shape = frame.shape();
    const std::vector<std::uint16_t>& table = intensities();
    for (int y = 0; y < shape.height; ++y)
        dispatch(shape.type, [&](auto zero) {
            using T = decltype(zero);
            T* row = frame.host().as<T>().row(y);
            std::uint64_t bits = 0;
            for (int x = 0; x < shape.width * shape.channels; ++x) {
                bits = x % 4 == 0 ? random() : bits >> 16;
                const unsigned value = table[bits & 0x3fff];
                row[x] = static_cast<T>(sizeof(T) == 1 ? value >> 4 : value);
            }
        });
    frame.info().full_scale = shape.type == PixelType::u16 ? 4095 : 0;
}

constexpr int kExposures = 8;

bool takes_several(const KernelCase& work) {
    return find_stage(work.work.substr(0, work.work.find(':'))).exposures == Exposures::takes_several;
}

/// K² of tissue with 85 % dynamic light and noise of 0.2 %, at 0.25, 0.5, … 32 ms in turn (Parthasarathy
/// 2008).
void fill_exposures(const std::vector<Frame>& frames, std::mt19937_64& random) {
    const auto mixed = [](double x) { return (std::expm1(-x) + x) / (x * x); };
    std::uniform_real_distribution<float> noise(-0.0035F, 0.0035F);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const ImageView<Space::host>& image = frames[i].host();
        const double exposure = std::ldexp(0.25, static_cast<int>(i % kExposures));
        frames[i].info().exposure_ms = exposure;
        std::vector<float> row(static_cast<std::size_t>(image.shape.width));
        for (std::size_t x = 0; x < row.size(); ++x) {
            const double t =
                exposure / (0.4 + 3.6 * static_cast<double>(x) / static_cast<double>(row.size()));
            row[x] = static_cast<float>(0.5 * (2 * 0.7225 * mixed(2 * t) + 0.51 * mixed(t) + 0.0225));
        }
        for (int y = 0; y < image.shape.height; ++y)
            for (std::size_t x = 0; x < row.size(); ++x)
                image.as<float>().row(y)[x] = row[x] + noise(random);
    }
}

std::vector<Frame> frames(const Shape& shape, int count, const std::shared_ptr<SlotMemory>& memory) {
    FrameRing ring(shape, count, memory);
    std::vector<Frame> all;
    while (Frame frame = ring.try_acquire())
        all.push_back(std::move(frame));
    return all;
}

std::vector<KernelCase> cases_of(const std::string& work, const std::vector<std::pair<int, int>>& sizes,
                                 int channels, PixelType type) {
    std::vector<KernelCase> cases;
    cases.reserve(sizes.size());
    for (const auto& [width, height] : sizes)
        cases.push_back({work, {width, height, channels, type}});
    return cases;
}

/// A square RGB image in f32 and a Gaussian with a side of `kernel` (odd) pixels.
KernelCase large_kernel(int side, int kernel) {
    const std::string size = std::to_string(kernel);
    return {"convolve:kernel=gaussian,sigma=" + std::to_string((kernel + 7) / 8) + ",size=" + size,
            {side, side, 3, PixelType::f32}};
}

} // namespace

std::vector<KernelCase> kernel_cases(std::string_view filter) {
    std::vector<KernelCase> cases;
    for (const StageType& stage : stage_types()) {
        const auto found = variants().find(stage.name);
        if (found == variants().end())
            add_cases(stage, std::string(stage.name), cases);
        else
            for (const std::string& variant : found->second)
                add_cases(stage, std::string(stage.name) + ":" + variant, cases);
    }
    std::erase_if(cases, [&](const KernelCase& c) { return c.name().find(filter) == std::string::npos; });
    return cases;
}

std::vector<KernelCase> simd_cases(std::string_view filter) {
    const Shape camera{1392, 1040, 1, PixelType::u16};
    const Shape rgb{3840, 2160, 3, PixelType::u8};
    std::vector<KernelCase> cases = {{"speckle:radius=2", camera},
                                     {"speckle:radius=3", camera},
                                     {"speckle:radius=7", camera},
                                     {"gaussian:method=binomial5", rgb},
                                     {"gaussian:sigma=10", rgb},
                                     {"equalize:bins=256", rgb},
                                     {"convolve:kernel=disk,radius=127", {1024, 1024, 1, PixelType::f32}}};
    std::erase_if(cases, [&](const KernelCase& c) { return c.name().find(filter) == std::string::npos; });
    return cases;
}

std::vector<KernelCase> published_cases(std::string_view filter) {
    std::vector<KernelCase> all;
    const auto add = [&](const std::vector<KernelCase>& cases) {
        all.insert(all.end(), cases.begin(), cases.end());
    };
    add(cases_of("speckle:radius=2", {{1392, 1040}}, 1, PixelType::u8));
    add(cases_of("speckle:radius=2", {{1392, 1040}, {3840, 2160}}, 1, PixelType::u16));
    add(cases_of("gaussian:method=recursive,sigma=10", {{1920, 1440}, {3840, 2160}}, 1, PixelType::f32));
    add({large_kernel(2376, 2375), large_kernel(2831, 2831), large_kernel(4750, 4751),
         large_kernel(5661, 5661)});
    add(cases_of("gaussian:method=binomial5", {{640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}}, 3,
                 PixelType::f32));
    add(cases_of("equalize:bins=256", {{961, 640}, {3840, 2160}}, 3, PixelType::u8));
    if (std::string_view("published").find(filter) == std::string_view::npos)
        std::erase_if(all, [&](const KernelCase& c) { return c.name().find(filter) == std::string::npos; });
    return all;
}

std::vector<Frame> speckle_frames(const Shape& shape, int count, const std::shared_ptr<SlotMemory>& memory) {
    static std::mt19937_64 random(std::random_device{}());
    std::vector<Frame> all = frames(shape, count, memory);
    for (const Frame& frame : all)
        fill(frame, random);
    return all;
}

std::vector<Frame> speckle_frames(const KernelCase& work, int count,
                                  const std::shared_ptr<SlotMemory>& memory) {
    if (!takes_several(work))
        return speckle_frames(work.shape, count, memory);
    static std::mt19937_64 random(std::random_device{}());
    std::vector<Frame> all = frames(work.shape, count, memory);
    fill_exposures(all, random);
    return all;
}

int least_frames(const KernelCase& work) { return takes_several(work) ? kExposures : 1; }

std::vector<Frame> poisoned_frames(const Shape& shape, int count, std::byte poison) {
    std::vector<Frame> all = frames(shape, count, host_memory());
    for (const Frame& frame : all)
        std::memset(frame.host().data, static_cast<int>(poison),
                    frame.host().pitch * static_cast<std::size_t>(shape.height));
    return all;
}

int rotation(const Shape& input, const Shape& output) {
    constexpr std::size_t kBeyondCaches = std::size_t{256} << 20;
    return static_cast<int>(std::clamp<std::size_t>(kBeyondCaches / (input.bytes() + output.bytes()), 2, 16));
}

} // namespace specklescope::bench
