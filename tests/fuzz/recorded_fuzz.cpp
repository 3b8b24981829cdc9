// Settings from recordings, in the lines of a headerless file's sidecar: a refused text changes nothing, no
// stage reads a file unless that is allowed, and accepted settings are equal when printed.
// Parser: config/recorded/recorded_settings.cpp
#include "analysis/regions_file.hpp"
#include "config/settings.hpp"
#include "config/toml.hpp"
#include "tests/fuzz/support.hpp"

#include <filesystem>
#include <fstream>

namespace specklescope::fuzz {
namespace {

/// An empty recording r.raw with the input as its sidecar; removed at process exit.
class Recording {
public:
    Recording() {
        const std::filesystem::path memory = "/dev/shm"; // a disk would be slow for every input
        std::error_code none;
        const bool fast = std::filesystem::is_directory(memory, none);
        std::string place =
            ((fast ? memory : std::filesystem::temp_directory_path()) / "specklescope-fuzz-XXXXXX").string();
        demand(mkdtemp(place.data()) != nullptr, "no folder for the recording can be made");
        folder_ = place;
        std::ofstream{path()}.flush();
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    std::string path() const { return (folder_ / "r.raw").string(); }
    void say(std::string_view lines) const {
        std::ofstream beside(path() + ".jsonl", std::ios::binary | std::ios::trunc);
        beside.write(lines.data(), static_cast<std::streamsize>(lines.size()));
        demand(static_cast<bool>(beside.flush()), "the lines cannot be written");
    }

private:
    std::filesystem::path folder_;
};

Settings fresh(bool trusted) {
    Settings settings;
    settings.trusted = trusted;
    settings.chain.add(stage_types().front().name);
    return settings;
}

bool reads_a_file(const Chain& chain) {
    for (const ChainStage& stage : chain.stages())
        for (const ParamDecl& decl : stage.params.table().decls())
            if (decl.kind == ParamKind::path && !to_string(stage.params.get(decl.name)).empty())
                return true;
    return false;
}

void check_taken(const Settings& settings) {
    if (settings.regions)
        check_regions(*settings.regions);
    const std::string printed = to_toml(settings);
    Settings again = fresh(true);
    try {
        read_toml(printed, "printed.toml", again);
    } catch (const Error& error) {
        demand(false, std::string("settings of a recording are refused when they are printed: ") +
                          error.what() + "\n" + printed);
    }
    demand(to_string(again.chain) == to_string(settings.chain), "the chain is another when it is printed");
    demand(to_toml(again) == printed, "settings printed and read again are others:\n" + printed);
}

void check(std::string_view bytes) {
    static const Recording recording;
    recording.say(bytes);
    for (const bool trusted : {false, true}) {
        Settings settings = fresh(trusted);
        const std::string untouched = to_toml(settings);
        const std::string sentence =
            sentence_of(bytes.size(), false, [&] { load_recorded(recording.path(), settings); });
        if (!sentence.empty()) {
            demand(sentence.find("r.raw") != std::string::npos,
                   "the error does not name its file: " + sentence);
            demand(to_toml(settings) == untouched && !settings.regions && settings.remarks.empty(),
                   "a recording that was refused changed the settings");
            continue;
        }
        demand(trusted || !reads_a_file(settings.chain), "a recording makes a stage read a file");
        check_taken(settings);
    }
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
