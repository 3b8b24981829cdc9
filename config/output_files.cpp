// Finds files that a run would write twice, or would write and read.
#include "config/outputs.hpp"

#include "base/text.hpp"
#include "config/settings.hpp"
#include "files/whole_file.hpp"
#include "sources/files/image_sequence.hpp"
#include "sources/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <tuple>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

using Node = std::pair<dev_t, ino_t>;

Node node_of(const struct stat& found) { return {found.st_dev, found.st_ino}; }

/// Follows links.
std::optional<Node> folder_node(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? std::optional(node_of(found)) : std::nullopt;
}

/// Node of an existing file. Reading follows links; writing replaces the link itself.
std::optional<Node> file_node(const std::string& path, bool read) {
    struct stat found {};
    const int status = read ? ::stat(path.c_str(), &found) : ::lstat(path.c_str(), &found);
    return status == 0 && S_ISREG(found.st_mode) ? std::optional(node_of(found)) : std::nullopt;
}

/// A file, and the option that names it: "--record a.raw".
struct Claim {
    std::string who;
    std::string path;
    bool read = false;
    bool beside = false; ///< written in addition to the named file
    std::size_t run = 0; ///< number of the run; for a read file, of the last run that reads it
};

std::string text_of(const Claim& claim) {
    return "'" + one_line(claim.who) + "'" +
           (claim.beside ? ", with " + one_line(claim.path) + " next to it," : "");
}

/// Two files are the same if they have the same name in the same folder, or if both exist and have the same
/// node.
class Claims {
public:
    void add(const Claim& claim) {
        if (const auto folder = folder_node(folder_of(claim.path))) {
            const std::string name = fs::path(claim.path).filename().string();
            const auto [first, mine] = places_.try_emplace({*folder, name}, claim);
            if (!mine)
                refuse(first->second, claim);
            for (auto [read, end] = folders_.equal_range(*folder); read != end; ++read)
                if (!claim.read && will_be_read(read->second, claim))
                    refuse(read->second, claim);
        }
        if (const auto file = file_node(claim.path, claim.read)) {
            const auto [first, mine] = files_.try_emplace(*file, claim);
            if (!mine)
                refuse(first->second, claim);
        }
    }
    /// Every image in the folder, or of a sequence in it, will be read.
    void add_pictures(const Claim& claim) {
        const std::string folder = is_folder(claim.path) ? claim.path : folder_of(claim.path);
        if (const auto node = folder_node(folder))
            folders_.emplace(*node, claim);
    }

private:
    static bool is_folder(const std::string& path) {
        std::error_code ignored;
        return fs::is_directory(path, ignored);
    }
    /// True if `read` will include the written file: it exists, or will exist when the folder is opened.
    static bool will_be_read(const Claim& read, const Claim& written) {
        const fs::path name = fs::path(written.path).filename();
        const bool picture =
            is_folder(read.path) ? has_image_ending(name.string()) : may_be_in_sequence(read.path, name);
        std::error_code ignored;
        return picture && (read.run > written.run || fs::exists(written.path, ignored));
    }
    /// Throws UsageError, unless both only read the file.
    static void refuse(const Claim& first, const Claim& second) {
        if (first.read && second.read)
            return;
        const Claim& read = first.read ? first : second;
        const Claim& written = first.read ? second : first;
        if (read.read)
            throw UsageError(text_of(written) + " would overwrite " + text_of(read) +
                             ", which is read. Choose another name.");
        throw UsageError(text_of(first) + " and " + text_of(second) +
                         " would be the same file. Rename one of them.");
    }

    std::map<std::pair<Node, std::string>, Claim> places_;
    std::map<Node, Claim> files_;
    std::multimap<Node, Claim> folders_;
};

/// Targets that are no files are checked elsewhere.
bool may_be_written(const std::string& path) {
    std::error_code ignored;
    const fs::file_status there = fs::status(path, ignored);
    return !path.empty() && !is_stream(path) && (!fs::exists(there) || fs::is_regular_file(there));
}

void add_source(const SourceArgument& source, std::size_t run, Claims& claims) {
    std::optional<SourceText> text;
    try {
        text = parse_source_text(source.revealed());
    } catch (const UsageError&) { // opening the source reports it
        return;
    }
    std::error_code ignored;
    if (!is_file_kind(text->kind) || text->target.empty())
        return;
    const bool sequence =
        text->kind == "image" && is_number_pattern(text->target) && !fs::exists(text->target, ignored);
    const bool folder = fs::is_directory(text->target, ignored);
    if (sequence || folder)
        claims.add_pictures({source.shown(), text->target, true, false, run});
    if (!folder)
        claims.add({source.shown(), text->target, true});
    if (text->kind == "raw")
        claims.add({source.shown(), text->target + ".jsonl", true, true});
}

} // namespace

void check_outputs(const std::vector<Settings>& runs) {
    Claims claims;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        const Settings& settings = runs[run];
        add_source(settings.source, run, claims);
        const auto& program = settings.program.as<ProgramSettings>();
        for (const auto& [option, path] : {std::pair{"--regions", &settings.regions_path},
                                           {"--baseline", &program.baseline.file},
                                           {"--curve-key", &program.curve_key}})
            if (!path->empty())
                claims.add({std::string(option) + " " + *path, *path, true});
        for (const ChainStage& stage : settings.chain.stages())
            for (const ParamDecl& decl : stage.params.table().decls())
                if (const std::string path =
                        decl.kind == ParamKind::path ? to_string(stage.params.get(decl.name)) : "";
                    !path.empty())
                    claims.add({decl.name + " = " + path, path, true});
    }
    for (std::size_t run = 0; run < runs.size(); ++run) {
        for (const auto& [kind, target, of] : runs[run].outputs) {
            if (!kind->file || !may_be_written(target))
                continue;
            const auto files = kind->files ? kind->files(target, runs[run]) : std::vector{target};
            for (const std::string& file : files)
                claims.add({"--" + kind->option() + " " + target, file, false, file != target, run});
        }
    }
}

void check_outputs(const BenchSettings& bench) {
    Claims claims;
    for (const std::string& file : bench.files)
        claims.add({file, file, true});
    if (may_be_written(bench.json))
        claims.add({"--json " + bench.json, bench.json});
}

} // namespace specklescope
