// The caller's frames through the recorders: files contain the same frames and their description.
#include "tests/library/recorded.hpp"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>

namespace recorder_test {

using namespace client;

class Recorder {
public:
    explicit Recorder(const std::string& path,
                      specklescope_recording told = sized<specklescope_recording>()) {
        EXPECT_EQ(specklescope_recorder_create(path.c_str(), &told, &recorder_), SPECKLESCOPE_OK)
            << specklescope_last_error();
    }
    ~Recorder() { specklescope_recorder_free(recorder_); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    operator specklescope_recorder*() const { return recorder_; } // NOLINT(google-explicit-constructor)
    specklescope_recorder_info info() const {
        auto made = sized<specklescope_recorder_info>();
        EXPECT_EQ(specklescope_recorder_status(recorder_, &made), SPECKLESCOPE_OK)
            << specklescope_last_error();
        return made;
    }

private:
    specklescope_recorder* recorder_ = nullptr;
};

class Recorders : public testing::Test {
protected:
    void SetUp() override {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
    }
    std::filesystem::path folder = own_folder() + "/library_recorder";
};

std::vector<float> numbers(int frame) {
    std::vector<float> made(20 * 12);
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = static_cast<float>(frame) + static_cast<float>(i) / 1024;
    return made;
}

/// Also with gaps and a nominal rate.
TEST_F(Recorders, TimesComeBackFromEveryFormat) {
    const std::vector<std::int64_t> times = {3000000000, 3050000000, 3250000000, 9000000000};
    for (const char* const ending : {"times.tiff", "times.raw", "times.mkv"}) {
        const std::string path = (folder / ending).string();
        auto told = sized<specklescope_recording>();
        told.what = SPECKLESCOPE_FRAMES;
        told.rate = 20;
        Pixels pixels = random_pixels(64, 48, 3);
        const specklescope_image image = image_of(pixels);
        {
            const Recorder recorder(path, told);
            auto facts = sized<specklescope_facts>();
            for (const std::int64_t time : times) {
                facts.time_ns = time;
                ASSERT_EQ(specklescope_recorder_push(recorder, &image, &facts), SPECKLESCOPE_OK)
                    << specklescope_last_error();
            }
        }
        const Stream stream(path, nullptr, "backend=cpu");
        specklescope_frame* frame = nullptr;
        for (const std::int64_t time : times) {
            ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK)
                << specklescope_last_error();
            auto result = sized<specklescope_result>();
            ASSERT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
            EXPECT_EQ(result.time_ns, time) << ending;
            specklescope_frame_free(frame);
        }
    }
}

/// Independent of the rate of the calls.
TEST_F(Recorders, FramesWithoutTimesAreAPeriodApart) {
    for (const char* const ending : {"untimed.tiff", "untimed.raw", "untimed.mkv", "slow.tiff"}) {
        const std::string path = (folder / ending).string();
        auto told = sized<specklescope_recording>();
        told.what = SPECKLESCOPE_FRAMES;
        told.rate = ending == std::string("slow.tiff") ? 1e-8 : 20;
        Pixels pixels = random_pixels(64, 48, 3);
        const specklescope_image image = image_of(pixels);
        auto facts = sized<specklescope_facts>();
        facts.untimed = 1;
        facts.time_ns = -5; // ignored
        {
            const Recorder recorder(path, told);
            for (int i = 0; i < 4; ++i)
                ASSERT_EQ(specklescope_recorder_push(recorder, &image, i % 2 == 0 ? nullptr : &facts),
                          SPECKLESCOPE_OK)
                    << specklescope_last_error();
        }
        const Stream stream(path, nullptr, "backend=cpu");
        std::int64_t first = 0;
        for (int i = 0; i < 4; ++i) {
            specklescope_frame* frame = nullptr;
            ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK)
                << specklescope_last_error();
            auto result = sized<specklescope_result>();
            ASSERT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
            first = i == 0 ? result.time_ns : first;
            EXPECT_EQ(result.time_ns - first, std::llround(i * 1e9 / told.rate)) << ending << ' ' << i;
            specklescope_frame_free(frame);
        }
    }
}

