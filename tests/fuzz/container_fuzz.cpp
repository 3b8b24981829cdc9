// Lengths claimed by video files: the result is repeatable, needs no more system calls than there are parts
// to read, and each of them can be cancelled.
// Parser: sources/gst/gst_container.cpp sources/gst/container_bytes.cpp
#include "base/long_work.hpp"
#include "sources/gst/gst_container.hpp"
#include "tests/fuzz/support.hpp"

namespace specklescope::fuzz {
namespace {

struct Looked {
    std::uint64_t claimed = 0;
    std::string texts;
    bool operator==(const Looked&) const = default;
};

/// `asked`: number of progress reports; number `stop` cancels.
Looked look(const std::string& path, std::size_t& asked, std::size_t stop) {
    asked = 0;
    const WatchWork watch([&](std::string_view, double) { return ++asked != stop; });
    Looked looked;
    looked.claimed = claimed_bytes(path);
    looked.texts = matroska_texts(path);
    return looked;
}

void check(std::string_view bytes) {
    const FileOf file(bytes);
    std::size_t asked = 0, again = 0;
    const Looked looked = look(file.path(), asked, 0);
    constexpr std::size_t kJumps = 100; // to tables and back
    demand(asked <= kJumps + bytes.size() / 1024,
           "the file was asked for " + std::to_string(asked) + " times");
    demand(looked.texts.size() <= bytes.size(), "there is more text than file");
    demand(looked.texts.empty() || bytes.starts_with("\x1a\x45\xdf\xa3"),
           "what is no Matroska has its texts");
    demand(look(file.path(), again, 0) == looked && again == asked, "the same file claims something else");
    if (asked == 0)
        return;
    const std::size_t stop = 1 + bytes.size() % asked;
    bool stopped = false;
    try {
        (void)look(file.path(), again, stop);
    } catch (const Cancelled&) {
        stopped = true;
    }
    demand(stopped && again == stop, "it goes on although nobody wants it");
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
