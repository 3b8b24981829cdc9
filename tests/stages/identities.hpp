// Images through chains, on the host and on the device if there is one.
#pragma once

#include "config/executor.hpp"
#include "pipeline/executor.hpp"
#include "tests/support/child.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

namespace specklescope {

using test::test_random;
using test::TestImage;

inline const std::vector<std::string> kBorders = {"replicate", "reflect", "wrap", "zero"};

/// A result on the host, its samples as double.
struct Picture {
    Shape shape;
    std::vector<double> samples; ///< interleaved channels
    std::string note;            ///< of the first stage
    double at(int x, int y, int channel = 0) const {
        return samples[(static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) +
                        static_cast<std::size_t>(x)) *
                           static_cast<std::size_t>(shape.channels) +
                       static_cast<std::size_t>(channel)];
    }
};

inline Picture picture_of(ConstHostView view) {
    Picture picture{view.shape, {}, ""};
    dispatch(view.shape.type, [&](auto zero) {
        using T = decltype(zero);
        for (int y = 0; y < view.shape.height; ++y)
            for (int i = 0; i < view.shape.width * view.shape.channels; ++i)
                picture.samples.push_back(static_cast<double>(view.as<T>().row(y)[i]));
    });
    return picture;
}

/// Largest absolute difference; infinite if the shapes differ or only one is finite.
inline double apart(const Picture& a, const Picture& b) {
    if (a.shape != b.shape)
        return std::numeric_limits<double>::infinity();
    double worst = 0;
    for (std::size_t i = 0; i < a.samples.size(); ++i) {
        if (a.samples[i] == b.samples[i] || (std::isnan(a.samples[i]) && std::isnan(b.samples[i])))
            continue;
        const double difference = std::abs(a.samples[i] - b.samples[i]);
        worst =
            std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
    }
    return worst;
}

inline Picture part(const Picture& from, int x0, int y0, int width, int height) {
    Picture cut{from.shape, {}, ""};
    cut.shape.width = width;
    cut.shape.height = height;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int c = 0; c < from.shape.channels; ++c)
                cut.samples.push_back(from.at(x0 + x, y0 + y, c));
    return cut;
}

class Identities : public testing::TestWithParam<Backend> {
protected:
    void SetUp() override {
        if (GetParam() == Backend::cuda)
            test::needs_gpu();
    }

    /// Runs frames through a chain ("flip | flip:direction=vertical"); returns the last result.
    template <class T> Picture run(const std::string& text, const std::vector<const TestImage<T>*>& frames) {
        auto chain = std::make_shared<Chain>();
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t bar = std::min(text.find(" | ", at), text.size());
            if (bar > at)
                chain->add(text.substr(at, bar - at));
            at = bar + 3;
        }
        const auto executor = make_executor({.backend = GetParam(), .threads = 0, .gpus = ""}, nullptr);
        executor->set_chain(chain, 1);
        Picture last;
        FrameRing ring(frames.front()->shape(), 2, executor->slot_memory());
        for (const TestImage<T>* image : frames) {
            Frame frame = ring.acquire(std::chrono::seconds(10));
            copy_pixels(image->view(), frame.host());
            frame.info() = FrameInfo();
            executor->submit(std::move(frame), true);
            const auto result = executor->collect(true);
            last = picture_of(result->image.host());
            last.note = result->notes->empty() ? "" : result->notes->front();
        }
        return last;
    }
    template <class T> Picture run(const std::string& text, const TestImage<T>& image) {
        return run<T>(text, std::vector<const TestImage<T>*>{&image});
    }

    static TestImage<float> noise(int width, int height, int channels = 1, std::uint64_t stream = 1) {
        auto random = test_random(stream);
        std::uniform_real_distribution<float> value(0, 1);
        return TestImage<float>(width, height, 2, channels).fill([&] { return value(random); });
    }
    template <class T>
    static TestImage<T> levels(int width, int height, int channels = 1, std::uint64_t stream = 1) {
        auto random = test_random(stream);
        std::uniform_int_distribution<int> value(0, std::is_same_v<T, std::uint8_t> ? 255 : 4095);
        return TestImage<T>(width, height, 2, channels).fill([&] { return value(random); });
    }
    template <class T> static TestImage<T> flat(int width, int height, double value, int channels = 1) {
        return TestImage<T>(width, height, 1, channels).fill([&] { return value; });
    }

    /// A NumPy file of float32 weights.
    std::string kernel_file(const std::string& name, int width, int height,
                            const std::vector<float>& weights) {
        std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(height) +
                           ", " + std::to_string(width) + "), }";
        head.append((64 - (10 + head.size() + 1) % 64) % 64, ' ');
        head += '\n';
        std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(head.size() & 255) +
                            static_cast<char>(head.size() >> 8) + head;
        bytes.append(reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float));
        write_text(folder_ / name, bytes);
        return folder_ / name;
    }

    TemporaryFolder folder_;
};

inline std::vector<Backend> backends() { return {Backend::cpu, Backend::cuda}; }

inline std::string backend_name(const testing::TestParamInfo<Backend>& tested) {
    return tested.param == Backend::cpu ? "cpu" : "cuda";
}

} // namespace specklescope
