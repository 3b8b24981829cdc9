// OpenCV compared with our host stages, with as many threads: JSON rows on standard output.
//   specklescope-peers [FILTER]
#include "base/parallel.hpp"
#include "bench/host.hpp"
#include "bench/peers/compare.hpp"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <cstdio>
#include <exception>
#include <memory>

namespace {

using namespace specklescope;
using namespace specklescope::bench;

cv::Mat mat_of(const Frame& frame) {
    const Shape& shape = frame.shape();
    const int depth = shape.type == PixelType::u8 ? CV_8U : shape.type == PixelType::u16 ? CV_16U : CV_32F;
    return {shape.height, shape.width, CV_MAKETYPE(depth, shape.channels), frame.host().data,
            frame.host().pitch};
}

std::vector<cv::Mat> mats_of(const std::vector<Frame>& frames) {
    std::vector<cv::Mat> mats;
    mats.reserve(frames.size());
    for (const Frame& frame : frames)
        mats.push_back(mat_of(frame));
    return mats;
}

/// A peer that is one function from image to image.
template <class F> HostPeer each(F function) {
    return [function](const std::vector<Frame>& inputs, const Frame& output) {
        return std::function<void(int)>(
            [function, mats = mats_of(inputs), out = mat_of(output)](int i) mutable {
                function(mats[static_cast<std::size_t>(i)], out);
            });
    };
}

/// The usual flow index in OpenCV: two box filters and one pass of arithmetic.
class OpenCvSpeckle {
public:
    explicit OpenCvSpeckle(int radius) : side_(2 * radius + 1) {}
    void operator()(const cv::Mat& image, cv::Mat& sfi) {
        cv::boxFilter(image, mean_, CV_32F, {side_, side_}, {-1, -1}, true, cv::BORDER_REPLICATE);
        cv::sqrBoxFilter(image, square_, CV_32F, {side_, side_}, {-1, -1}, true, cv::BORDER_REPLICATE);
        constexpr float kExposure = 0.01F;
        const auto n = static_cast<float>(side_ * side_);
        const float factor = (n - 1) / n / (2 * kExposure);
        cv::parallel_for_({0, image.rows}, [&](const cv::Range& rows) {
            for (int y = rows.start; y < rows.end; ++y) {
                const auto* mean = mean_.ptr<float>(y);
                const auto* square = square_.ptr<float>(y);
                auto* out = sfi.ptr<float>(y);
                for (int x = 0; x < image.cols; ++x)
                    out[x] = factor * mean[x] * mean[x] / (square[x] - mean[x] * mean[x]);
            }
        });
    }

private:
    int side_;
    cv::Mat mean_, square_;
};

/// OpenCV's box filters use one thread: here each thread gets a band of the image and its neighbouring rows.
class SplitSpeckle {
public:
    explicit SplitSpeckle(int radius)
        : bands_(static_cast<std::size_t>(cv::getNumThreads()), OpenCvSpeckle(radius)) {}
    void operator()(const cv::Mat& image, cv::Mat& sfi) {
        const int bands = static_cast<int>(bands_.size());
        cv::parallel_for_({0, bands}, [&](const cv::Range& range) {
            for (int i = range.start; i < range.end; ++i) {
                const cv::Range rows(image.rows * i / bands, image.rows * (i + 1) / bands);
                cv::Mat part = sfi.rowRange(rows);
                bands_[static_cast<std::size_t>(i)](image.rowRange(rows), part);
            }
        });
    }

private:
    std::vector<OpenCvSpeckle> bands_;
};

struct Comparison {
    std::string work;
    Shape shape;
    std::string peer;
    HostPeer theirs;
};

HostPeer gaussian(int side, double sigma) {
    return each([side, sigma](const cv::Mat& in, cv::Mat& out) {
        cv::GaussianBlur(in, out, {side, side}, sigma, sigma, cv::BORDER_REPLICATE);
    });
}

/// RGB → HSV, V equalised, and back; buffers are reused.
HostPeer hsv_equalize() {
    struct Buffers {
        cv::Mat hsv;
        std::vector<cv::Mat> planes;
    };
    return each([buffers = std::make_shared<Buffers>()](const cv::Mat& in, cv::Mat& out) {
        cv::cvtColor(in, buffers->hsv, cv::COLOR_RGB2HSV_FULL);
        cv::split(buffers->hsv, buffers->planes);
        cv::equalizeHist(buffers->planes[2], buffers->planes[2]);
        cv::merge(buffers->planes, buffers->hsv);
        cv::cvtColor(buffers->hsv, out, cv::COLOR_HSV2RGB_FULL);
    });
}

HostPeer filter2d(int side) {
    cv::Mat kernel(side, side, CV_32F);
    cv::randu(kernel, 0, 2.0 / side / side);
    return each([kernel](const cv::Mat& in, cv::Mat& out) {
        cv::filter2D(in, out, -1, kernel, {-1, -1}, 0, cv::BORDER_REPLICATE);
    });
}

std::vector<Comparison> comparisons() {
    const Shape camera{1392, 1040, 1, PixelType::u16};
    const Shape rgb{3840, 2160, 3, PixelType::u8};
    const Shape grey{3840, 2160, 1, PixelType::u8};
    const std::string version = "OpenCV " CV_VERSION " ";
    std::vector<Comparison> all;
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32})
        for (const int radius : {2, 3, 7}) {
            const Shape shape{camera.width, camera.height, 1, type};
            const std::string work = "speckle:radius=" + std::to_string(radius);
            all.push_back({work, shape, version + "boxFilter, sqrBoxFilter",
                           each([filter = std::make_shared<OpenCvSpeckle>(radius)](
                                    const cv::Mat& in, cv::Mat& out) { (*filter)(in, out); })});
            all.push_back({work, shape, version + "the same, split over the threads by hand",
                           each([filter = std::make_shared<SplitSpeckle>(radius)](
                                    const cv::Mat& in, cv::Mat& out) { (*filter)(in, out); })});
        }
    all.push_back({"gaussian:method=binomial5", rgb, version + "GaussianBlur 5×5", gaussian(5, 0)});
    for (const auto& [width, height] : {std::pair{640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}})
        all.push_back({"gaussian:method=binomial5",
                       {width, height, 3, PixelType::f32},
                       version + "GaussianBlur 5×5",
                       gaussian(5, 0)});
    for (const auto& [width, height] : {std::pair{1920, 1440}, {3840, 2160}})
        all.push_back({"gaussian:method=recursive,sigma=10",
                       {width, height, 1, PixelType::f32},
                       version + "GaussianBlur",
                       gaussian(0, 10)});
    all.push_back({"gaussian:sigma=1", rgb, version + "GaussianBlur", gaussian(0, 1)});
    all.push_back(
        {"gaussian:sigma=1", {3840, 2160, 1, PixelType::f32}, version + "GaussianBlur", gaussian(0, 1)});
    all.push_back({"gaussian:sigma=1,radius=3", rgb, version + "GaussianBlur 7×7", gaussian(7, 1)});
    all.push_back({"gaussian:sigma=10", rgb, version + "GaussianBlur", gaussian(0, 10)});
    all.push_back(
        {"gaussian:sigma=10,method=direct,radius=30", rgb, version + "GaussianBlur 61×61", gaussian(61, 10)});
    all.push_back(
        {"gaussian:sigma=10", {3840, 2160, 1, PixelType::f32}, version + "GaussianBlur", gaussian(0, 10)});
    all.push_back(
        {"gaussian:sigma=10", {3840, 2160, 1, PixelType::u16}, version + "GaussianBlur", gaussian(0, 10)});
    all.push_back({"gaussian:sigma=10", grey, version + "GaussianBlur", gaussian(0, 10)});
    all.push_back({"equalize:bins=256,scaling=minmax", rgb, version + "cvtColor, equalizeHist, cvtColor",
                   hsv_equalize()});
    all.push_back({"equalize:bins=256",
                   {961, 640, 3, PixelType::u8},
                   version + "cvtColor, equalizeHist (min-max scaling), cvtColor",
                   hsv_equalize()});
    all.push_back({"equalize:bins=256,scaling=minmax", grey, version + "equalizeHist",
                   each([](const cv::Mat& in, cv::Mat& out) { cv::equalizeHist(in, out); })});
    all.push_back({"clahe:tiles=8",
                   {1920, 1080, 1, PixelType::u8},
                   version + "CLAHE",
                   each([clahe = cv::createCLAHE(2, {8, 8})](const cv::Mat& in, cv::Mat& out) {
                       clahe->apply(in, out);
                   })});
    all.push_back({"convolve:kernel=disk,radius=127",
                   {1024, 1024, 1, PixelType::f32},
                   version + "filter2D 255×255",
                   filter2d(255)});
    all.push_back({"rotate90:turns=1", camera, version + "rotate", each([](const cv::Mat& in, cv::Mat& out) {
                       cv::rotate(in, out, cv::ROTATE_90_CLOCKWISE);
                   })});
    all.push_back(
        {"rotate90:turns=1",
         {camera.width, camera.height, 1, PixelType::f32},
         version + "rotate",
         each([](const cv::Mat& in, cv::Mat& out) { cv::rotate(in, out, cv::ROTATE_90_CLOCKWISE); })});
    all.push_back({"downsample:factor=2",
                   {3840, 2160, 1, PixelType::f32},
                   version + "resize INTER_AREA",
                   each([](const cv::Mat& in, cv::Mat& out) {
                       cv::resize(in, out, {in.cols / 2, in.rows / 2}, 0, 0, cv::INTER_AREA);
                   })});
    all.push_back({"flip:direction=horizontal", rgb, version + "flip",
                   each([](const cv::Mat& in, cv::Mat& out) { cv::flip(in, out, 1); })});
    all.push_back(
        {"downsample:factor=2", rgb, version + "resize INTER_AREA", each([](const cv::Mat& in, cv::Mat& out) {
             cv::resize(in, out, {in.cols / 2, in.rows / 2}, 0, 0, cv::INTER_AREA);
         })});
    return all;
}

int run(const std::string& filter) {
    use_simd_of_environment();
    cv::setNumThreads(parallel_threads());
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Comparison& c : comparisons())
        if ((c.work + " " + to_string(c.shape)).find(filter) != std::string::npos)
            rows.push_back(compare_on_host(c.work, c.shape, c.peer, c.theirs));
    std::printf("%s\n", rows.dump(1).c_str());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc > 1 ? argv[1] : "");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "specklescope-peers: %s\n", error.what());
        return 1;
    }
}
