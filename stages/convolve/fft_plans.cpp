#include "stages/convolve/fft_plans.hpp"

#include "base/log.hpp"
#include "base/long_work.hpp"
#include "files/whole_file.hpp"

#include <fftw3.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <set>
#include <system_error>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

/// Limit for all plans of a convolution, s: one of 4096×2304 needs about two (docs/performance.md).
constexpr double kMeasureSeconds = 4;

std::atomic<FftPlanning>& planning() {
    static std::atomic<FftPlanning> chosen{FftPlanning::estimate};
    return chosen;
}

std::string wisdom() {
    const std::unique_ptr<char, void (*)(void*)> text(fftwf_export_wisdom_to_string(), std::free);
    return text ? text.get() : "";
}

/// "GenuineIntel-6-143-8" from the first processor in /proc/cpuinfo; on ARM implementer, variant and part.
std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string name;
    for (std::string line; std::getline(file, line) && !line.empty();) {
        const std::size_t colon = line.find(':');
        const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
        if (colon == std::string::npos || colon + 2 > line.size())
            continue;
        for (const char* wanted : {"vendor_id", "cpu family", "model", "stepping", "CPU implementer",
                                   "CPU variant", "CPU part", "CPU revision"})
            if (key == wanted)
                name += "-" + line.substr(colon + 2);
    }
    return name;
}

/// Logs each text once per process: a cache is no reason to repeat a warning. Requires fft_planner().
void warn_once(const std::string& text) {
    static std::set<std::string> said;
    if (said.insert(text).second)
        run_log().warn("{}", text);
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Returns the error number; 0 on success.
int write_whole(const std::string& path, const std::string& text) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    if (error)
        return error.value();
    UnnamedFile file(path);
    int failed = file.error();
    if (failed == 0)
        failed = file.file().write_at(0, text.data(), text.size());
    return failed != 0 ? failed : file.replace();
}

} // namespace

void set_fft_planning(FftPlanning chosen) { planning() = chosen; }
FftPlanning fft_planning() { return planning(); }

std::mutex& fft_planner() {
    static std::mutex mutex;
    return mutex;
}

std::string fft_cache_file() {
    const char* cache =
        std::getenv("XDG_CACHE_HOME");      // NOLINT(concurrency-mt-unsafe): never set by this process
    const char* home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe)
    fs::path folder;
    if (cache && *cache)
        folder = cache;
    else if (home && *home)
        folder = fs::path(home) / ".cache";
    else
        return "";
    std::string name = fftwf_version + processor();
    std::replace_if(
        name.begin(), name.end(),
        [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '.' && c != '_'; }, '_');
    return (folder / "specklescope" / (name + ".wisdom")).string();
}

FftPlanner::FftPlanner(FftPlanning planning)
    : lock_(fft_planner()), planning_(planning), begin_(std::chrono::steady_clock::now()) {
    fftwf_forget_wisdom();
    if (planning_ == FftPlanning::estimate)
        return;
    const std::string path = fft_cache_file();
    const std::string kept = path.empty() ? "" : contents(path);
    if (!kept.empty() && fftwf_import_wisdom_from_string(kept.c_str()) == 0) {
        fftwf_forget_wisdom();
        warn_once("'" + path +
                  "' holds no plans of this FFTW; they are measured again and the file is replaced.");
    }
    known_ = wisdom();
}

FftPlanner::~FftPlanner() {
    fftwf_forget_wisdom();
    fftwf_set_timelimit(FFTW_NO_TIMELIMIT);
}

fftwf_plan_s* FftPlanner::plan(const std::function<fftwf_plan_s*(unsigned)>& make) const {
    if (planning_ == FftPlanning::estimate)
        return make(FFTW_ESTIMATE);
    constexpr const char* kMeasuring = "measuring plans of Fourier transforms";
    work_goes_on(kMeasuring);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    fftwf_set_timelimit(std::max(0.0, kMeasureSeconds - taken.count()));
    // FFTW keeps nothing of a cancelled plan, so there is only one attempt.
    std::future<fftwf_plan_s*> found = std::async(std::launch::async, [&make] { return make(FFTW_MEASURE); });
    try {
        while (found.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
            work_goes_on(kMeasuring);
    } catch (...) {
        // Only this setting of FFTW's planner may change while it works: it checks the time limit between two
        // trials and stops.
        fftwf_set_timelimit(0);
        fftwf_destroy_plan(found.get());
        throw;
    }
    return found.get();
}

std::string FftPlanner::remember() {
    if (planning_ == FftPlanning::estimate)
        return "";
    const std::string learnt = wisdom();
    if (learnt == known_)
        return ", plans remembered";
    const std::string path = fft_cache_file();
    if (const int error = path.empty() ? ENOENT : write_whole(path, learnt); error != 0)
        warn_once("FFTW's plans cannot be kept in '" + path + "' (" + std::generic_category().message(error) +
                  "): they are measured at every start; set XDG_CACHE_HOME to a folder that can be written.");
    known_ = learnt;
    return ", plans measured";
}

} // namespace specklescope
