#include "session/comparison.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "session/second_pipeline.hpp"
#include "session/undo.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <utility>

namespace specklescope {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMostSteps = 10; ///< a longer way forward is a seek

} // namespace

struct Comparison::Side {
    std::unique_ptr<Pipeline> pipeline;
    std::future<std::string> opening; ///< the error; empty: none. Invalid once it is open
    std::atomic<bool> cancelled{false};
    std::string name;                              ///< of the source
    bool same_film = false;                        ///< with other settings
    std::shared_ptr<const Chain> chain;            ///< of the session, as taken over; or as kept
    std::shared_ptr<const RegionOutlines> regions; ///< likewise

    std::optional<FrameInfo> shown;                               ///< newest result
    std::optional<std::uint64_t> asked;                           ///< frame
    std::uint64_t seek = 0;                                       ///< number of the last seek
    bool failed = false;                                          ///< that seek
    std::uint64_t end = std::numeric_limits<std::int64_t>::max(); ///< first frame known to be missing
    // Search for the frame at a time, which the rate only estimates.
    std::int64_t time_ns = -1, low = -1, high = 0; ///< frames low and before are not after the time
};

std::string Comparison::why_not() const { return why_no_second(state_); }

void Comparison::open_recording(const SourceArgument& source) { begin(&source); }

void Comparison::keep_settings() { begin(nullptr); }

void Comparison::begin(const SourceArgument* other) {
    if (const std::string why = why_not(); !why.empty())
        return state_.notices.say(Message::Level::warning, why);
    close();
    auto side = std::make_shared<Side>();
    side->same_film = !other;
    side->name = other ? other->shown() : "";
    side->chain = state_.pipeline->chain();
    side->regions = state_.pipeline->regions();
    try {
        side->pipeline = second_pipeline(state_, other);
    } catch (const std::exception& error) {
        return state_.notices.say(Message::Level::error, sentence_of(error));
    }
    side->pipeline->mailbox().on_post(state_.notices.wake_call());
    side->pipeline->pause(true);
    side->opening = std::async(std::launch::async, [&made = *side, wake = state_.notices.wake_call()] {
        std::string error;
        try {
            const WatchWork watch([&made](std::string_view, double) { return !made.cancelled; });
            made.pipeline->start();
        } catch (const std::exception& thrown) {
            error = sentence_of(thrown);
        }
        wake();
        return error;
    });
    side_ = std::move(side);
}

void Comparison::close() {
    if (!side_)
        return;
    side_->cancelled = true;
    state_.notices.run([side = std::exchange(side_, nullptr)] {
        if (side->opening.valid())
            side->opening.wait();
        side->pipeline->stop();
        return note(Message::Level::info, "");
    });
}

Pipeline* Comparison::pipeline() const {
    return side_ && !side_->opening.valid() ? side_->pipeline.get() : nullptr;
}

double Comparison::um_per_px(const Chain& of) const {
    return pipeline() ? pipeline()->um_per_source_px() * source_pixels_per_pixel(of) : 0;
}

std::string Comparison::title() const {
    return !pipeline() ? "" : side_->same_film ? "kept settings" : pipeline()->status().source.name;
}

std::string Comparison::own_title() const {
    if (!pipeline() || !state_.pipeline)
        return "";
    if (!side_->same_film)
        return state_.pipeline->status().source.name;
    const std::string edit = chain_edit(*side_->chain, *state_.pipeline->chain());
    return edit.empty() ? "now" : "now: " + edit;
}

bool Comparison::poll() {
    if (!side_)
        return false;
    if (side_->opening.valid()) {
        if (side_->opening.wait_for(0s) != std::future_status::ready)
            return false;
        opened();
        return true;
    }
    for (Message& message : side_->pipeline->take_messages())
        if (message.level != Message::Level::info)
            state_.notices.add(note(message.level, title() + ": " + message.text));
    take_edits();
    return false;
}

