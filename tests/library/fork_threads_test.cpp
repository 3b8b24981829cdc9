// Forks while other threads of the process are in the library: what they held at that moment nobody lets go
// of in the child.
#include "tests/library/forked.hpp"

#include <atomic>
#include <utility>

namespace fork_threads_test {

using namespace client;

/// Threads that do the same again and again until this ends.
class Busy {
public:
    explicit Busy(int threads, std::function<void()> work) : work_(std::move(work)) {
        for (int i = 0; i < threads; ++i)
            threads_.emplace_back([this] {
                while (!done_)
                    work_();
            });
    }
    ~Busy() {
        done_ = true;
        for (std::thread& thread : threads_)
            thread.join();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    std::function<void()> work_;
    std::atomic<bool> done_{false};
    std::vector<std::thread> threads_;
};

constexpr int kForks = 300;

/// 0, or which step of a life went wrong.
int a_chain_lives(const char* text) {
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu,threads=1";
    specklescope_chain* chain = nullptr;
    if (specklescope_chain_create(text, &settings, &chain) != SPECKLESCOPE_OK)
        return 1;
    Pixels pixels = random_pixels(16, 12, 4);
    std::vector<float> made(16 * 12);
    const specklescope_image in = image_of(pixels), out = image_of(made, 16, 12);
    if (specklescope_chain_process(chain, &in, nullptr, &out, nullptr) != SPECKLESCOPE_OK)
        return 2;
    if (specklescope_chain_set_values(chain, "speckle", "radius=2") != SPECKLESCOPE_OK)
        return 3;
    return specklescope_chain_free(chain) == SPECKLESCOPE_OK ? 0 : 4;
}

void fork_again_and_again(const std::function<int()>& child) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "a child of busy threads waits for the lock of the sanitizer's heap (seen in GCC 12)";
#endif
    for (int i = 0; i < kForks; ++i)
        ASSERT_EQ(in_child(true, child), 0) << "fork " << i << " (-2: it hung)";
}

TEST(ForkBesideThreads, HandlesAreMadeAndEnded) {
    const Busy others(3, [] {
        specklescope_view* view = nullptr;
        EXPECT_EQ(specklescope_view_create("", &view), SPECKLESCOPE_OK);
        EXPECT_EQ(specklescope_view_free(view), SPECKLESCOPE_OK);
        EXPECT_EQ(specklescope_view_free(view), SPECKLESCOPE_BAD_HANDLE);
    });
    fork_again_and_again([] { return a_chain_lives("speckle:output=contrast"); });
}

/// oneTBB has locks as well.
TEST(ForkBesideThreads, ChainsAreMadeAndComputed) {
    Pixels pixels = random_pixels(16, 12, 4);
    std::vector<std::uint16_t> made(pixels.samples.size());
    const auto live = [](specklescope_image in, void* place) {
        specklescope_chain* chain = nullptr;
        auto settings = sized<specklescope_settings>();
        settings.options = "backend=cpu";
        specklescope_image out = in;
        out.data = place;
        if (specklescope_chain_create("", &settings, &chain) != SPECKLESCOPE_OK)
            return 1;
        for (int i = 0; i < 3; ++i)
            if (specklescope_chain_process(chain, &in, nullptr, &out, nullptr) != SPECKLESCOPE_OK)
                return 2;
        return specklescope_chain_free(chain) == SPECKLESCOPE_OK ? 0 : 3;
    };
    const specklescope_image in = image_of(pixels);
    const Chain before("speckle:output=contrast", "backend=cpu");
    const std::vector<float> expected = run(before, pixels);
    const Busy others(3, [&] {
        std::vector<std::uint16_t> own(pixels.samples.size());
        EXPECT_EQ(live(in, own.data()), 0) << specklescope_last_error();
    });
    fork_again_and_again([&] {
        if (const int wrong = live(in, made.data()); wrong != 0)
            return wrong;
        return run(before, pixels) == expected ? 0 : 4;
    });
}

TEST(ForkBesideThreads, PlansOfFourierTransformsAreMade) {
    const char* const text = "convolve:kernel=gaussian,sigma=5 | speckle:output=contrast";
    ASSERT_EQ(a_chain_lives(text), 0) << specklescope_last_error();
    const Busy others(2, [&] { EXPECT_EQ(a_chain_lives(text), 0) << specklescope_last_error(); });
    fork_again_and_again([&] { return a_chain_lives(text); });
}

TEST(ForkBesideThreads, ChainsAreEdited) {
    const Chain chain("speckle:output=contrast", "backend=cpu,threads=1");
    Pixels pixels = random_pixels(16, 12, 4);
    const Busy others(3, [&] {
        EXPECT_EQ(specklescope_chain_set(chain, 0, "radius", "2"), SPECKLESCOPE_OK);
        EXPECT_EQ(specklescope_chain_set_regions(chain, ""), SPECKLESCOPE_OK);
    });
    fork_again_and_again([&] {
        if (specklescope_chain_replace(chain, "speckle:output=contrast,radius=2") != SPECKLESCOPE_OK)
            return 1;
        run(chain, pixels);
        return testing::Test::HasFailure() ? 2 : 0;
    });
}

/// One that is in a call is half changed: it is not for the child. Never is a chain that nobody uses told to
/// be busy.
TEST(ForkBesideThreads, ChainsAndViewsAreInCalls) {
    const Chain shared("temporal:frames=4,output=contrast", "backend=cpu,threads=1");
    specklescope_view* view = nullptr;
    ASSERT_EQ(specklescope_view_create("", &view), SPECKLESCOPE_OK);
    Pixels pixels = random_pixels(160, 120, 4), small = random_pixels(16, 12, 5);
    std::vector<float> made(160 * 120);
    std::vector<std::uint8_t> rgb(160 * 120 * 3);
    const specklescope_image in = image_of(pixels), out = image_of(made, 160, 120);
    specklescope_image colors = in;
    colors.data = rgb.data();
    colors.channels = 3;
    colors.type = SPECKLESCOPE_U8;
    int left = 0;
    {
        const Busy other(1, [&] {
            EXPECT_EQ(specklescope_chain_process(shared, &in, nullptr, &out, nullptr), SPECKLESCOPE_OK)
                << specklescope_last_error();
            EXPECT_EQ(specklescope_view_colors(view, &in, &colors, nullptr, nullptr), SPECKLESCOPE_OK)
                << specklescope_last_error();
        });
        for (int i = 0; i < kForks; ++i) {
            const int status = in_child(true, [&] {
                const bool well =
                    specklescope_chain_process(shared, &in, nullptr, &out, nullptr) == SPECKLESCOPE_OK;
                if (!well && std::string(specklescope_last_error()) !=
                                 "This chain was on a GPU, or in a call of another thread, when the process "
                                 "forked; make another one in this process.")
                    return 1;
                if (specklescope_view_colors(view, &in, &colors, nullptr, nullptr) != SPECKLESCOPE_OK &&
                    std::string(specklescope_last_error()) != "This view was in a call of another thread "
                                                              "when the process forked; make another one in "
                                                              "this process.")
                    return 2;
                if (specklescope_chain_free(shared) != SPECKLESCOPE_OK)
                    return 3;
                return well ? 0 : 100;
            });
            ASSERT_TRUE(status == 0 || status == 100) << status;
            left += status == 100 ? 1 : 0;
        }
    }
    EXPECT_GT(left, 0) << "no fork came while the chain was in a call";
    EXPECT_EQ(specklescope_view_free(view), SPECKLESCOPE_OK);
}

/// Locks that a fork holds are none to whoever is not forked.
TEST(ForkBesideThreads, NobodyIsToldThatAHandleIsBusy) {
    std::atomic<int> wrong{0};
    const Busy others(3, [&] {
        const Chain own("speckle:output=contrast", "backend=cpu,threads=1");
        for (int i = 0; i < 20; ++i)
            wrong += specklescope_chain_reset(own) == SPECKLESCOPE_OK ? 0 : 1;
    });
    fork_again_and_again([] { return 0; });
    EXPECT_EQ(wrong, 0);
}

/// The thread that forks may be in the call itself: it comes back from it in both processes.
TEST(ForkBesideThreads, AForkInTheQuestionWhetherItGoesOn) {
    struct Asked {
        bool forked = false;
        pid_t child = -1;
    } asked;
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu,threads=1";
    settings.user = &asked;
    settings.goes_on = [](void* user, const char*, double) {
        auto& one = *static_cast<Asked*>(user);
        if (!std::exchange(one.forked, true))
            one.child = ::fork();
        return 1;
    };
    specklescope_chain* chain = nullptr;
    ASSERT_EQ(specklescope_chain_create("convolve:kernel=gaussian,sigma=2 | speckle:output=contrast",
                                        &settings, &chain),
              SPECKLESCOPE_OK)
        << specklescope_last_error();
    Pixels pixels = random_pixels(32, 24, 8);
    run(chain, pixels);
    ASSERT_TRUE(asked.forked) << "nobody was asked";
    if (asked.child == 0)
        ::_exit(testing::Test::HasFailure() ? 1 : a_chain_lives("speckle"));
    int status = 0;
    ASSERT_EQ(::waitpid(asked.child, &status, 0), asked.child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    run(chain, pixels);
    EXPECT_EQ(specklescope_chain_free(chain), SPECKLESCOPE_OK);
}

} // namespace fork_threads_test