TEST_F(Recorders, TimesAndRatesThatNoReaderGivesBackAreRefused) {
    const std::string path = (folder / "far.tiff").string();
    Pixels pixels = random_pixels(20, 12, 3);
    const specklescope_image image = image_of(pixels);
    auto facts = sized<specklescope_facts>();
    const Recorder recorder(path, sized<specklescope_recording>());
    constexpr std::int64_t kFar = std::int64_t{1} << 62;
    for (const std::int64_t time : {kFar, -kFar, std::numeric_limits<std::int64_t>::min()}) {
        facts.time_ns = time;
        EXPECT_EQ(specklescope_recorder_push(recorder, &image, &facts), SPECKLESCOPE_USAGE_ERROR);
        EXPECT_EQ(specklescope_last_error(),
                  "The frame's time_ns = " + std::to_string(time) +
                      " is not possible; allowed: within 146 years of 0; subtract when the clock began.");
    }
    facts.time_ns = kFar - 1;
    EXPECT_EQ(specklescope_recorder_push(recorder, &image, &facts), SPECKLESCOPE_OK);
    for (const double rate : {1e-10, -1.0, 1e6, std::nan("")}) {
        auto told = sized<specklescope_recording>();
        told.rate = rate;
        specklescope_recorder* none = nullptr;
        EXPECT_EQ(specklescope_recorder_create(path.c_str(), &told, &none), SPECKLESCOPE_USAGE_ERROR) << rate;
        EXPECT_NE(
            std::string(specklescope_last_error()).find("allowed: 1e-09 to 100000, or 0 if it is unknown."),
            std::string::npos)
            << specklescope_last_error();
    }
}

TEST_F(Recorders, ResultsComeBackWithTimeExposureAndQuantity) {
    for (const char* const ending : {"flow.tiff", "flow.raw"}) {
        const std::string path = (folder / ending).string();
        auto told = sized<specklescope_recording>();
        told.quantity = "speckle flow index";
        told.symbol = "SFI";
        told.unit = "1/s";
        told.measure = "flow";
        told.source = "a bench of mine";
        told.rate = 20;
        told.um_per_px = 2.5;
        const Recorder recorder(path, told);
        EXPECT_FALSE(std::filesystem::exists(path)) << "nothing is made before the first frame";
        auto facts = sized<specklescope_facts>();
        facts.exposure_ms = 4;
        for (int i = 0; i < 9; ++i) {
            std::vector<float> pixels = numbers(i);
            const specklescope_image image = image_of(pixels, 20, 12);
            facts.time_ns = 1000000000LL + 50000000LL * i + 7;
            ASSERT_EQ(specklescope_recorder_push(recorder, &image, &facts), SPECKLESCOPE_OK)
                << specklescope_last_error();
            pixels.assign(pixels.size(), -1); // the frame was copied
            if (i == 4) {
                std::uint64_t number = 0;
                ASSERT_EQ(specklescope_recorder_mark(recorder, "stimulus", &number), SPECKLESCOPE_OK);
                EXPECT_EQ(number, 1U);
            }
        }
        ASSERT_EQ(specklescope_recorder_close(recorder), SPECKLESCOPE_OK) << specklescope_last_error();
        ASSERT_EQ(specklescope_recorder_close(recorder), SPECKLESCOPE_OK);
        const specklescope_recorder_info info = recorder.info();
        EXPECT_EQ(info.written, 9U);
        EXPECT_EQ(info.dropped, 0U);
        EXPECT_EQ(info.files, 1U);
        EXPECT_EQ(info.closed, 1);
        EXPECT_STREQ(info.path, path.c_str());
        EXPECT_STREQ(info.error, "");

        const Stream stream(path, nullptr, "backend=cpu");
        specklescope_frame* frame = nullptr;
        for (int i = 0; i < 9; ++i) {
            ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK)
                << specklescope_last_error();
            auto image = sized<specklescope_image>();
            auto result = sized<specklescope_result>();
            ASSERT_EQ(specklescope_frame_image(frame, &image), SPECKLESCOPE_OK);
            ASSERT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
            const std::vector<float> expected = numbers(i);
            for (int y = 0; y < 12; ++y)
                EXPECT_EQ(std::memcmp(static_cast<const char*>(image.data) +
                                          static_cast<std::size_t>(y) * image.pitch,
                                      expected.data() + static_cast<std::ptrdiff_t>(y) * 20, 80),
                          0);
            EXPECT_EQ(result.time_ns, 1000000000LL + 50000000LL * i + 7);
            EXPECT_EQ(result.exposure_ms, 4);
            EXPECT_STREQ(result.quantity, "speckle flow index");
            EXPECT_STREQ(result.symbol, "SFI");
            EXPECT_STREQ(result.unit, "1/s");
            EXPECT_STREQ(result.measure, "flow");
            EXPECT_EQ(result.sequence, static_cast<std::uint64_t>(i));
            specklescope_frame_free(frame);
        }
        EXPECT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_END);
    }
}

