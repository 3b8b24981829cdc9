// Traces that are begun while the program runs replace nothing, links that lead nowhere neither.
#include "recording/traces.hpp"
#include "tests/recording/record_helpers.hpp"

#include <atomic>
#include <set>
#include <thread>

namespace specklescope {
namespace {

const Shape kSmall{8, 6, 1, PixelType::u8};

std::string traces_at(const std::string& wanted) {
    const auto sink = make_new_traces(wanted);
    sink->open(stream_of(kSmall));
    const std::string path = sink->status().path;
    sink->close();
    return path;
}

TEST(NewTraces, LeaveWhatHasTheNameAlone) {
    const TemporaryFolder folder;
    std::filesystem::create_symlink(folder / "victim.csv", folder / "t.csv");
    EXPECT_EQ(traces_at(folder / "t.csv"), folder / "t-1.csv");
    EXPECT_EQ(traces_at(folder / "t.csv"), folder / "t-2.csv") << "its own neither";
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "t.csv"));
    EXPECT_FALSE(std::filesystem::exists(folder / "victim.csv"));
    EXPECT_EQ(traces_at(folder / "free.csv"), folder / "free.csv");
}

TEST(NewTraces, OfTwoAtOnceHaveTwoNames) {
    const TemporaryFolder folder;
    std::mutex mutex;
    std::set<std::string> names;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (int k = 0; k < 10; ++k) {
                const std::string name = traces_at(folder / "t.csv");
                const std::lock_guard lock(mutex);
                EXPECT_TRUE(names.insert(name).second) << name;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(names.size(), 80U);
}

} // namespace
} // namespace specklescope
