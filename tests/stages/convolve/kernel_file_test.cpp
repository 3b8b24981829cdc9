// Kernels from files: unchanged values for any order and type of the numbers.
#include "base/error.hpp"
#include "stages/convolve/convolve.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <sstream>

namespace specklescope::test::kernel_file_test {

using Kernel = ConvolveParams::Kernel;
constexpr Shape kImage{64, 48, 1, PixelType::f32};

/// An NPY file of version 1 with this header and data.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                bool fortran = false, int version = 1) {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                         ", 'shape': " + shape + ", }";
    header.resize((header.size() + 12 + 63) / 64 * 64 - 12, ' ');
    return "\x93NUMPY" + std::string(1, static_cast<char>(version)) + std::string(1, '\0') +
           little(header.size(), version == 1 ? 2 : 4) + header + data;
}

template <class T, class Bits> std::string numbers(const std::vector<double>& values, bool big = false) {
    std::string bytes;
    for (const double value : values) {
        std::string one = little(std::bit_cast<Bits>(static_cast<T>(value)), sizeof(T));
        if (big)
            std::reverse(one.begin(), one.end());
        bytes += one;
    }
    return bytes;
}

TEST(KernelFile, npy_is_read_in_every_order_and_type) {
    const TemporaryFolder folder;
    const std::vector<float> expected = {1, 2, 3, 4, 5, 6}; // 2 rows of 3
    const std::vector<double> rows = {1, 2, 3, 4, 5, 6};
    const std::vector<double> columns = {1, 4, 2, 5, 3, 6};
    const std::pair<const char*, std::string> files[] = {
        {"f4", npy("<f4", "(2, 3)", numbers<float, std::uint32_t>(rows))},
        {"f4 big", npy(">f4", "(2, 3)", numbers<float, std::uint32_t>(rows, true))},
        {"f8", npy("<f8", "(2,3)", numbers<double, std::uint64_t>(rows))},
        {"f8 fortran", npy("<f8", "(2, 3)", numbers<double, std::uint64_t>(columns), true)},
        {"u1", npy("|u1", "(2, 3)", numbers<std::uint8_t, std::uint8_t>(rows))},
        {"u2 big", npy(">u2", "(2, 3)", numbers<std::uint16_t, std::uint16_t>(rows, true))},
        {"i4", npy("<i4", "(2, 3)", numbers<std::int32_t, std::uint32_t>(rows))},
        {"version 2", npy("<f4", "(2, 3)", numbers<float, std::uint32_t>(rows), false, 2)},
    };
    for (const auto& [name, bytes] : files) {
        write_file(folder / "k.npy", bytes);
        const ConvolveKernel kernel = read_kernel(folder / "k.npy");
        EXPECT_EQ(kernel.width, 3) << name;
        EXPECT_EQ(kernel.height, 2) << name;
        EXPECT_EQ(kernel.channels, 1) << name;
        EXPECT_EQ(kernel.weights, expected) << name;
    }
}

