#include "pipeline/threads/flow.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>

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
    sinks.dropped_by_closed += dropped;
}

void Edits::publish(const std::function<void(EditState&)>& change) {
    const std::scoped_lock turn(editing_);
    EditState next = *newest();
    change(next);
    auto made = std::make_shared<const EditState>(std::move(next));
    const std::scoped_lock lock(mutex_);
    version_ = std::max(version_, made->version());
    pending_.push_back(made);
    any_pending_ = true;
    wanted_ = std::move(made);
}

std::uint64_t Edits::edit(const std::function<void(Chain&)>& change) {
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

std::uint64_t Edits::effective(std::uint64_t version) const {
    const std::scoped_lock lock(mutex_);
    std::for_each(refused_.rbegin(), refused_.rend(), [&](const RefusedEdit& edit) {
        if (edit.version == version)
            --version;
    });
    if (refused_.size() == Pipeline::kRefused && version < refused_.front().version)
        return 0; // earlier refusals are unknown
    return version;
}

std::vector<RefusedEdit> Edits::refused(std::uint64_t later_than) const {
    const std::scoped_lock lock(mutex_);
    std::vector<RefusedEdit> later;
    std::copy_if(refused_.begin(), refused_.end(), std::back_inserter(later),
                 [&](const RefusedEdit& edit) { return edit.version > later_than; });
    return later;
}

void Edits::apply_all() {
    const std::scoped_lock lock(mutex_);
    applied_ = wanted_;
    pending_.clear();
    any_pending_ = false;
}

std::shared_ptr<const EditState> Edits::take() {
    if (!any_pending_)
        return nullptr;
    const std::scoped_lock lock(mutex_);
    if (pending_.empty())
        return nullptr;
    std::shared_ptr<const EditState> next = std::move(pending_.front());
    pending_.pop_front();
    any_pending_ = !pending_.empty();
    return next;
}

bool Edits::refuse(const RefusedEdit& edit, const std::shared_ptr<const EditState>& tried) {
    const std::scoped_lock lock(mutex_);
    if (wanted_ == tried)
        wanted_ = applied_;
    // Regions are retried with an edit of the chain that was made after them.
    if (std::any_of(refused_.begin(), refused_.end(),
                    [&](const RefusedEdit& one) { return one.version == edit.version; }))
        return false;
    refused_.push_back(edit);
    if (refused_.size() > Pipeline::kRefused)
        refused_.pop_front();
    return true;
}

void open_sinks(Flow& flow, const StreamInfo& stream) {
    std::vector<std::shared_ptr<Sink>> waiting;
    {
        const std::scoped_lock lock(flow.mutex);
        waiting.swap(flow.sinks.to_open);
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
    flow.sinks.add(waiting);
}

bool wants_host(Flow& flow) {
    const std::scoped_lock lock(flow.mutex);
    return flow.viewer_wants_host || std::any_of(flow.sinks.to_open.begin(), flow.sinks.to_open.end(),
                                                 [](const auto& sink) { return sink->wants_host_image(); });
}

void close_sinks(Flow& flow) {
    std::vector<std::shared_ptr<Sink>> sinks;
    {
        const std::scoped_lock lock(flow.mutex);
        sinks = flow.sinks.remove_all();
    }
    for (const auto& sink : sinks)
        flow.close_sink(*sink);
}

namespace {

std::vector<std::shared_ptr<Sink>> current_sinks(const Flow& flow) {
    if (!flow.sinks.any)
        return {};
    const std::scoped_lock lock(flow.mutex);
    return flow.sinks.open;
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
        if (!flow.sinks.remove(sink))
            return;
    }
    flow.close_sink(*sink);
}

} // namespace

bool want_host_image(const Flow& flow) {
    const std::vector<std::shared_ptr<Sink>> sinks = current_sinks(flow);
    return flow.viewer_wants_host ||
           std::any_of(sinks.begin(), sinks.end(), [](const auto& sink) { return sink->wants_host_image(); });
}

void push_to_sinks(Flow& flow, const Result& result, const Result& shown) {
    if (!flow.sinks.any)
        return;
    const bool may_wait = !flow.live;
    std::vector<std::shared_ptr<Sink>> broken;
    {
        const std::scoped_lock delivering(flow.sinks.delivery);
        for (const auto& sink : current_sinks(flow))
            if (!push(flow, *sink, sink->follows_display() ? shown : result, may_wait))
                broken.push_back(sink);
    }
    for (const auto& sink : broken)
        remove_sink(flow, sink);
}

} // namespace specklescope
