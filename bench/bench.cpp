#include "bench/bench.hpp"
#include "have_cuda.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "bench/host.hpp"
#include "bench/report.hpp"
#include "bench/sections.hpp"
#include "config/atomic_file.hpp"
#include "config/version.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>

namespace specklescope {

namespace {

using namespace bench;
using Json = nlohmann::ordered_json;

std::string first_line_after(const char* path, const std::string& start) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(start))
            return line.substr(std::min(line.size(), line.find_first_not_of(" \t:", start.size())));
    return "";
}

class Bench {
public:
    Bench(const Settings& settings, bool (*display_available)(std::string*))
        : settings_(settings), display_available_(display_available), filter_(settings.bench.filter) {}

    int run() {
        check_filter();
        const ThreadLimit limit(
            settings_.program.as<ProgramSettings>().executor.threads); // limits everything measured here
        if (!settings_.bench.json.empty())
            check_replaceable(settings_.bench.json,
                              {.what = "report of bench", .option = "--json", .holds = is_report});
        use_simd_of_environment();
        device_ = backend() == Backend::cpu ? nullptr : make_device_bench(&no_device_);
        if (!device_ && backend() == Backend::cuda)
            throw RunError("No GPU can be measured: " + no_device_ + ".");
        if (!device_)
            spdlog::info("No GPU is measured: {}.", no_device_.empty() ? "--backend cpu" : no_device_);
        report_["machine"] = machine();
        show("machine", list(report_["machine"]));
        report_["ceilings"] = ceilings();
        show("ceilings", list(report_["ceilings"]));
        kernels();
        section("published", published());
        if (backend() != Backend::cuda)
            section("simd", instruction_sets());
        if (wanted("stream"))
            section("stream", streams());
        if (wanted("regions"))
            section("regions", run_regions(settings_, device_ != nullptr));
        section("feeds", feeds());
        if (device_ && wanted("gpus"))
            section("gpus", run_gpus());
        if (wanted("pipeline"))
            section("pipeline", pipelines());
        if (wanted("doors"))
            section("doors", doors());
        if (wanted("traces"))
            section("traces", run_traces());
        if (wanted("startup"))
            section("startup", starts());
        if (wanted("window"))
            section("window", drawn(run_window));
        if (wanted("screen"))
            section("screen", drawn(run_screen));
        if (settings_.bench.peers) {
            Json ours = report_["kernels"];
            ours.insert(ours.end(), report_["published"].begin(), report_["published"].end());
            section("peers", run_peers(filter_ == "published" ? "" : filter_, ours));
        }
        return wrong_ ? 1 : 0;
    }

private:
    Backend backend() const { return settings_.program.as<ProgramSettings>().executor.backend; }
    bool wanted(const std::string& name) const {
        return filter_.empty() || name.find(filter_) != std::string::npos;
    }

    static bool is_report(std::string_view text) { return text.starts_with("{\n \"machine\": {"); }

    void check_filter() const {
        const auto sections = {"stream", "regions", "gpus",   "pipeline", "doors",
                               "traces", "startup", "window", "screen"};
        if (std::any_of(sections.begin(), sections.end(), [&](const char* name) { return wanted(name); }) ||
            !kernel_cases(filter_).empty() || !published_cases(filter_).empty() || any_feed(filter_) ||
            settings_.bench.peers)
            return;
        throw UsageError(
            "bench --filter = " + filter_ +
            " fits no row; allowed: part of a stage's name or settings (speckle, radius=2), of a "
            "size (3840×2160), or of published, stream, regions, feeds, gpus, pipeline, doors, traces, "
            "startup, window, screen.");
    }

    static void show(const std::string& title, const std::string& text) {
        std::printf("\n%s\n\n%s", title.c_str(), text.c_str());
        std::fflush(stdout);
    }

    void section(const char* key, Json rows) {
        if (!rows.empty())
            show(key, table(rows));
        report_[key] = std::move(rows);
        save();
    }

