#include "bench/sections.hpp"

#include "base/error.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <spawn.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace specklescope::bench {

namespace {

using Clock = std::chrono::steady_clock;

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

double cpu_seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

} // namespace

pid_t start_program(std::vector<std::string> arguments, const std::string& log,
                    const std::vector<std::string>& variables) {
    arguments.insert(arguments.begin(), "specklescope");
    std::vector<char*> argv, variable;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::vector<std::string> added = variables; // before the others: the first of a name counts
    for (std::string& one : added)
        variable.push_back(one.data());
    for (char** one = environ; *one; ++one)
        variable.push_back(*one);
    variable.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), variable.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        throw RunError("The program could not be started a second time; is /proc mounted?");
    return child;
}

ProgramRun run_program(std::vector<std::string> arguments, double seconds) {
    const Scratch scratch;
    const std::string stats = scratch / "stats.json";
    const std::string log = scratch / "log.txt";
    arguments.insert(arguments.end(), {"--stats", stats, "--quiet"});
    const auto begin = Clock::now();
    const pid_t child = start_program(std::move(arguments), log);
    if (seconds > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        kill(child, SIGINT);
    }
    int status = 0;
    rusage usage{};
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    ProgramRun run;
    run.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw RunError("A run of the program failed: " + read_file(log));
    run.processor_s = cpu_seconds(usage.ru_utime) + cpu_seconds(usage.ru_stime);
    run.stats = nlohmann::json::parse(read_file(stats));
    // Both processes read the same clock.
    const double origin = std::chrono::duration<double>(begin.time_since_epoch()).count();
    const auto since = [&](const char* key) {
        const double at = run.stats.value(key, 0.0);
        return at > 0 ? at - origin : 0;
    };
    run.first_result_s = since("first_result_clock_s");
    run.first_picture_s = since("first_picture_clock_s");
    return run;
}

nlohmann::ordered_json run_peers(const std::string& filter, const nlohmann::ordered_json& ours) {
    namespace fs = std::filesystem;
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const char* name : {"specklescope-peers", "specklescope-peers-cuda", "specklescope-peers-python"}) {
        const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / name;
        if (!fs::exists(program)) {
            spdlog::info("{} was not built (it needs the libraries to compare with); those rows are omitted.",
                         name);
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
            for (auto& row : nlohmann::ordered_json::parse(text)) {
                for (const auto& stage : ours) {
                    const std::string on = stage.contains("on") ? stage["on"].get<std::string>() + " " : "";
                    if (!row.contains("ours_ms") && row["work"] == on + stage["work"].get<std::string>() &&
                        row["image"] == stage["image"])
                        row["ours_ms"] = stage["ms"];
                }
                if (row.contains("ours_ms"))
                    rows.push_back(std::move(row));
            }
        } catch (const nlohmann::json::exception&) {
            spdlog::warn("{} failed, and its rows are omitted; run it by itself to see why.", name);
        }
    }
    return rows;
}

} // namespace specklescope::bench
