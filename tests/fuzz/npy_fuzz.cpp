// NPY files: data written as float32 in C order are read back with the same bits.
// Parser: files/npy_file.cpp files/film_array.cpp
#include "files/npy_file.hpp"
#include "tests/fuzz/support.hpp"

#include <array>
#include <bit>

namespace specklescope::fuzz {
namespace {

std::string written(const NpyArray& array) {
    std::string shape;
    for (const std::size_t side : array.shape)
        shape += std::to_string(side) + ", ";
    const std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }" + std::string(16, ' ') + "\n";
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size());
    file += '\0';
    file += header;
    for (const float value : array.values) {
        const auto bits = std::bit_cast<std::array<char, 4>>(value); // on a little-endian machine
        file.append(bits.data(), bits.size());
    }
    return file;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void check(std::string_view bytes) {
    const FileOf file(bytes);
    NpyArray array;
    if (!sentence_of(bytes.size(), true, [&] {
             demand(is_npy(file.path()) == bytes.starts_with("\x93NUMPY"), "is_npy looks at something else");
             array = read_npy(file.path());
         }).empty())
        return;
    std::size_t values = 1;
    for (const std::size_t side : array.shape)
        values *= side;
    demand(!array.shape.empty() && array.shape.size() <= 4 && values == array.values.size() && values > 0,
           "the shape is not that of the values");
    const FileOf copy(written(array));
    const NpyArray again = read_npy(copy.path());
    demand(again.shape == array.shape && same_bits(again.values, array.values),
           "an array written and read again is another");
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
