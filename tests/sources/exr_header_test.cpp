// An OpenEXR header that claims more than the file contains is refused before memory is allocated.
#include "base/error.hpp"
#include "files/image_file.hpp"
#include "have_exr.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/images.hpp"

#include <gtest/gtest.h>

namespace specklescope::exr_header_test {

#ifdef SPECKLESCOPE_HAVE_EXR
/// The error for these bytes.
std::string refusal(const std::string& bytes) {
    const TemporaryFolder folder;
    test::write_file(folder / "a.exr", bytes);
    try {
        (void)open_exr(folder / "a.exr");
    } catch (const RunError& error) {
        return error.what();
    }
    return "";
}

std::string attribute(const std::string& name, std::uint64_t claimed, const std::string& value) {
    return name + '\0' + "string" + '\0' + little(claimed, 4) + value;
}

TEST(ExrHeader, ClaimsBeyondTheFileAreRefusedBeforeReading) {
    const std::string magic = "v/1\x01", plain = little(2, 4), parts = little(0x1002, 4);
    const std::string fine = attribute("note", 2, "ab"), end(1, '\0');
    for (const std::uint64_t claimed :
         {std::uint64_t{3}, std::uint64_t{1} << 30U, std::uint64_t{0xffffffff}}) {
        const std::string large = attribute("large", claimed, "ab");
        const std::string says =
            "its attribute 'large' claims " + std::to_string(claimed) + " bytes, and it ends before them.";
        EXPECT_NE(refusal(magic + plain + large).find(says), std::string::npos);
        EXPECT_NE(refusal(magic + plain + fine + large).find(says), std::string::npos);
        EXPECT_NE(refusal(magic + parts + fine + end + large).find(says), std::string::npos)
            << "in the header of the second part";
    }
    // Nor may it have another size than its type, since the library continues reading after it.
    const auto of_type = [&](const std::string& type, const std::string& value) {
        return magic + plain + "odd" + '\0' + type + '\0' + little(value.size(), 4) + value;
    };
    const std::string channel = std::string("Y") + '\0' + std::string(16, '\1');
    for (const auto& [type, value] : std::vector<std::pair<std::string, std::string>>{
             {"compression", "12"},
             {"chlist", channel},
             {"chlist", end + channel},
             {"chlist", channel + end + end},
             {"preview", little(2, 4) + little(3, 4) + std::string(23, 'p')},
             {"preview", "p"},
             {"stringvector", little(3, 4) + "ab"},
             {"stringvector", little(1, 4) + "ab"}})
        EXPECT_NE(
            refusal(of_type(type, value)).find("its attribute 'odd' has another size than its type " + type),
            std::string::npos)
            << type;
    // Data after the header is not part of it, and other damage is reported by the library.
    for (const std::string& other :
         {magic + plain + fine + end + attribute("large", 99, ""), of_type("chlist", channel + end),
          of_type("stringvector", little(1, 4) + "a" + little(0, 4)),
          of_type("preview", little(1, 4) + little(1, 4) + "pppp"), of_type("anything", "abc"),
          magic + parts + fine + end + end + "x", magic + plain + fine, magic + plain + std::string(300, 'n'),
          std::string("v/1"), std::string()})
        EXPECT_NE(refusal(other).find("is not a readable OpenEXR file (OpenEXR: "), std::string::npos)
            << refusal(other);
}

/// A single-part file of this kind: two black pixels.
std::string part_of_type(const std::string& type) {
    const auto typed = [](const std::string& name, const std::string& of, const std::string& value) {
        return name + '\0' + of + '\0' + little(value.size(), 4) + value;
    };
    const std::string one("\0\0\x80\x3f", 4), zero(4, '\0'); // 1.0F, 0
    const std::string box = zero + zero + little(1, 4) + zero;
    const std::string channel =
        std::string("Y") + '\0' + little(1, 4) + zero + little(1, 4) + little(1, 4) + '\0';
    const std::string head =
        std::string("v/1\x01") + little(0x1002, 4) + typed("channels", "chlist", channel) +
        typed("compression", "compression", zero.substr(3)) + typed("dataWindow", "box2i", box) +
        typed("displayWindow", "box2i", box) + typed("lineOrder", "lineOrder", zero.substr(3)) +
        typed("pixelAspectRatio", "float", one) + typed("screenWindowCenter", "v2f", zero + zero) +
        typed("screenWindowWidth", "float", one) + typed("name", "string", "a") +
        typed("type", "string", type) + typed("chunkCount", "int", little(1, 4)) + '\0' + '\0';
    return head + little(head.size() + 8, 8) + zero + zero + little(4, 4) + zero;
}

/// The library quotes the file, including line ends.
TEST(ExrHeader, TheLibrarysTextEndsTheMessageWithoutBlanks) {
    EXPECT_EQ(refusal(part_of_type("scanlineimage")), "");
    for (const std::string type : {"strange", "strange\n", "strange\n\n"}) { // NOLINT: copies of literals
        const std::string said = refusal(part_of_type(type));
        ASSERT_TRUE(said.ends_with(").")) << said;
        EXPECT_FALSE(std::isspace(static_cast<unsigned char>(said[said.size() - 3]))) << said;
        EXPECT_NE(said.find("is not a readable OpenEXR file (OpenEXR: "), std::string::npos) << said;
    }
}
#endif

} // namespace specklescope::exr_header_test
