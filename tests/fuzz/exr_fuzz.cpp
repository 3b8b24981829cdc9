// OpenEXR files: read at once and in parts, with the same pixels or the same end.
// Parser: files/exr_file.cpp
#include "tests/fuzz/support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace specklescope;
    fuzz::check_image(open_exr, fuzz::text_of(data, bytes));
    return 0;
}
