// Settings files: parsed, printed and parsed again they print the same; a refused file changes nothing.
// Parser: config/toml.cpp config/settings.cpp pipeline/param.cpp
#include "config/settings.hpp"
#include "config/toml.hpp"
#include "tests/fuzz/support.hpp"

namespace specklescope::fuzz {
namespace {

Settings fresh() {
    Settings settings;
    settings.trusted = true; // refusals without it are tested in tests/config
    settings.chain.add(stage_types().front().name);
    settings.trusted = true; // also parses outputs and gst: texts
    return settings;
}

void check(std::string_view bytes) {
    Settings settings = fresh();
    const std::string untouched = to_toml(settings);
    if (!sentence_of(bytes.size(), false, [&] { read_toml(bytes, "settings.toml", settings); }).empty()) {
        demand(to_toml(settings) == untouched, "a file that was refused changed the settings");
        return;
    }
    (void)sentence_of(bytes.size(), false, [&] { specklescope::check(settings); });
    const std::string printed = to_toml(settings);
    Settings again = fresh();
    try {
        read_toml(printed, "printed.toml", again);
    } catch (const Error& error) {
        demand(false,
               std::string("settings that were printed are refused: ") + error.what() + "\n" + printed);
    }
    demand(to_toml(again) == printed, "settings printed and read again are others:\n" + printed);
    demand(to_string(again.chain) == to_string(settings.chain), "the chain is another");
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
