#include "pipeline/threads/flow.hpp"

#include "base/log.hpp"

#include <spdlog/spdlog.h>

namespace specklescope {

void Flow::say(Message::Level level, std::string text) {
    const auto severity = level == Message::Level::info      ? spdlog::level::info
                          : level == Message::Level::warning ? spdlog::level::warn
                                                             : spdlog::level::err;
    run_log().log(severity, "{}", text);
    constexpr std::size_t kKept = 200;
    const std::scoped_lock lock(mutex);
    messages.push_back({level, std::move(text)});
    if (messages.size() > kKept)
        messages.pop_front();
}

void Flow::close_sink(Sink& sink) {
    sink.close();
    const std::uint64_t dropped = sink.status().dropped;
    const std::scoped_lock lock(mutex);
    dropped_by_closed_sinks += dropped;
}

void Flow::refuse(const Edit& edit, std::string why) {
    const std::scoped_lock lock(mutex);
    refused.push_back({edit.version, std::move(why), std::holds_alternative<RegionsEdit>(edit.change)});
    if (refused.size() > Pipeline::kRefused)
        refused.pop_front();
}

void open_sinks(Flow& flow, const StreamInfo& stream) {
    std::vector<std::shared_ptr<Sink>> waiting;
    {
        const std::scoped_lock lock(flow.mutex);
        waiting.swap(flow.sinks_to_open);
    }
    std::size_t opened = 0;
    try {
        for (const auto& sink : waiting) {
            sink->open(stream);
            ++opened;
        }
    } catch (...) {
        for (std::size_t i = 0; i < opened; ++i)
            waiting[i]->close();
        throw;
    }
    const std::scoped_lock lock(flow.mutex);
    flow.sinks.insert(flow.sinks.end(), waiting.begin(), waiting.end());
}

bool wants_host(Flow& flow) {
    const std::scoped_lock lock(flow.mutex);
    return flow.viewer_wants_host || std::any_of(flow.sinks_to_open.begin(), flow.sinks_to_open.end(),
                                                 [](const auto& sink) { return sink->wants_host_image(); });
}

void close_sinks(Flow& flow) {
    std::vector<std::shared_ptr<Sink>> sinks;
    {
        const std::scoped_lock lock(flow.mutex);
        sinks.swap(flow.sinks);
    }
    for (const auto& sink : sinks)
        flow.close_sink(*sink);
}

} // namespace specklescope
