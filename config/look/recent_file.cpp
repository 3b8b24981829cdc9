#include "config/look/recent_file.hpp"

#include "base/log.hpp"
#include "base/sentence.hpp"
#include "config/atomic_file.hpp"
#include "config/data_folder.hpp"
#include "config/text.hpp"
#include "sources/source_text.hpp"

#include <spdlog/spdlog.h>
#include <toml++/toml.h>

#include <filesystem>
#include <sstream>

namespace specklescope {

namespace {

constexpr std::size_t kMost = 32;

std::string recent_path() {
    const std::string folder = user_folder();
    return folder.empty() ? "" : folder + "/recent.toml";
}

std::string kept_text(const SourceArgument& source) {
    try {
        return absolute_source_text(source).referring().revealed();
    } catch (const std::exception&) { // it was opened once, and may be read no more
        return source.referring().revealed();
    }
}

} // namespace

std::vector<SourceArgument> load_recent() {
    const std::string path = recent_path();
    std::vector<SourceArgument> sources;
    std::error_code ignored;
    if (path.empty() || !std::filesystem::is_regular_file(path, ignored))
        return sources;
    try {
        const toml::table root = toml::parse_file(path);
        if (const toml::array* list = root["recent"].as_array())
            for (const toml::node& item : *list)
                if (const auto* text = item.as_string();
                    text && !text->get().empty() && sources.size() < kMost)
                    sources.emplace_back(text->get());
    } catch (const toml::parse_error& error) {
        run_log().warn("What was open lately is left out: {}, line {}: {}.", path, error.source().begin.line,
                       one_line(error.description()));
    }
    return sources;
}

void save_recent(const std::vector<SourceArgument>& sources) {
    const std::string path = recent_path();
    if (path.empty())
        return;
    try {
        toml::array list;
        for (const SourceArgument& source : sources)
            if (const std::string text = kept_text(source); is_utf8(text) && list.size() < kMost)
                list.push_back(text);
        std::ostringstream out;
        out << "# What the window had open lately, newest first.\n" << toml::table{{"recent", list}} << "\n";
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        write_atomically(path, out.str(), 0600);
    } catch (const std::exception& error) {
        run_log().warn("What was open lately cannot be kept: {}", sentence_of(error));
    }
}

} // namespace specklescope
