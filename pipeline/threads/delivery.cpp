#include "pipeline/threads/delivery.hpp"

#include "base/sentence.hpp"

#include <algorithm>

namespace specklescope {

namespace {

std::vector<std::shared_ptr<Sink>> current_sinks(const Flow& flow) {
    const std::scoped_lock lock(flow.mutex);
    return flow.sinks;
}

bool push(Flow& flow, Sink& sink, const Result& result, bool may_wait) {
    try {
        sink.push(result, may_wait);
        return true;
    } catch (const std::exception& error) {
        flow.say(Message::Level::error, std::string("Recording stopped: ") + sentence_of(error));
        return false;
    }
}

void take_out(Flow& flow, const std::shared_ptr<Sink>& sink) {
    {
        const std::scoped_lock lock(flow.mutex);
        if (std::erase(flow.sinks, sink) == 0)
            return; // removed by another thread, which closes it
    }
    flow.close_sink(*sink);
}

} // namespace

bool want_host_image(const Flow& flow) {
    const std::vector<std::shared_ptr<Sink>> sinks = current_sinks(flow);
    return flow.viewer_wants_host ||
           std::any_of(sinks.begin(), sinks.end(), [](const auto& sink) { return sink->wants_host_image(); });
}

void push_to_sinks(Flow& flow, const Result& result) {
    const bool may_wait = !flow.live();
    std::vector<std::shared_ptr<Sink>> broken;
    {
        const std::scoped_lock delivering(flow.delivery);
        for (const auto& sink : current_sinks(flow))
            if (!push(flow, *sink, result, may_wait))
                broken.push_back(sink);
    }
    for (const auto& sink : broken)
        take_out(flow, sink);
}

} // namespace specklescope
