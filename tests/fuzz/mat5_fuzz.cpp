// MATLAB files of version 5: read at once and in parts, with the same pixels or the same end.
// Parser: files/mat5_film.cpp files/film_array.cpp
#include "tests/fuzz/support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace specklescope;
    fuzz::check_image([](const std::string& path) { return open_mat5(path); }, fuzz::text_of(data, bytes));
    return 0;
}
