#include "bench/doors.hpp"

#include "base/error.hpp"
#include "bench/stalled.hpp"
#include "have_microhttpd.hpp"
#include "have_rtsp.hpp"
#include "have_zmq.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <future>
#include <thread>

namespace specklescope::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

#ifdef SPECKLESCOPE_HAVE_MICROHTTPD
constexpr bool kMetrics = true;
#else
constexpr bool kMetrics = false;
#endif
#ifdef SPECKLESCOPE_HAVE_RTSP
constexpr bool kServe = true;
#else
constexpr bool kServe = false;
#endif

void add_doors(std::vector<std::string>& words, const DoorPorts& ports) {
    const auto add = [&](const char* option, const std::string& before, int port, const char* behind = "") {
        if (port > 0)
            words.insert(words.end(), {option, before + "127.0.0.1:" + std::to_string(port) + behind});
    };
    add("--publish", "zmq://", ports.publish);
    add("--control", "zmq://", ports.control);
    add("--metrics", "", ports.metrics);
    add("--serve", "rtsp://", ports.serve, "/flow");
}

struct Stood {
    int clients = 0;
    long unread = 0;
};

/// Comes when the doors are open, and goes before the program ends.
Stood stand_still(const DoorPorts& ports, Clock::time_point until) {
    std::vector<std::unique_ptr<Stalled>> clients;
    std::string why = "the run was over before the doors were open";
    while (clients.empty() && Clock::now() < until)
        try {
            clients = stalled_clients(ports);
        } catch (const Error& error) { // not open yet
            why = error.what();
            std::this_thread::sleep_for(50ms);
        }
    if (clients.empty())
        throw RunError("Nobody could stand at the doors: " + why);
    std::this_thread::sleep_until(until);
    Stood stood{static_cast<int>(clients.size()), 0};
    for (const auto& client : clients)
        stood.unread += client->unread();
    return stood;
}

} // namespace

std::vector<DoorRun> run_doors(const std::string& backend, double seconds) {
    std::vector<DoorRun> runs;
#ifdef SPECKLESCOPE_HAVE_ZMQ
    const std::vector<std::string> scene = {
        "run", "synthetic:vessels?width=320&height=240&rate=1000&live=true", "--backend", backend};
    runs.push_back({"no door", run_program(scene, seconds)});
    for (const bool stalled : {false, true}) {
        const DoorPorts ports = free_ports(kMetrics, kServe);
        std::vector<std::string> words = scene;
        add_doors(words, ports);
        std::future<Stood> stands;
        if (stalled)
            stands = std::async(std::launch::async, [&] {
                return stand_still(
                    ports, Clock::now() + std::chrono::milliseconds(static_cast<int>(1000 * seconds) - 500));
            });
        DoorRun run{stalled ? "a stalled client at each door" : "all doors open",
                    run_program(words, seconds)};
        const Stood stood = stalled ? stands.get() : Stood();
        run.clients = stood.clients;
        run.unread = stood.unread;
        runs.push_back(std::move(run));
    }
#else
    (void)backend;
    (void)seconds;
    spdlog::info("Doors are not measured: this build was made without ZeroMQ.");
#endif
    return runs;
}

} // namespace specklescope::bench
