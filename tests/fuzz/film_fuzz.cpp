// Films of other programs: the first byte chooses the format, the rest is the file. Read at once and in
// parts, with the same pixels or the same end.
// Parser: files/film_file.cpp files/film_formats.cpp
#include "files/film_file.hpp"
#include "tests/fuzz/support.hpp"

namespace specklescope::fuzz {
namespace {

const FilmFormat* chosen = nullptr;

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace specklescope;
    if (bytes == 0)
        return 0;
    fuzz::chosen = &film_formats()[data[0] % film_formats().size()];
    fuzz::check_image([](const std::string& path) { return open_film(path, *fuzz::chosen); },
                      fuzz::text_of(data + 1, bytes - 1));
    return 0;
}
