// SOURCE texts: parsed, made absolute once and twice, and their options set like in make_source().
// Parser: sources/source_text.cpp sources/registry.cpp base/source_argument.cpp
// Parser: sources/files/image_sequence.cpp
#include "sources/registry.hpp"
#include "tests/fuzz/support.hpp"

namespace specklescope::fuzz {
namespace {

bool is_file(const SourceText& source) {
    return source.kind == "image" || source.kind == "video" || source.kind == "raw";
}

void check_absolute(const std::string& text, const SourceText& source) {
    const std::string absolute = absolute_source_text(text).revealed();
    const SourceText whole = parse_source_text(absolute);
    demand(whole.kind == source.kind, "'" + absolute + "' is of another kind than '" + text + "'");
    demand(whole.options == source.options, "'" + absolute + "' has other options than '" + text + "'");
    demand(absolute_source_text(absolute).revealed() == absolute,
           "'" + absolute + "' changes when it is made absolute again");
    demand(!is_file(source) || source.target.empty() || whole.target.starts_with('/'),
           "'" + absolute + "' is not absolute");
}

/// Sources that open nothing when constructed.
bool harmless(const SourceText& source) {
    return source.kind == "synthetic" || source.kind == "raw" || source.kind == "image";
}

void check(std::string_view bytes) {
    const std::string text(bytes);
    SourceText source;
    if (!sentence_of(bytes.size(), false, [&] { source = parse_source_text(text); }).empty())
        return;
    const auto known = std::any_of(source_types().begin(), source_types().end(),
                                   [&](const SourceType& type) { return type.kind == source.kind; });
    demand(known, "kind '" + source.kind + "' is not in the registry");
    // A NUL ends a path for the system, so that it is impossible on a command line.
    if (text.find('\0') == std::string::npos)
        check_absolute(text, source);
    for (const SourceType& type : source_types())
        if (type.kind == source.kind)
            (void)sentence_of(bytes.size(), false, [&] {
                Params params(*type.table);
                for (const auto& [key, value] : source.options)
                    params.set_text(key, value);
            });
    if (harmless(source))
        (void)sentence_of(bytes.size(), false, [&] { (void)make_source(text, {.rate = 30, .loop = true}); });
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    setenv("HOME", "/nonexistent",
           1); // run in an empty folder by the campaign: no word is a file
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
