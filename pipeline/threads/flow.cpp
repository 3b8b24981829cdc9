#include "pipeline/threads/flow.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace specklescope {

void Flow::log(Message::Level level, std::string text) {
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

void Flow::publish(const std::function<void(EditState&)>& change) {
    const std::scoped_lock turn(editing);
    EditState next = *newest();
    change(next);
    auto made = std::make_shared<const EditState>(std::move(next));
    const std::scoped_lock lock(mutex);
    version = std::max(version, made->version());
    pending.push_back(made);
    wanted = std::move(made);
}

std::uint64_t Flow::edit(const std::function<void(Chain&)>& change) {
    std::uint64_t edited = 0;
    publish([&](EditState& next) {
        Chain chain = *next.chain;
        change(chain);
        (void)settled(chain);
        next.chain = std::make_shared<const Chain>(std::move(chain));
        edited = next.chain_version = next_version();
    });
    return edited;
}

void Flow::refuse(RefusedEdit edit, const std::shared_ptr<const EditState>& tried) {
    bool known = false;
    {
        const std::scoped_lock lock(mutex);
        if (wanted == tried)
            wanted = applied;
        // Regions are retried with an edit of the chain that was made after them.
        known = std::any_of(refused.begin(), refused.end(),
                            [&](const RefusedEdit& one) { return one.version == edit.version; });
        if (!known)
            refused.push_back(edit);
        if (refused.size() > Pipeline::kRefused)
            refused.pop_front();
    }
    if (!known)
        log(Message::Level::error, std::move(edit.why));
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
        flow.log(Message::Level::error, std::string("Recording stopped: ") + sentence_of(error));
        return false;
    }
}

void remove_sink(Flow& flow, const std::shared_ptr<Sink>& sink) {
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
        remove_sink(flow, sink);
}

} // namespace specklescope