    /// Call after every section, so that an interrupted run keeps its results.
    void save() const {
        if (!settings_.bench.json.empty())
            write_atomically(settings_.bench.json, report_.dump(1) + "\n");
    }

    Json machine() const {
        char date[32] = "";
        const std::time_t now = std::time(nullptr);
        std::tm utc{};
        gmtime_r(&now, &utc);
        std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
        const auto host = make_host_executor(settings_.program.as<ProgramSettings>().executor.threads);
        Json facts;
        const std::string cpu = first_line_after("/proc/cpuinfo", "model name");
        facts["name"] = cpu;
        if (device_)
            for (const auto& [name, value] : device_->facts()) {
                if (name == "GPU")
                    facts["name"] = value;
                facts[name] = value;
            }
        facts["CPU"] = cpu + ", " + host->device_name();
        facts["load at the start"] = load_;
        for (const auto& [name, value] : version_rows())
            if (name == "commit")
                facts[name] = value;
        facts["compiler"] = "g++ " __VERSION__;
        facts["measured"] = date;
        return facts;
    }

    Json ceilings() {
        constexpr std::size_t kBytes = std::size_t{256} << 20;
        Json rates;
        rates["copy in host memory, all threads, read and written, GB/s"] =
            static_cast<double>(kBytes) / copy_on_host(kBytes).median * 1e-6;
        if (device_) {
            rates["copy inside the GPU, read and written, GB/s"] =
                static_cast<double>(kBytes) / device_->copy_inside(kBytes).median * 1e-6;
            rates["host to GPU, page-locked, GB/s"] = up_ = device_->upload_rate();
            rates["GPU to host, page-locked, GB/s"] = down_ = device_->download_rate();
        }
        return rates;
    }

    void kernels() {
        Json rows = Json::array();
        const bool host = backend() != Backend::cuda;
        for (const KernelCase& work : kernel_cases(filter_)) {
            if (host)
                add_kernel(rows, work, "CPU", [&] { return run_on_host(work); });
            if (device_)
                add_kernel(rows, work, "GPU", [&] { return device_->run(work); });
        }
        section("kernels", std::move(rows));
    }

    template <class F> void add_kernel(Json& rows, const KernelCase& work, const char* backend, F&& measure) {
        try {
            const KernelRun run = measure();
            wrong_ = wrong_ || !run.agrees;
            Json row = {{"work", std::string(backend) + " " + work.work},
                        {"image", to_string(work.shape)},
                        {"ms", json_of(run.time)},
                        {"copy_ms", json_of(run.copy)},
                        {"difference", run.difference},
                        {"agrees", run.agrees},
                        {"note", run.note}};
            if (!std::isfinite(run.difference))
                row["difference"] = nullptr;
            std::fprintf(stderr, "%s, %s: %s ms\n", row["work"].get<std::string>().c_str(),
                         to_string(work.shape).c_str(), digits(run.time.median).c_str());
            rows.push_back(std::move(row));
        } catch (const Error& error) {
            spdlog::warn("Not measured: {} {}: {}", backend, work.name(), error.what());
        }
    }

    /// The host with 1, 2, 4 … all threads; the GPU without and with copies of the frame and its result.
    Json published() {
        Json rows = Json::array();
        const auto add = [&](const KernelCase& work, const std::string& on, bool most, auto&& measure) {
            try {
                const KernelRun run = measure();
                wrong_ = wrong_ || !run.agrees;
                std::fprintf(stderr, "%s on %s: %s ms\n", work.name().c_str(), on.c_str(),
                             digits(run.time.median).c_str());
                rows.push_back({{"work", work.work},
                                {"image", to_string(work.shape)},
                                {"on", on},
                                {"ms", json_of(run.time)},
                                {"note", run.note},
                                {"most", most}});
                return true;
            } catch (const Error& error) {
                spdlog::warn("Not measured: {} on {}: {}", work.name(), on, error.what());
                return false;
            }
        };
        for (const KernelCase& work : published_cases(filter_)) {
            const int all = parallel_threads();
            for (int threads = backend() != Backend::cuda ? 1 : 2 * all; threads < 2 * all; threads *= 2) {
                threads = std::min(threads, all); // the last step may be shorter
                const ThreadLimit limit(threads);
                add(work, std::to_string(threads) + (threads == 1 ? " thread" : " threads"), threads == all,
                    [&] { return run_on_host(work); });
            }
            Spread with_copies;
            if (device_ && add(work, "GPU", true, [&] {
                    with_copies = device_->with_copies(work);
                    return device_->run(work);
                }))
                rows.back()["with_copies_ms"] = json_of(with_copies);
        }
        return rows;
    }

