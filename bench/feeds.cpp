#include "bench/sections.hpp"

#include "base/error.hpp"
#include "bench/cases.hpp"
#include "pipeline/pipeline.hpp"
#include "recording/recorder.hpp"
#include "sources/registry.hpp"

#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <thread>

namespace specklescope::bench {

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr Shape kShape{1392, 1040, 1, PixelType::u16};

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Wall-clock and processor time since construction.
class Watch {
public:
    double seconds() const { return std::chrono::duration<double>(SteadyClock::now() - begin_).count(); }
    /// Computes the rates of `frames` in this time.
    void settle(FeedRun& run, long frames) const {
        const double time = seconds();
        run.frames = frames;
        run.frames_per_s = static_cast<double>(frames) / time;
        run.mb_per_s = run.frames_per_s * static_cast<double>(kShape.bytes()) * 1e-6;
        run.cpu = (processor() - processor_) / time;
    }

private:
    static double processor() {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
    SteadyClock::time_point begin_ = SteadyClock::now();
    double processor_ = processor();
};

/// A folder to write into, with its description.
struct Place {
    Place(std::string text, const fs::path& parent) : name(std::move(text)), folder(parent) {}
    std::string name;
    Scratch folder;
    /// Number of frames for a file here: 2 GiB, at most a quarter of the free space. Throws RunError if there
    /// is none for one frame.
    long room() const {
        constexpr std::uintmax_t kMost = std::uintmax_t{2} << 30;
        std::error_code unknown;
        const fs::space_info space = fs::space(folder.path(), unknown);
        const std::uintmax_t bytes = unknown ? 0 : std::min(kMost, space.available / 4);
        if (bytes < kShape.bytes())
            throw RunError("No room for a frame in " + folder.path().string() +
                           "; set TMPDIR to another folder.");
        return static_cast<long>(bytes / kShape.bytes());
    }
};

FeedRun run_source(const std::string& text, double seconds) {
    PipelineOptions options;
    options.source_text = text;
    Pipeline pipeline(make_source(text, {}), Chain(), options);
    pipeline.start();
    const auto processed = [&] { return static_cast<long>(pipeline.stats().frames.processed); };
    const auto check = [&] {
        if (pipeline.finished())
            throw RunError("The source ended early. " + pipeline.status().message);
    };
    constexpr long kWarmUp = 10; // frames: slots and file are touched once
    for (; processed() < kWarmUp; check())
        std::this_thread::sleep_for(milliseconds(2));
    const Watch watch;
    const long before = processed();
    for (; watch.seconds() < seconds; check())
        std::this_thread::sleep_for(milliseconds(20));
    FeedRun run;
    watch.settle(run, processed() - before);
    run.dropped = static_cast<long>(pipeline.stats().drops.total());
    pipeline.stop();
    return run;
}

FeedRun run_recorder(const std::string& path, long room, double seconds) {
    const std::vector<Frame> frames = speckle_frames(kShape, 32, host_memory());
    const std::shared_ptr<Sink> recorder = make_recorder({.path = path, .what = RecordWhat::raw});
    StreamInfo stream;
    stream.source = {.name = "bench", .shape = kShape, .full_scale = 4095, .rate = 500};
    recorder->open(stream);
    const Watch watch;
    long pushed = 0;
    for (; pushed < room && watch.seconds() < seconds; ++pushed) {
        Result result;
        result.raw = frames[static_cast<std::size_t>(pushed) % frames.size()];
        result.info = result.raw.info();
        result.info.sequence = static_cast<std::uint64_t>(pushed);
        result.info.capture_ns = pushed * 2'000'000;
        recorder->push(result, true);
    }
    recorder->close();
    const SinkStatus status = recorder->status();
    if (!status.error.empty())
        throw RunError(status.error);
    FeedRun run;
    watch.settle(run, static_cast<long>(status.written));
    run.dropped = pushed - static_cast<long>(status.written);
    return run;
}

/// `sync`: the time includes storing the bytes.
FeedRun run_plain_write(const std::string& path, long room, double seconds, bool sync) {
    const std::vector<std::byte> pixels(kShape.bytes(), std::byte{0x5a});
    const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    const Watch watch;
    long frames = 0;
    bool well = file >= 0;
    for (; well && frames < room && watch.seconds() < seconds; ++frames)
        well = ::write(file, pixels.data(), pixels.size()) == static_cast<ssize_t>(pixels.size());
    well = well && (!sync || ::fsync(file) == 0);
    FeedRun run;
    watch.settle(run, frames);
    if (file >= 0)
        ::close(file);
    if (!well)
        throw RunError(path + " cannot be written.");
    return run;
}

void write_raw_file(const std::string& path, int count) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    bool well = file != nullptr;
    for (const Frame& frame : speckle_frames(kShape, count, host_memory()))
        for (int y = 0; well && y < kShape.height; ++y)
            well = std::fwrite(frame.host().row(y), kShape.row_bytes(), 1, file) == 1;
    well = file && std::fclose(file) == 0 && well;
    if (!well)
        throw RunError(path + " cannot be written.");
}

/// Removed after the measurement, also on errors.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

class Feeds {
public:
    Feeds(const std::string& filter, double seconds) : filter_(filter), seconds_(seconds) { find_places(); }

