// Refused calls. The message contains the problem, the allowed values and the remedy in one sentence.
#include "tests/library/client.hpp"

#include <functional>
#include <limits>

namespace refusals_test {

using namespace client;

constexpr auto kUsage = SPECKLESCOPE_USAGE_ERROR;

/// A chain, a frame and memory for its result; each test makes one of them invalid.
class Refusals : public testing::Test {
protected:
    Chain chain{"speckle:output=contrast", "backend=cpu"};
    Pixels pixels = random_pixels(32, 24, 1);
    std::vector<float> made = std::vector<float>(32 * 24, -1.F);
    specklescope_image in = image_of(pixels);
    specklescope_image out = image_of(made, 32, 24);

    specklescope_status process() { return specklescope_chain_process(chain, &in, nullptr, &out, nullptr); }
    void refused(const std::string& part) {
        expect_refused(process(), kUsage, part);
        for (const float value : made)
            ASSERT_EQ(value, -1.F) << "a refused call has written";
    }
};

/// One invalid member of an image.
TEST_F(Refusals, ImagesThatCannotBe) {
    struct Case {
        std::function<void()> spoil;
        const char* part;
    };
    constexpr int kMost = std::numeric_limits<int>::max();
    for (const Case& one : {
             Case{[&] { in.data = nullptr; }, "The input has no pixels: data is NULL"},
             Case{[&] { out.data = nullptr; }, "The output has no pixels: data is NULL"},
             Case{[&] { in.type = 7; }, "pixels of type 7; allowed: 0 (u8), 1 (u16), 2 (f32)"},
             Case{[&] { in.channels = 2; }, "has 2 channels; allowed: 1 (grey), 3 (RGB, interleaved)"},
             Case{[&] { in.width = 0; }, "0×24 pixels; allowed: 1…65536 each way"},
             Case{[&] { in.width = -5; }, "-5×24"},
             Case{[&] { in.width = kMost; }, "2147483647×24"},
             Case{[&] { in.width = in.height = 65536; }, "MiB; allowed: up to 4096 MiB"},
             Case{[&] { in.pitch = 63; }, "a pitch of 63 bytes; allowed: multiples of 2 from 64"},
             Case{[&] { in.pitch = 65; }, "a pitch of 65 bytes"},
             Case{[&] { in.pitch = std::numeric_limits<std::size_t>::max() - 1; }, "a pitch of"},
             Case{[&] { in.data = reinterpret_cast<char*>(pixels.samples.data()) + 1; },
                  "no multiple of the 2 bytes of a sample"},
             Case{[&] { out.width = 31; }, "The output is 31×24 f32, and the chain makes 32×24 f32"},
             Case{[&] { out.type = SPECKLESCOPE_U16; }, "The output is 32×24 u16, and the chain makes"},
         }) {
        const specklescope_image input = in, output = out;
        one.spoil();
        refused(one.part);
        in = input;
        out = output;
    }
    EXPECT_EQ(process(), SPECKLESCOPE_OK) << specklescope_last_error();
}
TEST_F(Refusals, MemoryOfAnotherKind) {
    in.memory = 2;
    refused("memory of kind 2; allowed: 0 (host), 1 (device)");
    in.memory = SPECKLESCOPE_DEVICE;
    refused("The input lies in memory of a GPU, and this chain runs on the CPU; copy it to the host");
    in.memory = SPECKLESCOPE_HOST;
    out.memory = SPECKLESCOPE_DEVICE;
    refused("The output lies in memory of a GPU, and this chain runs on the CPU; copy it to the host");
    out.memory = SPECKLESCOPE_HOST;
    auto room = image_of(pixels);
    specklescope_memory* memory = nullptr;
    expect_refused(specklescope_memory_create(chain, &room, &memory), kUsage,
                   "This chain runs on the CPU and has no memory of a GPU");
    specklescope_chain* none = nullptr;
    auto settings = sized<specklescope_settings>();
    settings.options = "gpus=all";
    expect_refused(specklescope_chain_create("", &settings, &none), kUsage,
                   "gpus=all is not possible for a chain; allowed: one GPU, counted from 0.");
}
TEST_F(Refusals, AnOutputInTheInput) {
    std::vector<float> both(32 * 48, -1.F);
    in = image_of(both, 32, 24);
    out = image_of(both, 32, 24);
    out.data = both.data() + 32 * 12;
    refused("The output shares memory with the input");
    out.data = both.data() + 32 * 24; // after it
    EXPECT_EQ(process(), SPECKLESCOPE_OK) << specklescope_last_error();
}
TEST_F(Refusals, FactsThatCannotBe) {
    auto facts = sized<specklescope_facts>();
    facts.exposure_ms = -1;
    expect_refused(specklescope_chain_process(chain, &in, &facts, &out, nullptr), kUsage,
                   "exposure_ms = -1.000000 is not possible");
    facts.exposure_ms = std::numeric_limits<double>::quiet_NaN();
    expect_refused(specklescope_chain_process(chain, &in, &facts, &out, nullptr), kUsage, "exposure_ms = ");
    facts.exposure_ms = 5;
    facts.full_scale = std::numeric_limits<double>::infinity();
    expect_refused(specklescope_chain_process(chain, &in, &facts, &out, nullptr), kUsage, "full_scale = ");
}

TEST_F(Refusals, StructsOfALaterHeaderAndOfNone) {
    in.struct_size = sizeof in + 8;
    refused("The input says that it has 64 bytes, and libspecklescope");
    EXPECT_NE(std::string(specklescope_last_error()).find("later specklescope.h"), std::string::npos);
    in.struct_size = 0;
    refused("set struct_size to sizeof the struct");
    in.struct_size = sizeof in;
    specklescope_result result{};
    result.struct_size = sizeof result * 2;
    expect_refused(specklescope_chain_process(chain, &in, nullptr, &out, &result), kUsage, "The result says");
    EXPECT_EQ(made[0], -1.F) << "computed before the place for the result was looked at";
    specklescope_settings settings{};
    settings.struct_size = 4096;
    specklescope_chain* none = nullptr;
    expect_refused(specklescope_chain_create("speckle", &settings, &none), kUsage, "The settings says");
    EXPECT_EQ(none, nullptr);
}

TEST_F(Refusals, OptionsWithTheSentencesOfTheCommandLine) {
    auto settings = sized<specklescope_settings>();
    specklescope_chain* none = nullptr;
    const auto create = [&](const char* options) {
        settings.options = options;
        return specklescope_chain_create("", &settings, &none);
    };
    expect_refused(create("threads=-1"), kUsage, "specklescope: threads = -1 is not possible; allowed: ");
    expect_refused(create("backend=gpu"), kUsage, "backend = gpu is not possible; allowed: auto, cpu, cuda");
    expect_refused(create("rate=30"), kUsage,
                   "A chain has no option 'rate'; allowed: backend, threads, channel, medians, gpus, show.");
    expect_refused(create("threads"), kUsage, "'threads' is not of the form key=value");
    expect_refused(create("threads=1,threads=2"), kUsage, "threads is given twice");
    specklescope_stream* stream = nullptr;
    settings.options = "log=quiet";
    expect_refused(specklescope_stream_open("synthetic", "", &settings, &stream), kUsage,
                   "A stream has no option 'log'");
    settings.options = "slots=3";
    expect_refused(specklescope_stream_open("synthetic", "", &settings, &stream), kUsage,
                   "slots = 3 is not possible");
}

TEST_F(Refusals, TextsWithoutRoom) {
    char text[8] = "before";
    std::size_t needed = 0;
    expect_refused(specklescope_chain_text(chain, text, sizeof text, &needed), kUsage, "has room for 8");
    EXPECT_STREQ(text, "before");
    ASSERT_GT(needed, sizeof text);
    std::string whole(needed, 'x');
    ASSERT_EQ(specklescope_chain_text(chain, whole.data(), needed, nullptr), SPECKLESCOPE_OK);
    EXPECT_EQ(std::string(whole.c_str()).size(), needed - 1);
    EXPECT_EQ(whole.rfind("speckle:radius=3,", 0), 0U) << whole;
}

/// A cut message ends at a character boundary.
TEST_F(Refusals, LongSentencesAreCutBetweenCharacters) {
    const auto whole = [](const std::string& text) {
        for (std::size_t i = 0; i < text.size();) {
            const auto first = static_cast<unsigned char>(text[i]);
            const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
            if (i + length > text.size())
                return false;
            i += length;
        }
        return true;
    };
    specklescope_chain* none = nullptr;
    for (const std::string character : {"é", "×", "中", "🔬"})
        for (int before = 0; before < 4; ++before) {
            std::string name(static_cast<std::size_t>(before), 'x');
            for (int i = 0; i < 2000; ++i)
                name += character;
            EXPECT_EQ(specklescope_chain_create(name.c_str(), nullptr, &none), kUsage);
            const std::string sentence = specklescope_last_error();
            EXPECT_GT(sentence.size(), 2000U);
            EXPECT_TRUE(whole(sentence)) << character << " behind " << before;
        }
}

TEST(RefusedSources, AreSaidAsTheProgramSaysThem) {
    specklescope_stream* stream = nullptr;
    expect_refused(specklescope_stream_open("no/such/file.tiff", "", nullptr, &stream),
                   SPECKLESCOPE_RUN_ERROR, "no/such/file.tiff");
    expect_refused(specklescope_stream_open("synthetic:vessels?radius=1", "", nullptr, &stream), kUsage,
                   "radius");
    expect_refused(specklescope_stream_open("rtsp://eve:secret@127.0.0.1:1/x", "", nullptr, &stream),
                   SPECKLESCOPE_RUN_ERROR, "***");
    EXPECT_EQ(std::string(specklescope_last_error()).find("secret"), std::string::npos);
    EXPECT_EQ(stream, nullptr);
}

TEST(RefusedSources, AReaderThatSaysNoEndsALongPreparation) {
    auto settings = sized<specklescope_settings>();
    int asked = 0;
    settings.user = &asked;
    settings.goes_on = [](void* user, const char* what, double) {
        EXPECT_NE(what[0], '\0');
        return ++*static_cast<int*>(user) < 3 ? 1 : 0;
    };
    specklescope_stream* stream = nullptr;
    expect_refused(
        specklescope_stream_open("synthetic:vessels?width=2000&height=2000", "", &settings, &stream),
        SPECKLESCOPE_CANCELLED, "Interrupted: ");
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(stream, nullptr);
}

/// If the caller refuses a new size together with a new chain, the chain stays unchanged.
TEST(RefusedEdits, ThatWereStoppedLeaveTheChainAsItWas) {
    struct {
        int asked = 0, allowed = 1 << 30;
    } reader;
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu";
    settings.user = &reader;
    settings.goes_on = [](void* user, const char*, double) {
        auto& one = *static_cast<decltype(reader)*>(user);
        return ++one.asked > one.allowed ? 0 : 1;
    };
    specklescope_chain* chain = nullptr;
    ASSERT_EQ(specklescope_chain_create("convolve:kernel=gaussian,sigma=2 | speckle:output=contrast",
                                        &settings, &chain),
              SPECKLESCOPE_OK)
        << specklescope_last_error();
    Pixels usual = random_pixels(32, 24, 8), large = random_pixels(48, 40, 9);
    const std::vector<float> expected = run(chain, usual);
    int stopped = 0;
    for (;; ++stopped) {
        ASSERT_LT(stopped, 10000);
        ASSERT_EQ(specklescope_chain_set(chain, 0, "sigma", "3"), SPECKLESCOPE_OK);
        reader = {0, stopped};
        std::vector<float> made(large.samples.size());
        const specklescope_image in = image_of(large), out = image_of(made, 48, 40);
        const specklescope_status status = specklescope_chain_process(chain, &in, nullptr, &out, nullptr);
        reader.allowed = 1 << 30;
        if (status == SPECKLESCOPE_OK)
            break;
        ASSERT_EQ(status, SPECKLESCOPE_CANCELLED) << specklescope_last_error();
        ASSERT_EQ(run(chain, usual), expected) << "stopped at question " << stopped + 1;
    }
    EXPECT_GT(stopped, 2) << "nobody was asked";
    EXPECT_EQ(specklescope_chain_free(chain), SPECKLESCOPE_OK);
}

} // namespace refusals_test
