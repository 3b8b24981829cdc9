#include "session/doors.hpp"

#include "session/answers.hpp"

#include <algorithm>

namespace specklescope {

namespace {

double seconds_since(SteadyClock::time_point when) {
    return std::chrono::duration<double>(SteadyClock::now() - when).count();
}

requests::Out json_of_control(const ControlCounts& counts) {
    using requests::Out;
    Out clients = Out::array();
    for (const ControlClientCounts& client : counts.clients)
        clients.push_back({{"from", client.from},
                           {"since_s", seconds_since(client.since)},
                           {"silent_s", seconds_since(client.last)},
                           {"requests", client.requests},
                           {"answers", client.answers},
                           {"answers_lost", client.lost}});
    return {{"requests", counts.requests},
            {"answers", counts.answers},
            {"answers_lost", counts.lost},
            {"clients", std::move(clients)}};
}

requests::Out json_of_outlet(const Outlet& outlet) {
    using requests::Out;
    const SinkStatus status = outlet.status();
    Out clients = Out::array();
    for (const OutletClient& client : outlet.clients())
        clients.push_back({{"from", client.from},
                           {"since_s", seconds_since(client.since)},
                           {"pictures", client.pictures},
                           {"dropped", client.dropped},
                           {"takes_nothing_s", client.still_s}});
    return {{"address", outlet.name()},
            {"pictures", status.written},
            {"dropped", status.dropped},
            {"clients", std::move(clients)}};
}

} // namespace

void Doors::join(Pipeline& pipeline) const {
    if (publisher)
        pipeline.add_sink(Publisher::feed(publisher));
    for (const auto& outlet : outlets)
        pipeline.add_sink(Outlet::feed(outlet));
    if (metrics)
        pipeline.add_sink(Metrics::feed(metrics));
}

void Doors::update_metrics(const Pipeline& pipeline) {
    const auto now = SteadyClock::now();
    if (!metrics || now - metrics_updated < std::chrono::milliseconds(200))
        return;
    metrics->tell(pipeline.stats(), totals(*this));
    metrics_updated = now;
}

Doors open_doors(const Settings& settings, const std::shared_ptr<const LiveLook>& look) {
    const auto& program = settings.program.as<ProgramSettings>();
    Doors doors;
    if (const std::string address = output_of(settings, "publish"); !address.empty())
        doors.publisher =
            std::make_shared<Publisher>(address, load_curve_keys(program.curve_key, program.curve_clients));
    for (const auto& [kind, target, of] : settings.outputs)
        if (kind->show)
            doors.outlets.push_back(
                std::make_shared<Outlet>(kind->show(target, settings), look, program.marks, kind->name));
    if (const std::string address = output_of(settings, "metrics"); !address.empty())
        doors.metrics = std::make_shared<Metrics>(address);
    return doors;
}

std::vector<DoorTotal> totals(const Doors& doors) {
    std::vector<DoorTotal> all;
    if (doors.control)
        all.push_back({"control", doors.control->answers, doors.control->lost});
    if (doors.publisher) {
        const SinkStatus status = doors.publisher->status();
        all.push_back({"publish", status.written, status.dropped});
    }
    for (const auto& outlet : doors.outlets) {
        const SinkStatus status = outlet->status();
        all.push_back({outlet->option, status.written, status.dropped});
    }
    return all;
}

namespace requests {

Out json_of(const Doors& doors) {
    Out out = Out::object();
    if (doors.control)
        out["control"] = json_of_control(*doors.control);
    if (doors.publisher) {
        const SinkStatus status = doors.publisher->status();
        out["publish"] = {
            {"address", doors.publisher->address()}, {"frames", status.written}, {"dropped", status.dropped}};
    }
    for (const auto& outlet : doors.outlets)
        out[outlet->option] = json_of_outlet(*outlet);
    return out;
}

} // namespace requests

} // namespace specklescope
