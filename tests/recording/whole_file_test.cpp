// Files where the system does what it may and seldom does: it takes a part of a write, or a random name is
// taken.
#include "files/whole_file.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/random.hpp"

namespace specklescope::whole_file_test {

std::string text_of(const std::string& path) {
    const Bytes bytes = read_bytes(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(WholeFile, IsWholeThoughTheSystemTakesItInParts) {
    auto random = test::test_random(68);
    for (const std::size_t most : {std::size_t{1}, std::size_t{7}, std::size_t{100}}) {
        const TemporaryFolder folder;
        std::string wanted, path;
        std::vector<std::string> texts;
        for (int i = 0; i < 12; ++i) { // empty ones among them
            std::string& text = texts.emplace_back();
            for (std::size_t k = random() % 40; k > 0 && i % 5 != 0; --k)
                text += static_cast<char>('a' + random() % 26);
            wanted += text;
        }
        std::vector<iovec> parts;
        for (std::string& text : texts)
            parts.push_back({text.data(), text.size()});
        const File file = create_new(folder / "parts", path);
        const test::ShortWrites small(most);
        EXPECT_EQ(file.write_at(0, parts), 0);
        EXPECT_EQ(file.write_at(wanted.size(), wanted.data(), wanted.size()), 0);
        EXPECT_EQ(text_of(path), wanted + wanted) << most << " bytes at once";
    }
}

TEST(WholeFile, ARandomNameThatIsTakenIsFollowedByAnother) {
    const TemporaryFolder folder;
    const test::SameRandom same(3);
    UnnamedFile first(folder / "a.txt", UnnamedFile::Way::hidden),
        second(folder / "a.txt", UnnamedFile::Way::hidden);
    EXPECT_EQ(first.error(), 0);
    EXPECT_EQ(second.error(), 0) << "after two attempts at the name that the first has";
    EXPECT_EQ(same.left(), 0);
    EXPECT_EQ(folder.names().size(), 2U);
    EXPECT_EQ(first.file().write_at(0, "1", 1), 0);
    EXPECT_EQ(second.file().write_at(0, "2", 1), 0);
    EXPECT_EQ(text_of(first.publish()), "1");
    EXPECT_EQ(text_of(second.publish()), "2");
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"a-1.txt", "a.txt"}));
}

} // namespace specklescope::whole_file_test