TEST_F(Recorders, RawFramesMasksAndAChangeOfSizeGoAsInTheProgram) {
    auto told = sized<specklescope_recording>();
    told.what = SPECKLESCOPE_FRAMES;
    const std::string path = (folder / "raw.tiff").string();
    const Recorder recorder(path, told);
    told.what = SPECKLESCOPE_MASK;
    const Recorder mask((folder / "mask.tiff").string(), told);
    for (const int width : {20, 20, 31}) {
        Pixels pixels = random_pixels(width, 12, 3);
        pixels.samples[5] = 65535;
        const specklescope_image image = image_of(pixels);
        ASSERT_EQ(specklescope_recorder_push(recorder, &image, nullptr), SPECKLESCOPE_OK)
            << specklescope_last_error();
        ASSERT_EQ(specklescope_recorder_push(mask, &image, nullptr), SPECKLESCOPE_OK)
            << specklescope_last_error();
    }
    ASSERT_EQ(specklescope_recorder_close(recorder), SPECKLESCOPE_OK) << specklescope_last_error();
    ASSERT_EQ(specklescope_recorder_close(mask), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(recorder.info().written, 3U);
    EXPECT_EQ(recorder.info().files, 2U);
    EXPECT_EQ(mask.info().written, 3U);
    const Stream stream(path, nullptr, "backend=cpu");
    specklescope_frame* frame = nullptr;
    ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    auto result = sized<specklescope_result>();
    ASSERT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
    EXPECT_EQ(result.raw_saturated, 1U);
    EXPECT_STREQ(result.quantity, "intensity");
    specklescope_frame_free(frame);
}

TEST_F(Recorders, WhatCannotBeRecordedIsRefused) {
    specklescope_recorder* none = nullptr;
    const auto refused = [&](const std::string& path, const specklescope_recording& told,
                             const std::string& part, specklescope_status status = SPECKLESCOPE_USAGE_ERROR) {
        expect_refused(specklescope_recorder_create(path.c_str(), &told, &none), status, part);
        EXPECT_EQ(none, nullptr);
    };
    const std::string path = (folder / "x.tiff").string();
    auto told = sized<specklescope_recording>();
    refused((folder / "x.doc").string(), told, "x.doc");
    refused((folder / "no/where/x.tiff").string(), told, "no/where", SPECKLESCOPE_RUN_ERROR);
    told.what = 3;
    refused(path, told, "What is to be recorded is 3; allowed: 0 (results)");
    told = sized<specklescope_recording>();
    told.quantity = "flow";
    told.measure = "speed";
    refused(path, told, "The measure 'speed' is not known; allowed: intensity");
    told = sized<specklescope_recording>();
    told.rate = -1;
    refused(path, told, "The recording's rate = -1 is not possible");
    told = sized<specklescope_recording>();
    told.view = "colourmap=turbo";
    refused(path, told, "The view has no 'colourmap'");
    expect_refused(specklescope_recorder_create(nullptr, nullptr, &none), SPECKLESCOPE_USAGE_ERROR,
                   "The file's name is NULL");

    const Recorder recorder(path);
    Pixels pixels = random_pixels(20, 12, 3);
    specklescope_image image = image_of(pixels);
    auto facts = sized<specklescope_facts>();
    facts.time_ns = 5000;
    ASSERT_EQ(specklescope_recorder_push(recorder, &image, &facts), SPECKLESCOPE_OK)
        << specklescope_last_error();
    facts.time_ns = 4999;
    expect_refused(specklescope_recorder_push(recorder, &image, &facts), SPECKLESCOPE_USAGE_ERROR,
                   "The frame's time_ns = 4999 is before the last one's, 5000; give frames in their order.");
    image.memory = SPECKLESCOPE_DEVICE;
    expect_refused(specklescope_recorder_push(recorder, &image, nullptr), SPECKLESCOPE_USAGE_ERROR,
                   "The frame lies in memory of a GPU, which this call does not take; copy it to the host.");
    image.memory = SPECKLESCOPE_HOST;
    ASSERT_EQ(specklescope_recorder_close(recorder), SPECKLESCOPE_OK);
    expect_refused(specklescope_recorder_push(recorder, &image, nullptr), SPECKLESCOPE_USAGE_ERROR,
                   "The recorder is closed; make another one for more frames.");
    expect_refused(
        specklescope_recorder_push(reinterpret_cast<specklescope_recorder*>(&image), &image, nullptr),
        SPECKLESCOPE_BAD_HANDLE, "This is no recorder that is alive");
    EXPECT_EQ(recorder.info().written, 1U);
}

TEST_F(Recorders, WhatWasMadeInAWarmUpIsKnownAgain) {
    const std::string path = (folder / "slow.tiff").string();
    constexpr int kFrames = 12, kHistory = 5;
    {
        const Stream stream(recorded_file(kFrames), "temporal:frames=5,output=contrast", "backend=cpu");
        const Recorder recorder(path);
        specklescope_frame* frame = nullptr;
        for (int i = 0; i < kFrames; ++i) {
            ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK)
                << specklescope_last_error();
            auto image = sized<specklescope_image>();
            auto result = sized<specklescope_result>();
            ASSERT_EQ(specklescope_frame_image(frame, &image), SPECKLESCOPE_OK);
            ASSERT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
            EXPECT_EQ(result.warming_up, i < kHistory - 1 ? 1 : 0) << i;
            auto facts = sized<specklescope_facts>();
            facts.time_ns = result.time_ns;
            facts.warming_up = result.warming_up;
            ASSERT_EQ(specklescope_recorder_push(recorder, &image, &facts), SPECKLESCOPE_OK)
                << specklescope_last_error();
            specklescope_frame_free(frame);
        }
        ASSERT_EQ(specklescope_recorder_close(recorder), SPECKLESCOPE_OK) << specklescope_last_error();
    }
    const Stream again(path, nullptr, "backend=cpu");
    specklescope_frame* frame = nullptr;
    for (int i = 0; i < kFrames; ++i) {
        ASSERT_EQ(specklescope_stream_next(again, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
        auto result = sized<specklescope_result>();
        ASSERT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
        EXPECT_EQ(result.warming_up, i < kHistory - 1 ? 1 : 0) << i;
        EXPECT_EQ(result.warmup_wanted, 0) << "nothing fills its history now";
        // a caller with an earlier header gets its members and no further ones
        auto earlier = sized<specklescope_result>();
        earlier.struct_size = offsetof(specklescope_result, warming_up);
        earlier.warming_up = 77;
        EXPECT_EQ(specklescope_frame_result(frame, &earlier), SPECKLESCOPE_OK) << specklescope_last_error();
        EXPECT_EQ(earlier.warming_up, 77);
        EXPECT_STREQ(earlier.measure, result.measure);
        specklescope_frame_free(frame);
    }
}

TEST_F(Recorders, AFrameWithoutATimeWasTakenNow) {
    const std::string path = (folder / "now.tiff").string();
    const Recorder recorder(path);
    std::vector<float> pixels = numbers(1);
    const specklescope_image image = image_of(pixels, 20, 12);
    auto facts = sized<specklescope_facts>();
    facts.exposure_ms = 5;
    facts.untimed = 1;
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(specklescope_recorder_push(recorder, &image, &facts), SPECKLESCOPE_OK)
            << specklescope_last_error();
    ASSERT_EQ(specklescope_recorder_close(recorder), SPECKLESCOPE_OK) << specklescope_last_error();
    const Stream again(path, nullptr, "backend=cpu");
    specklescope_frame* frame = nullptr;
    std::int64_t before = 0;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(specklescope_stream_next(again, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
        auto result = sized<specklescope_result>();
        ASSERT_EQ(specklescope_frame_result(frame, &result), SPECKLESCOPE_OK);
        EXPECT_GT(result.time_ns, before) << i;
        EXPECT_EQ(result.exposure_ms, 5);
        before = result.time_ns;
        specklescope_frame_free(frame);
    }
    const Recorder old((folder / "old.tiff").string());
    facts.struct_size =
        offsetof(specklescope_facts, warming_up); // an earlier header's size: a time of 0 is valid
    facts.time_ns = 0;
    EXPECT_EQ(specklescope_recorder_push(old, &image, &facts), SPECKLESCOPE_OK) << specklescope_last_error();
    facts.struct_size = sizeof facts - 4;
    expect_refused(specklescope_recorder_push(old, &image, &facts), SPECKLESCOPE_USAGE_ERROR,
                   "set struct_size to sizeof the struct");
}

TEST_F(Recorders, TheThreadsOfTheProcessStayAsManyAsTheyWere) {
    // oneTBB's documented default: 0 is max_allowed_parallelism
    using Ask = std::size_t (*)(int);
    const auto allowed =
        reinterpret_cast<Ask>(::dlsym(RTLD_DEFAULT, "_ZN3tbb6detail2r127global_control_active_valueEi"));
    ASSERT_NE(allowed, nullptr) << "the library's oneTBB is not there";
    const std::size_t before = allowed(0);
    if (before < 2)
        GTEST_SKIP() << "a machine of one core has no threads to lose";
    const Recorder recorder((folder / "x.tiff").string());
    std::vector<float> pixels = numbers(1);
    const specklescope_image image = image_of(pixels, 20, 12);
    ASSERT_EQ(specklescope_recorder_push(recorder, &image, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(allowed(0), before);
}

} // namespace recorder_test