    Json instruction_sets() {
        Json rows = Json::array();
        if (simd_to_compare().size() < 2)
            return rows;
        for (const KernelCase& work : simd_cases(filter_)) {
            Json times = Json::object();
            for (const auto& [name, run] : run_with_each_simd(work)) {
                wrong_ = wrong_ || !run.agrees;
                times[name] = json_of(run.time);
            }
            rows.push_back({{"work", "CPU " + work.work},
                            {"image", to_string(work.shape)},
                            {"ms_by_simd", std::move(times)}});
        }
        return rows;
    }

    Json streams() {
        Json rows = Json::array();
        for (const Shape& shape :
             {Shape{1392, 1040, 1, PixelType::u16}, Shape{3840, 2160, 1, PixelType::u16}})
            for (const bool down : {false, true}) {
                const std::string work = "speckle:radius=2";
                if (!down)
                    add_stream(rows,
                               *make_host_executor(settings_.program.as<ProgramSettings>().executor.threads),
                               work, shape, down);
#ifdef SPECKLESCOPE_HAVE_CUDA
                if (device_)
                    add_stream(rows, *make_cuda_executor(), work, shape, down);
#endif
            }
        return rows;
    }

    void add_stream(Json& rows, Executor& executor, const std::string& work, const Shape& shape,
                    bool down) const {
        const bool gpu = executor.backend() == "cuda";
        const StreamRun run = run_stream(executor, {work}, shape, down);
        const double bus =
            std::max(up_ > 0 ? run.up_gb_per_s / up_ : 0, down_ > 0 ? run.down_gb_per_s / down_ : 0);
        rows.push_back({{"work", (gpu ? "GPU " : "CPU ") + work},
                        {"image", to_string(shape)},
                        {"result", !gpu   ? "on the host"
                                   : down ? "brought back"
                                          : "stays on the GPU"},
                        {"frames_per_s", run.frames_per_s},
                        {"up_gb_per_s", run.up_gb_per_s},
                        {"down_gb_per_s", run.down_gb_per_s},
                        {"fraction", gpu ? bus : 0},
                        {"latency_ms", run.latency_ms}});
    }

    Json feeds() const {
        Json rows = Json::array();
        for (const FeedRun& run : run_feeds(filter_))
            rows.push_back({{"name", run.name},
                            {"place", run.place},
                            {"frames_per_s", run.frames_per_s},
                            {"mb_per_s", run.mb_per_s},
                            {"cpu", run.cpu},
                            {"frames", run.frames},
                            {"dropped", run.dropped}});
        return rows;
    }