    /// Measures nothing: run() then returns only names.
    Feeds& only_names() {
        only_names_ = true;
        return *this;
    }

    std::vector<FeedRun> run() {
        const std::string size = "width=1392&height=1040";
        source("simulated source", "synthetic:vessels?rate=0&live=false&" + size);
        if (!places_.empty())
            files(*places_.front(), size);
        const std::string caps = "video/x-raw,format=GRAY16_LE,width=1392,height=1040";
        source("GStreamer, videotestsrc", "gst:videotestsrc pattern=black ! " + caps);
        source("GStreamer, one picture repeated",
               "gst:videotestsrc num-buffers=1 ! " + caps + " ! imagefreeze ! " + caps);
        for (const auto& place : places_)
            recorders(*place);
        return std::move(runs_);
    }

private:
    void find_places() {
        const fs::path memory = "/dev/shm";
        const fs::path disk = fs::temp_directory_path();
        std::error_code missing;
        if (fs::is_directory(memory, missing))
            add_place("memory, ", memory);
        if (!fs::equivalent(memory, disk, missing))
            add_place("", disk);
    }

    void add_place(const std::string& kind, const fs::path& parent) {
        try {
            places_.push_back(std::make_unique<Place>(kind + parent.string(), parent));
        } catch (const RunError& error) {
            spdlog::warn("Nothing is written there: {}", error.what());
        }
    }

    bool wanted(const std::string& name) const {
        return ("feeds " + name).find(filter_) != std::string::npos;
    }

    void add(const std::string& name, const std::string& place, const std::function<FeedRun()>& measure) {
        if (!wanted(name))
            return;
        try {
            FeedRun run = only_names_ ? FeedRun() : measure();
            run.name = name;
            run.place = place;
            runs_.push_back(std::move(run));
        } catch (const Error& error) {
            spdlog::warn("Not measured: {}: {}", name, error.what());
        }
    }

    void source(const std::string& name, const std::string& text, const std::string& place = "") {
        add(name, place, [&] { return run_source(text, seconds_); });
    }

    /// Plays files repeatedly from memory.
    void files(const Place& place, const std::string& size) {
        constexpr long kFrames = 64;
        const std::string raw = place.folder / "frames.raw";
        const std::string tiff = place.folder / "played.tiff";
        const std::string mkv = place.folder / "played.mkv";
        const auto play = [&](const std::string& name, const std::string& file, const std::string& text,
                              const std::function<void(long frames)>& write) {
            add(name, place.name, [&] {
                const TemporaryFile goes(file);
                write(std::min(kFrames, place.room()));
                return run_source(text, seconds_);
            });
        };
        play("raw file", raw, "raw:" + raw + "?format=gray16le&loop=true&" + size,
             [&](long frames) { write_raw_file(raw, static_cast<int>(frames)); });
        play("TIFF recording, played back", tiff, tiff + "?loop=true",
             [&](long frames) { run_recorder(tiff, frames, seconds_); });
        play("Matroska recording (FFV1), played back", mkv, mkv + "?loop=true",
             [&](long frames) { run_recorder(mkv, frames, 4 * seconds_); });
    }

    void recorders(const Place& place) {
        const auto write = [&](const std::string& name, const char* file, const auto& run) {
            add(name, place.name, [&] {
                const TemporaryFile goes(place.folder / file);
                return run(goes.path(), place.room());
            });
        };
        write("plain write", "plain", [&](const std::string& path, long room) {
            return run_plain_write(path, room, seconds_, false);
        });
        write("TIFF recorder", "flow.tiff",
              [&](const std::string& path, long room) { return run_recorder(path, room, seconds_); });
        if (&place != places_.front().get() || places_.size() == 1)
            write("plain write, and the storage waited for", "plain",
                  [&](const std::string& path, long room) {
                      return run_plain_write(path, room, seconds_, true);
                  });
        else
            write("Matroska recorder (FFV1)", "flow.mkv",
                  [&](const std::string& path, long room) { return run_recorder(path, room, seconds_); });
    }

    std::string filter_;
    double seconds_;
    bool only_names_ = false;
    std::vector<std::unique_ptr<Place>> places_;
    std::vector<FeedRun> runs_;
};

} // namespace

std::vector<FeedRun> run_feeds(const std::string& filter, double seconds) {
    return Feeds(filter, seconds).run();
}

bool any_feed(const std::string& filter) { return !Feeds(filter, 0).only_names().run().empty(); }

} // namespace specklescope::bench