/// 48 kB of PNG would expand to 1.9 GB.
TEST(KernelFile, a_picture_too_large_for_a_kernel_is_refused_by_its_header) {
    const TemporaryFolder folder;
    const std::string path = folder / "large.png";
    ASSERT_TRUE(python(folder, R"(
import struct, zlib
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open("large.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 20000, 20000, 8, 0, 0, 0, 0))
                             + chunk(b"IDAT", zlib.compress(bytes(20001))))
)")) << read_file(folder / "python.log");
    try {
        (void)read_kernel(path);
        ADD_FAILURE() << "it was read";
    } catch (const RunError& error) {
        const std::string said = error.what();
        EXPECT_NE(said.find("20000×20000 u8"), std::string::npos) << said;
        EXPECT_NE(said.find("too large for a kernel"), std::string::npos) << said;
    }
}

TEST(KernelFile, npy_of_every_number_type_of_numpy) {
    const TemporaryFolder folder;
    ASSERT_TRUE(python(
        folder, "import numpy as np\n"
                "names = []\n"
                "for t in np.sctypes['int'] + np.sctypes['uint'] + np.sctypes['float'] + [np.bool_]:\n"
                "    for order in '<>':\n"
                "        kind = np.dtype(t).newbyteorder(order)\n"
                "        a = np.array([[0, 1, 100], [1, 0, 7]]).astype(kind)\n"
                "        if kind.kind in 'if': a[0, 0] = -3\n"
                "        if kind.kind == 'f': a[1, 1] = 2.0 ** -20\n"
                "        names.append(f'{kind.kind}{kind.itemsize}{order == \"<\" and \"l\" or \"b\"}')\n"
                "        np.save(names[-1], a)\n"
                "print(*names, file=open('names', 'w'))\n"))
        << "needs python3-numpy";
    std::istringstream names(read_file(folder / "names"));
    int count = 0;
    for (std::string name; names >> name; ++count) {
        const std::vector<float> weights = read_kernel(folder / (name + ".npy")).weights;
        const bool truth = name[0] == 'b', sign = name[0] == 'i' || name[0] == 'f';
        const std::vector<float> expected = {
            sign ? -3.0F : 0.0F, 1, truth ? 1.0F : 100.0F, 1, name[0] == 'f' ? 0x1p-20F : 0.0F,
            truth ? 1.0F : 7.0F};
        EXPECT_EQ(weights, expected) << name;
    }
    EXPECT_EQ(count, 26) << "4 int, 4 uint, 4 float, bool";
}

TEST(KernelFile, colour_is_split_or_averaged_on_request) {
    const TemporaryFolder folder;
    write_file(folder / "side.npy",
               npy("<f4", "(1, 2, 3)", numbers<float, std::uint32_t>({1, 2, 3, 5, 6, 7})));
    write_file(folder / "planes.npy",
               npy("<f4", "(3, 1, 2)", numbers<float, std::uint32_t>({1, 5, 2, 6, 3, 7})));
    for (const char* name : {"side.npy", "planes.npy"}) {
        const ConvolveKernel kernel = read_kernel(folder / name);
        EXPECT_EQ(kernel.channels, 3);
        EXPECT_EQ(kernel.weights, (std::vector<float>{1, 5, 2, 6, 3, 7}));
    }
    ConvolveParams params;
    params.kernel = Kernel::file;
    params.file = folder / "side.npy";
    params.normalize = false;
    const Shape color{64, 48, 3, PixelType::u8};
    EXPECT_EQ(make_kernel(params, color).weights, (std::vector<float>{2, 6}));
    params.per_channel = true;
    EXPECT_EQ(make_kernel(params, color).channels, 3);
    // a grey image has one channel
    EXPECT_EQ(make_kernel(params, kImage).weights, (std::vector<float>{2, 6}));
    params.normalize = true;
    const ConvolveKernel each = make_kernel(params, color);
    for (int c = 0; c < 3; ++c)
        EXPECT_NEAR(each.row(c, 0)[0] + each.row(c, 0)[1], 1, 1e-6);
}

TEST(KernelFile, png_and_tiff_are_unscaled_values) {
    const TemporaryFolder folder;
    ASSERT_TRUE(python(folder, "import numpy as np, PIL.Image as I\n"
                               "I.fromarray(np.array([[0, 7, 255], [1, 2, 3]], np.uint8)).save('k.png')\n"
                               "I.fromarray(np.array([[0.5, -2], [3e4, 1]], np.float32)).save('k.tif')\n"))
        << "needs python3-numpy and python3-pil";
    EXPECT_EQ(read_kernel(folder / "k.png").weights, (std::vector<float>{0, 7, 255, 1, 2, 3}));
    EXPECT_EQ(read_kernel(folder / "k.tif").weights, (std::vector<float>{0.5F, -2, 3e4F, 1}));
}

/// The message of an error of this kind.
template <class E> std::string sentence(const std::function<void()>& call) {
    try {
        call();
    } catch (const E& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.ends_with('.')) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        return text;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(KernelFile, refuses_other_files) {
    const TemporaryFolder folder;
    const std::string data(48, '\1');
    const std::tuple<const char*, std::string, const char*> files[] = {
        {"empty", "", "is empty"},
        {"text", "hello, world", "is not an image"},
        {"short", npy("<f4", "(2, 3)", "abc"), "cut short"},
        {"only the magic", "\x93NUMPY", "cut short"},
        {"complex", npy("<c8", "(2, 3)", data), "'<c8'; allowed: f2, f4"},
        {"object", npy("|O", "(2, 3)", data), "'|O'; allowed: f2, f4"},
        {"no type", npy("", "(2, 3)", data), "''; allowed: f2, f4"},
        {"one axis", npy("<f4", "(6,)", data), "an array of 6; allowed: height×width"},
        {"no axis", npy("<f4", "()", data), "a single number"},
        {"four channels", npy("<f4", "(1, 3, 4)", data), "an array of 1×3×4; allowed"},
        {"no pixel", npy("<f4", "(0, 4)", data), "empty"},
        {"huge", npy("<f4", "(99999999, 99999999)", data), "too large"},
        {"long side", npy("|u1", "(1, 70000)", std::string(70000, 'a')), "up to 65536"},
        {"negative", npy("<f4", "(-2, 3)", data), "not one to four numbers"},
        {"version 9", npy("<f4", "(2, 3)", data, false, 9), "version is 9"},
    };
    for (const auto& [name, bytes, words] : files) {
        write_file(folder / "bad", bytes);
        const std::string text = sentence<RunError>([&] { (void)read_kernel(folder / "bad"); });
        EXPECT_NE(text.find(words), std::string::npos) << name << ": " << text;
    }
    EXPECT_NE(sentence<RunError>([&] { (void)read_kernel(folder / "none.npy"); }).find("There is no file"),
              std::string::npos);
}

TEST(KernelFile, refuses_invalid_weights) {
    const TemporaryFolder folder;
    ConvolveParams params;
    params.kernel = Kernel::file;
    EXPECT_NE(sentence<UsageError>([&] { (void)make_kernel(params, kImage); }).find("needs the name"),
              std::string::npos);
    for (const char* wrong : {"none.npy", "text"}) {
        params.file = folder / wrong;
        write_file(folder / "text", "hello, world");
        const std::string text = sentence<UsageError>([&] { (void)make_kernel(params, kImage); });
        EXPECT_EQ(text.find("stage convolve: file: "), 0U) << text;
        EXPECT_NE(text.find(wrong), std::string::npos) << text;
    }
    params.file = folder / "k.npy";
    write_file(params.file, npy("<f4", "(1, 3)", numbers<float, std::uint32_t>({1, -2, 1})));
    EXPECT_NE(sentence<UsageError>([&] { (void)make_kernel(params, kImage); }).find("normalize = false"),
              std::string::npos);
    params.normalize = false;
    EXPECT_EQ(make_kernel(params, kImage).weights, (std::vector<float>{1, -2, 1}));
    write_file(params.file, npy("<f4", "(1, 2)", numbers<float, std::uint32_t>({1, std::nan("")})));
    EXPECT_NE(sentence<UsageError>([&] { (void)make_kernel(params, kImage); }).find("finite"),
              std::string::npos);
}

} // namespace specklescope::test::kernel_file_test
