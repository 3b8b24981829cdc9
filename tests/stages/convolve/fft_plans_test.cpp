// FFTW's plans: estimated ones are always equal, measured ones are kept between runs, and failures to keep
// them are harmless.
#include "base/long_work.hpp"
#include "stages/convolve/convolve.hpp"
#include "stages/convolve/fft_plans.hpp"
#include "stages/convolve/host_convolution.hpp"
#include "tests/stages/convolve/convolve_oracle.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#if defined(__GNUC__) && !defined(__clang__) &&                                                              \
    defined(__SANITIZE_ADDRESS__) // g++ 12 takes std::regex as uninitialised there
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <regex>
#include <set>
#include <sstream>

namespace specklescope::test::fft_plans_test {

class FftPlans : public testing::Test {
protected:
    FftPlans() { use_cache(folder_.path()); }
    ~FftPlans() override { set_fft_planning(FftPlanning::estimate); }

    static void use_cache(const std::string& folder) {
        setenv("XDG_CACHE_HOME", folder.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    static std::string text_of(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    /// One run of a program that convolves.
    TestImage<float> start(FftPlanning planning, std::string& note) {
        set_fft_planning(planning);
        HostConvolution convolution(image_.shape(), kernel_, Border::reflect, std::size_t{1} << 30);
        TestImage<float> result(image_.shape().width, image_.shape().height);
        convolution.run(image_.view(), result.view());
        note = convolution.note();
        return result;
    }
    void expect_right(const TestImage<float>& result) const {
        const std::vector<double> want = oracle_convolve(image_, kernel_, Border::reflect);
        std::size_t i = 0;
        for (int y = 0; y < image_.shape().height; ++y)
            for (int x = 0; x < image_.shape().width; ++x, ++i)
                ASSERT_NEAR(result.at(x, y), want[i], 1e-5) << x << ", " << y;
    }
    static void expect_same_bytes(const TestImage<float>& a, const TestImage<float>& b) {
        for (int y = 0; y < a.shape().height; ++y)
            ASSERT_EQ(std::memcmp(a.view().row(y), b.view().row(y), a.shape().row_bytes()), 0) << y;
    }

    TemporaryFolder folder_;
    std::mt19937_64 random_ = test_random(91);
    TestImage<float> image_ = [this] {
        std::uniform_real_distribution<double> value(0, 1);
        return TestImage<float>(73, 52).fill([&] { return value(random_); });
    }();
    ConvolveKernel kernel_ = random_kernel(14, 11, 1, random_);
};

TEST_F(FftPlans, AreKeptForTheNextRun) {
    std::string note;
    const TestImage<float> first = start(FftPlanning::measure, note);
    EXPECT_NE(note.find(", plans measured"), std::string::npos) << note;
    const std::string kept = text_of(fft_cache_file());
    EXPECT_NE(kept.find("fftwf_wisdom"), std::string::npos) << kept;
    EXPECT_EQ(fft_cache_file().find((folder_.path() / "specklescope" / "fftw-").string()), 0U)
        << fft_cache_file();
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path() / "specklescope"),
                            std::filesystem::directory_iterator()),
              1);
    const TestImage<float> second = start(FftPlanning::measure, note);
    EXPECT_NE(note.find(", plans remembered"), std::string::npos) << note;
    EXPECT_EQ(text_of(fft_cache_file()), kept);
    expect_same_bytes(first, second); // the same plans
    expect_right(first);
}

/// Plans are measured on one kind of processor and kept for that kind.
TEST_F(FftPlans, AreKeptByTheProcessorsName) {
    const std::string info = text_of("/proc/cpuinfo");
    const std::string first = info.substr(0, info.find("\n\n"));
    std::string wanted;
    const std::regex words(
        "(?:^|\\n)(?:vendor_id|cpu family|model|stepping|CPU (?:implementer|variant|part|revision))"
        "[ \t]*: ([\\w.-]*)(?=\n|$)");
    for (std::sregex_iterator found(first.begin(), first.end(), words), end; found != end; ++found)
        wanted += "-" + (*found)[1].str();
    ASSERT_GT(wanted.size(), 4U) << first;
    EXPECT_NE(fft_cache_file().find(wanted + ".wisdom"), std::string::npos) << fft_cache_file();
}

TEST_F(FftPlans, EstimatesDoNotDependOnMeasurements) {
    std::string note;
    const TestImage<float> before = start(FftPlanning::estimate, note);
    EXPECT_EQ(note.find("plans"), std::string::npos) << note;
    EXPECT_FALSE(std::filesystem::exists(fft_cache_file()));
    start(FftPlanning::measure, note);
    expect_same_bytes(before, start(FftPlanning::estimate, note));
}

/// Kernel, memory, plans and transform report progress; cancelling at any report leaves nothing behind, and
/// later work is unaffected.
TEST_F(FftPlans, EveryStepOfAPreparationCanBeCancelled) {
    for (const FftPlanning planning : {FftPlanning::estimate, FftPlanning::measure}) {
        set_fft_planning(planning);
        ConvolveParams params;
        params.kernel = ConvolveParams::Kernel::glare;
        const auto prepare = [&] {
            const ConvolveKernel kernel = make_kernel(params, image_.shape());
            HostConvolution convolution(image_.shape(), kernel, Border::reflect, std::size_t{1} << 30);
        };
        std::vector<std::string> asked;
        {
            const WatchWork watch([&](std::string_view what, double) {
                asked.emplace_back(what);
                return true;
            });
            prepare();
        }
        std::set<std::string> kinds(asked.begin(), asked.end());
        EXPECT_EQ(kinds.size(), planning == FftPlanning::measure ? 4U : 3U);
        for (const std::string& kind : kinds) {
            // Measured plans are known now: without new measurements there is one report for each.
            const WatchWork watch([&](std::string_view what, double) { return what != kind; });
            EXPECT_THROW(prepare(), Cancelled) << kind;
        }
        std::string note;
        expect_right(start(planning, note));
    }
}

TEST_F(FftPlans, AnInvalidFileIsReplaced) {
    std::string note;
    start(FftPlanning::measure, note);
    const std::string kept = text_of(fft_cache_file());
    for (const std::string& broken : {std::string("no wisdom"), kept.substr(0, kept.size() / 2)}) {
        std::ofstream(fft_cache_file(), std::ios::binary) << broken;
        expect_right(start(FftPlanning::measure, note));
        EXPECT_NE(note.find(", plans measured"), std::string::npos) << note;
        start(FftPlanning::measure, note);
        EXPECT_NE(note.find(", plans remembered"), std::string::npos) << note << " after " << broken;
    }
}

TEST_F(FftPlans, AReadOnlyFolderIsReportedOnce) {
    std::ofstream(folder_ / "file") << "not a folder";
    use_cache(folder_ / "file");
    const auto log = std::make_shared<std::ostringstream>();
    const auto normal = spdlog::default_logger();
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(*log)));
    std::string note;
    const TestImage<float> first = start(FftPlanning::measure, note);
    const TestImage<float> second = start(FftPlanning::measure, note);
    spdlog::set_default_logger(normal);
    expect_right(first);
    expect_right(second);
    EXPECT_NE(note.find(", plans measured"), std::string::npos) << note;
    const std::string said = log->str();
    EXPECT_NE(said.find("cannot be kept"), std::string::npos) << said;
    EXPECT_EQ(said.find("cannot be kept"), said.rfind("cannot be kept")) << said;
}

} // namespace specklescope::test::fft_plans_test
