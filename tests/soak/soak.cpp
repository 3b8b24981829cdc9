// The pipeline for as long as one likes: soak rounds=N | minutes=M [seed=S] [frames=F].
//
// Each round has another source (simulated, recorded in every format, one that dies and is opened again) and
// another chain, records with every recorder there is while parameters, chains, pauses and recorders change,
// and is looked at afterwards: the numbers add up, every file holds what its recorder says, and what the
// process holds — descriptors, threads, memory — is what it held after the first rounds. What a round does
// follows from its number and the seed.
#include "config/settings.hpp"
#include "files/image_file.hpp"
#include "recording/recorder.hpp"
#include "sources/registry.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/scripted_source.hpp"

#include <spdlog/spdlog.h>

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

namespace specklescope::soak {
namespace {

namespace fs = std::filesystem;
using Random = std::mt19937;

struct Options {
    int rounds = 0;
    double minutes = 0;
    unsigned seed = 1;
    int frames = 60; ///< of each round
};

struct Totals {
    std::uint64_t rounds = 0, acquired = 0, processed = 0, dropped = 0, recorded = 0, edits = 0, reopened = 0;
    std::uint64_t wrong = 0;
};

/// Resources of this process as the system reports them.
struct Held {
    int descriptors = 0, threads = 0;
    double mib = 0; ///< of memory that is its own: the resident part without files
};

Held held_by_this_process() {
    malloc_trim(0); // release memory that is free
    const auto count = [](const char* folder) {
        return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    };
    Held held{count("/proc/self/fd"), count("/proc/self/task"), 0};
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssAnon:"))
            held.mib = std::stod(line.substr(8)) / 1024;
    return held;
}

Held most(const Held& a, const Held& b) {
    return {std::max(a.descriptors, b.descriptors), std::max(a.threads, b.threads), std::max(a.mib, b.mib)};
}

int up_to(Random& random, int most) { return std::uniform_int_distribution(0, most)(random); }

/// Checks a condition, and prints it at once if it does not hold.
void expect(bool holds, Totals& totals, const std::string& what) {
    if (holds)
        return;
    ++totals.wrong;
    std::printf("soak: round %llu: %s\n", static_cast<unsigned long long>(totals.rounds), what.c_str());
}

/// A camera that dies after every 25 frames, with an error or silently, and works again when it is reopened.
std::unique_ptr<Source> mortal_camera(std::uint64_t frames) {
    SourceInfo info{.name = "mortal camera",
                    .shape = {96, 64, 1, PixelType::u16},
                    .full_scale = 65535,
                    .rate = 200,
                    .live = true};
    return std::make_unique<test::ScriptedSource>(
        info, [frames](test::ScriptedSource& self, FramePort& port) {
            constexpr std::uint64_t kLife = 25;
            if (self.offered >= frames)
                return Source::Status::end;
            if (self.offered >= kLife * static_cast<std::uint64_t>(self.opened.load()))
                throw RunError("The camera died.");
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            self.offer(port, {96, 64, 1, PixelType::u16});
            return Source::Status::frame;
        });
}

std::unique_ptr<Source> source_of_round(std::uint64_t round, const fs::path& films, std::uint64_t frames) {
    const auto file = [&](const std::string& name) {
        return make_source((films / name).string(), {.rate = 0, .loop = true});
    };
    switch (round % 6) {
    case 0:
        return make_source("synthetic?width=96&height=64&rate=400", {});
    case 1:
        return file("film.tiff");
    case 2:
        return mortal_camera(frames);
    case 3:
        return file("film.raw");
    case 4:
        return file("film.mkv");
    default:
        return file("pictures/");
    }
}

Chain chain_of(Random& random) {
    static const std::vector<std::vector<const char*>> chains = {
        {"speckle"},
        {"temporal:frames=7,output=contrast2", "average:frames=4", "flow"},
        {"background:black=3", "spatiotemporal:frames=5", "gaussian:sigma=2"},
        {"speckle:output=contrast", "gamma", "flip"},
        {"clahe", "crop:width=50,height=40", "rotate90"},
        {}};
    Chain chain;
    for (const char* text :
         chains[static_cast<std::size_t>(up_to(random, static_cast<int>(chains.size()) - 1))])
        chain.add(text);
    return chain;
}

/// A value of a parameter, most often an allowed one.
ParamValue value_for(const ParamDecl& decl, Random& random) {
    const double low = std::max(decl.min, -1000.0);
    const double high = std::min(decl.max, 1000.0);
    switch (decl.kind) {
    case ParamKind::boolean:
        return up_to(random, 1) == 1;
    case ParamKind::choice:
        return decl
            .choices[static_cast<std::size_t>(up_to(random, static_cast<int>(decl.choices.size()) - 1))];
    case ParamKind::text:
    case ParamKind::path:
        return std::string("/nowhere/at all.png");
    case ParamKind::action:
        return std::int64_t{up_to(random, 3)};
    case ParamKind::integer: // small ones are the cheap ones; one in ten is out of range
        return static_cast<std::int64_t>(up_to(random, 9) == 0 ? high + 1 : low + up_to(random, 8));
    case ParamKind::real:
        break;
    }
    return std::uniform_real_distribution(low, std::min(high, low + 20))(random);
}

void edit(Pipeline& pipeline, Random& random) {
    const Chain chain = *pipeline.chain();
    if (chain.stages().empty() || up_to(random, 7) == 0) {
        pipeline.set_chain(chain_of(random));
        return;
    }
    const auto stage = static_cast<std::size_t>(up_to(random, static_cast<int>(chain.stages().size()) - 1));
    const auto& decls = chain.stages()[stage].params.table().decls();
    if (decls.empty())
        return;
    const ParamDecl& decl =
        decls[static_cast<std::size_t>(up_to(random, static_cast<int>(decls.size()) - 1))];
    pipeline.edit(stage, decl.name, value_for(decl, random));
}

using Sinks = std::vector<std::shared_ptr<Sink>>;

Sinks recorders(const fs::path& folder) {
    const std::vector<std::pair<const char*, RecordWhat>> kinds = {
        {"raw.tiff", RecordWhat::raw},       {"raw.raw", RecordWhat::raw},
        {"raw.mkv", RecordWhat::raw},        {"flow.tiff", RecordWhat::processed},
        {"flow.mkv", RecordWhat::processed}, {"mask.tiff", RecordWhat::mask}};
    Sinks sinks;
    for (const auto& [name, what] : kinds)
        sinks.push_back(make_recorder({.path = (folder / name).string(), .what = what}));
    return sinks;
}

std::uint64_t pages(const fs::path& path) {
    const std::unique_ptr<ImageReader> reader = open_image(path.string());
    std::uint64_t count = 0;
    while (reader->next_page())
        ++count;
    return count;
}

/// Number of frames in TIFF files of a folder whose names have this beginning.
std::uint64_t pages_in(const fs::path& folder, const std::string& begin) {
    std::uint64_t count = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (const std::string name = entry.path().filename().string();
            name.starts_with(begin) && entry.path().extension() == ".tiff")
            count += pages(entry.path());
    return count;
}

void check_round(Pipeline& pipeline, const Sinks& sinks, const fs::path& folder, Totals& totals) {
    const StatsSnapshot stats = pipeline.stats();
    // A file that was paused at the end still has unrequested frames.
    const std::uint64_t known = stats.frames.processed + stats.drops.ring + stats.drops.failed;
    expect(stats.frames.acquired == known, totals,
           "acquired " + std::to_string(stats.frames.acquired) + ", accounted for " + std::to_string(known));
    std::map<std::string, std::uint64_t> written;
    for (const auto& sink : sinks) {
        const SinkStatus status = sink->status();
        expect(status.error.empty(), totals, "a recorder stopped: " + status.error);
        expect(status.closed && status.queued == 0, totals, "a recorder is not closed");
        totals.recorded += status.written;
        if (const fs::path path(status.path); path.extension() == ".tiff") {
            const std::string name = path.filename().string();
            written[name.substr(0, name.find_first_of(".-"))] += status.written;
        }
    }
    for (const auto& [name, frames] : written)
        expect(pages_in(folder, name) == frames, totals,
               name + " has " + std::to_string(pages_in(folder, name)) + " pages and claims " +
                   std::to_string(frames));
    totals.acquired += stats.frames.acquired;
    totals.processed += stats.frames.processed;
    totals.dropped += stats.drops.ring + stats.drops.failed;
    totals.reopened += stats.away.reopened;
}

/// Makes edits and pauses and adds a recorder while frames are processed; returns at the end.
void disturb(Pipeline& pipeline, Sinks& sinks, const fs::path& folder, Random& random, Totals& totals) {
    std::uint64_t seen = 0;
    while (!pipeline.finished()) {
        const std::uint64_t processed = pipeline.stats().frames.processed;
        if (processed == seen) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        seen = processed;
        edit(pipeline, random);
        ++totals.edits;
        if (up_to(random, 19) == 0) {
            pipeline.pause(true);
            pipeline.step();
            pipeline.pause(false);
        }
        if (up_to(random, 29) == 0) {
            pipeline.remove_sink(sinks.front());
            sinks.push_back(
                make_recorder({.path = (folder / "later.tiff").string(), .what = RecordWhat::raw}));
            pipeline.add_sink(sinks.back());
            std::rotate(sinks.begin(), sinks.begin() + 1, sinks.end());
        }
        (void)pipeline.take_messages();
    }
}

void round(const Options& options, const fs::path& place, Totals& totals) {
    const std::uint64_t number = totals.rounds++;
    Random random(options.seed * 7919U + static_cast<unsigned>(number));
    const fs::path folder = place / "round";
    fs::create_directories(folder);
    const auto frames = static_cast<std::uint64_t>(options.frames);
    PipelineOptions made;
    made.frames = frames;
    made.source_text = "soak";
    Pipeline pipeline(source_of_round(number, place / "films", frames), chain_of(random), made);
    Sinks sinks = recorders(folder);
    for (const auto& sink : sinks)
        pipeline.add_sink(sink);
    pipeline.start();
    disturb(pipeline, sinks, folder, random, totals);
    pipeline.stop();
    check_round(pipeline, sinks, folder, totals);
    fs::remove_all(folder);
}

/// One film in every format, and a folder of pictures.
void make_films(const fs::path& folder) {
    fs::create_directories(folder / "pictures");
    PipelineOptions options;
    options.frames = 20;
    Pipeline pipeline(make_source("synthetic?width=96&height=64&rate=0", {}), Chain(), options);
    for (const char* name : {"film.tiff", "film.raw", "film.mkv"})
        pipeline.add_sink(make_recorder({.path = (folder / name).string(), .what = RecordWhat::raw}));
    pipeline.start();
    Result result;
    while (!pipeline.finished())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)pipeline.mailbox().take(result);
    for (const char* name : {"a.tiff", "b.tiff", "c.tiff"})
        (void)write_snapshot(result, {.path = (folder / "pictures" / name).string(), .what = RecordWhat::raw},
                             pipeline.stream());
    pipeline.stop();
}

/// Allowed growth of resources after the first rounds.
constexpr int kMoreDescriptors = 0, kMoreThreads = 0;
constexpr double kMoreMiB = 48; ///< arenas of the allocator, once a thread

int soak(const Options& options) {
    constexpr std::uint64_t kWarm = 12; // rounds: each source twice
    TemporaryFolder place;
    make_films(place.path() / "films");
    Totals totals;
    Held first;
    const auto end = SteadyClock::now() + std::chrono::duration<double, std::ratio<60>>(options.minutes);
    for (bool more = true; more;) {
        round(options, place.path(), totals);
        Held now = held_by_this_process();
        // A thread that was joined, or released by oneTBB, stays in /proc for a moment.
        if (totals.rounds > kWarm)
            (void)test::eventually(
                [&] {
                    now = held_by_this_process();
                    return now.threads <= first.threads + kMoreThreads;
                },
                std::chrono::seconds(10));
        if (totals.rounds <= kWarm)
            first = most(first, now);
        else {
            expect(now.descriptors <= first.descriptors + kMoreDescriptors, totals,
                   std::to_string(now.descriptors) + " descriptors, " + std::to_string(first.descriptors) +
                       " before");
            expect(now.threads <= first.threads + kMoreThreads, totals,
                   std::to_string(now.threads) + " threads, " + std::to_string(first.threads) + " before");
            expect(now.mib <= first.mib + kMoreMiB, totals,
                   std::to_string(now.mib) + " MiB, " + std::to_string(first.mib) + " before");
        }
        more = options.rounds > 0 ? totals.rounds < static_cast<std::uint64_t>(options.rounds)
                                  : SteadyClock::now() < end;
    }
    const Held last = held_by_this_process();
    std::printf(
        "{\"rounds\": %llu, \"frames\": %llu, \"processed\": %llu, \"dropped\": %llu, \"recorded\": %llu, "
        "\"edits\": %llu, \"reopened\": %llu, \"MiB\": \"%.0f to %.0f\", \"descriptors\": \"%d to %d\", "
        "\"threads\": \"%d to %d\", \"failures\": %llu}\n",
        static_cast<unsigned long long>(totals.rounds), static_cast<unsigned long long>(totals.acquired),
        static_cast<unsigned long long>(totals.processed), static_cast<unsigned long long>(totals.dropped),
        static_cast<unsigned long long>(totals.recorded), static_cast<unsigned long long>(totals.edits),
        static_cast<unsigned long long>(totals.reopened), first.mib, last.mib, first.descriptors,
        last.descriptors, first.threads, last.threads, static_cast<unsigned long long>(totals.wrong));
    return totals.wrong == 0 ? 0 : 1;
}

} // namespace
} // namespace specklescope::soak

int main(int argc, char** argv) {
    using namespace specklescope::soak;
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::string value = word.substr(std::min(word.find('=') + 1, word.size()));
        if (word.starts_with("rounds="))
            options.rounds = std::atoi(value.c_str());
        else if (word.starts_with("minutes="))
            options.minutes = std::atof(value.c_str());
        else if (word.starts_with("seed="))
            options.seed = static_cast<unsigned>(std::atoi(value.c_str()));
        else if (word.starts_with("frames="))
            options.frames = std::atoi(value.c_str());
        else {
            std::fprintf(stderr,
                         "soak: '%s' is not understood; write rounds=N or minutes=M, seed=S, frames=F.\n",
                         argv[i]);
            return 2;
        }
    }
    spdlog::set_level(spdlog::level::off); // includes refused edits
    std::printf("soak: seed %u\n", options.seed);
    try {
        return soak(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "soak: %s\n", error.what());
        return 1;
    }
}