void Comparison::opened() {
    const std::string error = side_->opening.get();
    const SourceInfo source = side_->pipeline->status().source;
    if (error.empty() && !source.live && source.seekable) {
        if (source.um_per_px > 0) // replaces the value of the session's source
            side_->pipeline->set_um_per_source_px(0);
        return;
    }
    state_.notices.say(Message::Level::error, error.empty() ? side_->name + " has no frames to go to. Record "
                                                                            "it and compare the recording."
                                                            : error);
    close();
}

void Comparison::take_edits() {
    Pipeline& own = *state_.pipeline;
    try {
        if (auto now = own.chain(); !side_->same_film && now != side_->chain) {
            side_->chain = now;
            (void)side_->pipeline->set_chain(*now);
            if (side_->pipeline->chain()->channel() != now->channel())
                (void)side_->pipeline->set_channel(now->channel());
            if (side_->pipeline->chain()->shown() != now->shown())
                (void)side_->pipeline->show_output(now->displayed());
        }
        if (auto now = own.regions(); now != side_->regions) {
            side_->regions = now;
            (void)side_->pipeline->set_regions(now);
        }
    } catch (const UsageError& error) {
        state_.notices.say(Message::Level::error, title() + ": " + error.what());
    }
}

std::optional<Result> Comparison::take() {
    Result result;
    if (!pipeline() || !pipeline()->mailbox().take(result))
        return std::nullopt;
    side_->shown = result.info;
    return result;
}

void Comparison::follow(const FrameInfo& shown) {
    Pipeline* const second = pipeline();
    if (!second || !shown.position || second->sought())
        return;
    if (!side_->failed && side_->seek > 0 && second->seek_failure().seek == side_->seek) {
        side_->failed = true;
        if (second->status().source.length == 0) // as of a stream without an index
            side_->end = std::min(side_->end, *side_->asked);
    }
    const std::uint64_t wanted = frame_for(shown);
    if (wanted == side_->asked)
        return;
    const auto& at = side_->shown;
    if (at && !side_->failed && wanted > *side_->asked && wanted - *at->position <= kMostSteps) {
        for (std::uint64_t frame = *side_->asked; frame < wanted; ++frame)
            second->step();
    } else {
        side_->seek = second->seek(wanted, true);
        side_->failed = false;
    }
    side_->asked = wanted;
}

/// Frame of the second film at the time of this frame, or the next one to look at. By numbers in the same
/// film, and where either has no times.
std::uint64_t Comparison::frame_for(const FrameInfo& shown) {
    Side& side = *side_;
    const SourceInfo source = side.pipeline->status().source;
    const std::uint64_t end = source.length > 0 ? source.length : side.end;
    const bool timed = !side.same_film && shown.film_ns && shown.has_time() && source.rate > 0 &&
                       (!side.shown || (side.shown->film_ns && side.shown->has_time()));
    if (!timed)
        return std::min(*shown.position, end - 1);
    const auto frames = [&](std::int64_t ns) { return 1e-9 * static_cast<double>(ns) * source.rate; };
    if (!side.shown)
        return std::min(static_cast<std::uint64_t>(std::llround(frames(*shown.film_ns))), end - 1);
    if (side.time_ns != *shown.film_ns) {
        side.time_ns = *shown.film_ns;
        side.low = -1;
        side.high = static_cast<std::int64_t>(end);
    }
    const auto here = static_cast<std::int64_t>(*side.shown->position);
    const double ahead = frames(side.time_ns - *side.shown->film_ns);
    if (ahead >= 0)
        side.low = std::max(side.low, here);
    else
        side.high = std::min(side.high, here);
    const bool found = std::abs(ahead) <= 0.5 || side.high - side.low <= 1;
    return static_cast<std::uint64_t>(
        found ? here : std::clamp<std::int64_t>(here + std::llround(ahead), side.low + 1, side.high - 1));
}

} // namespace specklescope
