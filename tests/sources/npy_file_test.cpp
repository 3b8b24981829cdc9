// NPY files larger than one read, written by numpy, and invalid shapes.
#include "base/error.hpp"
#include "files/npy_file.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace specklescope::npy_file_test {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

/// Every number is its index in row order.
TEST(NpyFile, LargeFilesAreCompleteInEitherOrder) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, R"py(
import numpy
a = numpy.arange(3 * 500 * 401, dtype=numpy.uint32).reshape(3, 500, 401)
numpy.save("rows.npy", a)
numpy.save("columns.npy", numpy.asfortranarray(a))
numpy.save("swapped.npy", a.astype(">f8"))
assert numpy.load("columns.npy").flags.f_contiguous
)py")) << test::read_file(folder / "python.log");
    for (const char* name : {"rows.npy", "columns.npy", "swapped.npy"}) {
        const NpyArray array = read_npy(folder / name, kAny);
        EXPECT_EQ(array.shape, (std::vector<std::size_t>{3, 500, 401})) << name;
        ASSERT_EQ(array.values.size(), std::size_t{3} * 500 * 401) << name;
        for (std::size_t i = 0; i < array.values.size(); ++i)
            ASSERT_EQ(array.values[i], static_cast<float>(i)) << name;
    }
}

TEST(NpyFile, HasOneToFourAxes) {
    const TemporaryFolder folder;
    const auto read = [&](const std::string& shape) -> std::string {
        const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n";
        test::write_file(folder / "a.npy", std::string("\x93NUMPY\x01\0", 8) +
                                               static_cast<char>(header.size()) + '\0' + header + "ab");
        try {
            std::string sides;
            for (const std::size_t side : read_npy(folder / "a.npy", kAny).shape)
                sides += std::to_string(side) + " ";
            return sides;
        } catch (const RunError& error) {
            return error.what();
        }
    };
    EXPECT_EQ(read("(2,)"), "2 ");
    EXPECT_EQ(read("(1, 2)"), "1 2 ");
    EXPECT_EQ(read("(1, 1, 2)"), "1 1 2 ");
    EXPECT_EQ(read("(1, 1, 1, 2)"), "1 1 1 2 ");
    for (const char* none :
         {"(1, 1, 1, 1, 2)", "(1, x)", "(1, 1, 1, 2, x)", "(-2,)", "(99999999999999999999999,)"})
        EXPECT_NE(read(none).find("its shape is not one to four numbers"), std::string::npos) << read(none);
}

} // namespace specklescope::npy_file_test
