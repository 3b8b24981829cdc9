#include "bench/peers.hpp"

#include "base/error.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace specklescope::bench {

nlohmann::ordered_json run_peers(const std::string& filter) {
    namespace fs = std::filesystem;
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const char* name : {"specklescope-peers", "specklescope-peers-cuda"}) {
        const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / name;
        if (!fs::exists(program)) {
            spdlog::info(
                "{} was not built (it needs the libraries to compare with); those rows are left out.", name);
            continue;
        }
        if (filter.find('\'') != std::string::npos || program.string().find('\'') != std::string::npos)
            throw UsageError("--peers: ' is possible neither in --filter nor in where the program lies.");
        const std::string command = "'" + program.string() + "' '" + filter + "'";
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
            popen(command.c_str(), "r"), pclose); // NOLINT(bugprone-command-processor): both words are quoted
        std::string text;
        std::array<char, 4096> part{};
        while (pipe && std::fgets(part.data(), part.size(), pipe.get()))
            text += part.data();
        try {
            for (auto& row : nlohmann::ordered_json::parse(text))
                rows.push_back(std::move(row));
        } catch (const nlohmann::json::exception&) {
            spdlog::warn("{} failed, and its rows are left out; run it by itself to see why.", name);
        }
    }
    return rows;
}

} // namespace specklescope::bench