    Json pipelines() {
        Json rows = Json::array();
        const std::string scene = "synthetic:vessels?width=1392&height=1040";
        const std::string backend = device_ ? "auto" : "cpu";
        std::string no_window;
        const bool window = display_available_(&no_window);
        if (!window)
            spdlog::info("The window is not measured: {}.", no_window);
        struct Pace {
            const char* name;
            std::string source;
        };
        for (const Pace& pace : {Pace{"full speed", scene + "&rate=100000&live=false&making=mixed"},
                                 Pace{"120 frames/s", scene + "&rate=120&live=true"},
                                 Pace{"1000 frames/s", scene + "&rate=1000&live=true"}})
            for (const bool drawn : {false, true}) {
                if (drawn && !window)
                    continue;
                constexpr double kSeconds = 8;
                std::vector<std::string> arguments = {drawn ? "view" : "run", pace.source, "--backend",
                                                      backend};
                if (drawn)
                    arguments.emplace_back("--no-remember");
                const ProgramRun run = run_program(arguments, kSeconds);
                const Json& s = run.stats;
                rows.push_back({{"name", std::string(pace.name) + (drawn ? ", window open" : ", no window")},
                                {"frames_per_s", s.at("rate").at("mean")},
                                {"frames", s.at("frames").at("processed")},
                                {"dropped", s.at("drops").at("total")},
                                {"drawn_per_s", s.at("rate").at("display")},
                                {"median_ms", s.at("latency_ms").at("median")},
                                {"p95_ms", s.at("latency_ms").at("p95")},
                                {"p99_ms", s.at("latency_ms").at("p99")},
                                {"cpu", run.processor_s / run.seconds},
                                {"display_path", s.at("display_path")}});
            }
        return rows;
    }

    Json doors() const {
        Json rows = Json::array();
        for (const DoorRun& run : run_doors(device_ ? "auto" : "cpu")) {
            const Json& s = run.program.stats;
            rows.push_back({{"name", run.name},
                            {"frames_per_s", s.at("rate").at("mean")},
                            {"frames", s.at("frames").at("processed")},
                            {"dropped", s.at("drops").at("total")},
                            {"median_ms", s.at("latency_ms").at("median")},
                            {"p99_ms", s.at("latency_ms").at("p99")},
                            {"cpu", run.program.processor_s / run.program.seconds},
                            {"clients", run.clients},
                            {"unread_kib", static_cast<double>(run.unread) / 1024}});
        }
        return rows;
    }

    Json starts() {
        Json rows = Json::array();
        const auto add = [&](const std::string& name, const std::vector<std::string>& arguments,
                             double seconds, double ProgramRun::*what) {
            constexpr int kRuns = 7;
            std::vector<double> times(kRuns);
            for (double& time : times)
                time = run_program(arguments, seconds).*what;
            rows.push_back({{"name", name}, {"s", json_of(spread_of(std::move(times)))}});
        };
        const std::string scene = "synthetic:vessels?width=1392&height=1040";
        add("first result, CPU", {"run", scene, "--frames", "1", "--backend", "cpu"}, 0,
            &ProgramRun::first_result_s);
        if (device_)
            add("first result, GPU", {"run", scene, "--frames", "1", "--backend", "cuda"}, 0,
                &ProgramRun::first_result_s);
        if (display_available_(nullptr))
            add("first picture in the window", {"view", scene, "--no-remember"}, 3,
                &ProgramRun::first_picture_s);
        return rows;
    }

    /// On the display if there is one, otherwise in memory.
    Json drawn(Json (*run)(bool offscreen)) const {
        try {
            return run(!display_available_(nullptr));
        } catch (const RunError& error) {
            spdlog::info("The window is not measured. {}", error.what());
            return Json::array();
        }
    }

    const Settings& settings_;
    bool (*display_available_)(std::string*);
    std::string filter_, no_device_;
    std::unique_ptr<DeviceBench> device_;
    std::string load_ = first_line_after("/proc/loadavg", "");
    double up_ = 0, down_ = 0;
    Json report_;
    bool wrong_ = false;
};

} // namespace

#ifndef SPECKLESCOPE_HAVE_CUDA
std::unique_ptr<bench::DeviceBench> bench::make_device_bench(std::string* reason) {
    if (reason)
        *reason = "this build has no CUDA backend";
    return nullptr;
}
#endif

int run_bench(const Settings& settings, bool (*display_available)(std::string*)) {
    if (settings.bench.files.empty())
        return Bench(settings, display_available).run();
    bench::print_reports(settings.bench.files);
    return 0;
}

} // namespace specklescope
