// Traces begun during a run replace no file, not even a broken link.
#include "recording/traces.hpp"
#include "tests/recording/record_helpers.hpp"

#include <atomic>
#include <set>
#include <thread>

namespace specklescope::new_traces_test {

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

/// The file is readable without other information.
TEST(NewTraces, SayWhatEachColumnIsAndWhatALineOfAnEventHolds) {
    const TemporaryFolder folder;
    const auto sink = make_new_traces(folder / "t.csv");
    sink->open(stream_of(kSmall));
    sink->mark(
        {.number = 3, .sequence = 17, .capture_ns = 2'500'000'000, .label = "stimulus", .removed = false});
    sink->close();
    const Bytes bytes = read_bytes(folder / "t.csv");
    std::istringstream lines(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    std::set<std::string> explained;
    std::string columns, event, of_event;
    const auto fields = [](const std::string& text) {
        std::vector<std::string> all;
        std::istringstream in(text);
        for (std::string field; std::getline(in, field, ',');)
            all.push_back(field.substr(std::min(field.find_first_not_of(' '), field.size())));
        return all;
    };
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(": ");
        if (!line.starts_with("# ")) {
            columns = line;
        } else if (line.starts_with("# event: number,")) {
            event = line.substr(colon + 2, line.find(':', colon + 2) - colon - 2);
        } else if (line.starts_with("# event: ")) {
            of_event = line.substr(colon + 2);
        } else if (colon != std::string::npos) {
            for (const std::string& name : fields(line.substr(2, colon - 2)))
                explained.insert(name);
        }
    }
    for (const std::string& column : fields(columns))
        EXPECT_TRUE(column == "region" || explained.contains(column)) << column; // it has its own lines
    EXPECT_EQ(fields(event), (std::vector<std::string>{"number", "sequence", "capture_s", "label"}));
    EXPECT_EQ(fields(of_event), (std::vector<std::string>{"3", "17", "2.500000000", "stimulus"}));
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

} // namespace specklescope::new_traces_test
